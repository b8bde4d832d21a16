// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/usage_error.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace cuda_agent::app {

namespace {

/// Letters to change, add, leave out, or swap with their neighbour, to make b of a: optimal string
/// alignment.
std::size_t distance(const std::string &a, const std::string &b) {
    std::vector<std::vector<std::size_t>> least(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                least[i][j] = i + j;
                continue;
            }
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            least[i][j] =
                std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
        }
    return least[a.size()][b.size()];
}

/// The one of `known` that is nearest to `word`, near enough for a slip; else nothing.
std::string meantBy(const std::string &word, const std::vector<std::string> &known) {
    std::string nearest;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string &each : known)
        if (const std::size_t steps = distance(word, each); steps < least) {
            least = steps;
            nearest = each;
        }
    return nearest;
}

bool isOption(const std::string &word) {
    return word.size() > 1 && word[0] == '-' &&
           std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

std::vector<std::string> optionsOf(const CLI::App &command) {
    std::vector<std::string> names;
    for (const CLI::Option *option : command.get_options())
        for (const std::string &name : option->get_lnames())
            names.push_back("--" + name);
    return names;
}

std::vector<std::string> commandsOf(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::App *command : app.get_subcommands({}))
        names.push_back(command->get_name());
    return names;
}

/// What is wrong, in a sentence without its end.
std::string problemOf(const CLI::App &command, const std::vector<std::string> &unknown,
                      const CLI::Error &error) {
    if (unknown.empty())
        return error.what();
    // The value of an unknown option is unknown, too, and so are the options of an unknown command.
    const bool wantsOption = commandsOf(command).empty();
    const auto first = std::ranges::find_if(
        unknown, [&](const std::string &word) { return isOption(word) == wantsOption; });
    const std::string &whole = first != unknown.end() ? *first : unknown.front();
    const bool option = isOption(whole);
    const std::string word = whole.substr(0, option ? whole.find('=') : whole.npos);
    const auto known = option ? optionsOf(command) : commandsOf(command);
    if (!option && known.empty())
        return "nothing is known to do with '" + word + "'";
    const std::string meant = meantBy(word, known);
    return std::string("there is no ") + (option ? "option " : "command ") + word +
           (meant.empty() ? "" : "; did you mean " + meant + "?");
}

} // namespace

std::string usageError(const CLI::App &app, const CLI::Error &error) {
    const CLI::App *command = &app;
    std::string name = app.get_name();
    for (auto within = command->get_subcommands(); !within.empty();
         within = command->get_subcommands()) {
        command = within.front();
        name += " " + command->get_name();
    }
    const auto unknown = app.remaining(true);
    const bool asksForCommand = command == &app && !commandsOf(app).empty();
    if (asksForCommand && unknown.empty())
        return app.help();
    // Words that are left over are the reason only where nothing else is said to be.
    const bool leftOver =
        asksForCommand || error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    return name + ": " +
           problemOf(*command, leftOver ? unknown : std::vector<std::string>(), error) + "\n" +
           name + " --help tells what it takes.";
}

} // namespace cuda_agent::app
