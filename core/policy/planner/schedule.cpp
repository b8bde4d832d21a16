// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/schedule.h"

#include <fmt/ranges.h>

#include <array>
#include <vector>

namespace cuda_agent::policy {

namespace {
constexpr std::array<std::string_view, 9> formNames{
    "row", "column", "loopRow", "loopColumn", "tile", "product", "tensor", "loopProduct", "order"};
}

std::vector<std::int64_t> Schedule::keptAtOnce() const {
    std::vector<std::int64_t> factors{lanesY};
    if (form != Form::column)
        factors = {parts, team, vector};
    std::erase(factors, 1);
    return factors;
}

std::string Schedule::heldText(const std::string &elements, std::int64_t number) const {
    const auto factors = keptAtOnce();
    std::int64_t once = 1;
    for (const auto factor : factors)
        once *= factor;
    const auto text = fmt::format("{}", fmt::join(factors, " * "));
    if (unroll == 1)
        return fmt::format("{} {} {}", elements, number == once ? "=" : "<",
                           factors.empty() ? "1" : text);
    if (factors.empty())
        return "held = " + elements;
    if (number % once != 0)
        return fmt::format("held = cdiv({}, {})", elements, text);
    return fmt::format("held = {} / {}", elements, factors.size() > 1 ? "(" + text + ")" : text);
}

std::string Schedule::textBesideHeld(bool openLength) const {
    auto result = text();
    if (namesHeld(openLength)) {
        const auto number = fmt::format("-u{}", unroll);
        result.erase(result.find(number), number.size());
    }
    return result;
}

std::string Schedule::text() const {
    std::string result{formNames[static_cast<std::size_t>(form)]};
    result += fmt::format("-t{}", threads);
    if (form == Form::row && team != threads)
        result += fmt::format("-m{}", team);
    if (form == Form::column && lanesY != 1)
        result += fmt::format("-y{}", lanesY);
    if ((form == Form::column || form == Form::row) && rowsEach != 1)
        result += fmt::format("-h{}", rowsEach);
    if (ofProduct())
        result += fmt::format("-a{}-x{}-c{}-h{}-w{}-s{}-v{}{}", along, across, chunk, rowsEach,
                              columnsEach, stages, vector, split ? "-split" : "");
    else if (form == Form::order)
        result += fmt::format("-c{}-h{}-u{}", chunk, rowsEach, unroll);
    else if (form == Form::tile)
        result += fmt::format("-x{}-a{}-v{}", across, along, vector);
    else if (form == Form::row || form == Form::column)
        result += fmt::format("-v{}-u{}", vector, unroll);
    else
        result += fmt::format("-c{}", chunk) + (unroll > 1 ? fmt::format("-u{}", unroll) : "");
    if (parts != 1)
        result += fmt::format("-p{}", parts);
    result += staged ? "-staged" : "";
    result += resident != 1 ? fmt::format("-b{}", resident) : "";
    result += together ? "-together" : "";
    result += streaming ? "-streaming" : "";
    return result;
}

Result<Schedule> Schedule::fromText(std::string_view text) {
    Schedule schedule;
    bool first = true;
    bool team = false;
    const auto bad = [&] { return requestError("'{}' is not a schedule", text); };
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('-', at), text.size());
        const std::string word{text.substr(at, end - at)};
        at = end + 1;
        if (first) {
            const auto found = std::find(formNames.begin(), formNames.end(), word);
            if (found == formNames.end())
                return bad();
            schedule.form = static_cast<Form>(found - formNames.begin());
            first = false;
        } else if (word == "staged") {
            schedule.staged = true;
        } else if (word == "split") {
            schedule.split = true;
        } else if (word == "together") {
            schedule.together = true;
        } else if (word == "streaming") {
            schedule.streaming = true;
        } else {
            if (word.size() < 2 || word.size() > 10 ||
                word.find_first_not_of("0123456789", 1) != std::string::npos)
                return bad();
            const std::int64_t number = std::stoll(word.substr(1));
            switch (word[0]) {
            case 't':
                schedule.threads = static_cast<int>(number);
                break;
            case 'm':
                schedule.team = static_cast<int>(number);
                team = true;
                break;
            case 'y':
                schedule.lanesY = static_cast<int>(number);
                break;
            case 'v':
                schedule.vector = static_cast<int>(number);
                break;
            case 'u':
                schedule.unroll = static_cast<int>(number);
                break;
            case 'x':
                schedule.across = static_cast<int>(number);
                break;
            case 'a':
                schedule.along = static_cast<int>(number);
                break;
            case 'h':
                schedule.rowsEach = static_cast<int>(number);
                break;
            case 'w':
                schedule.columnsEach = static_cast<int>(number);
                break;
            case 's':
                schedule.stages = static_cast<int>(number);
                break;
            case 'c':
                schedule.chunk = static_cast<int>(number);
                break;
            case 'b':
                schedule.resident = static_cast<int>(number);
                break;
            case 'p':
                schedule.parts = number;
                break;
            default:
                return bad();
            }
        }
    }
    if (!team)
        schedule.team = schedule.threads;
    return schedule;
}

} // namespace cuda_agent::policy
