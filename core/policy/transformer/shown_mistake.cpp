// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/shown_mistake.h"

#include "core/base/names.h"

#include <algorithm>

namespace cuda_agent::policy {

namespace {

/// A file that the turn wrote, and where its content begins in the turn's text.
struct WrittenFile {
    std::string path, content;
    std::size_t begin = 0;
};

std::vector<WrittenFile> filesOf(const session::Turn &turn, const std::string &text) {
    std::vector<WrittenFile> files;
    for (const auto &call : turn.calls) {
        const auto path = call.arguments.value("file_path", Json()),
                   content = call.arguments.value("content", Json());
        if (!path.is_string() || !content.is_string())
            continue;
        WrittenFile file{path.get<std::string>(), content.get<std::string>()};
        file.begin = text.find(file.content);
        if (file.begin != text.npos && !file.content.empty())
            files.push_back(std::move(file));
    }
    return files;
}

std::int64_t textPlace(const WrittenFile &file, std::size_t place) {
    return static_cast<std::int64_t>(file.begin + std::min(place, file.content.size()));
}

std::optional<ShownMistake> lineOf(const Json &diagnostics, const std::vector<WrittenFile> &files,
                                   std::int64_t all) {
    const auto error = std::ranges::find_if(diagnostics, [](const Json &each) {
        return each.is_object() && each.value("severity", Json()) == "error";
    });
    if (error == diagnostics.end() || !error->value("line", Json()).is_number_integer())
        return std::nullopt;
    const auto file = std::ranges::find_if(
        files, [&](const WrittenFile &each) { return error->value("file", Json()) == each.path; });
    if (file == files.end())
        return std::nullopt;
    std::size_t behind = 0; // the lines so far
    for (auto line = error->at("line").get<std::int64_t>();
         line > 0 && behind < file->content.size(); --line)
        behind = std::min(file->content.find('\n', behind), file->content.size() - 1) + 1;
    return ShownMistake{textPlace(*file, behind), all, true};
}

/// Of a message that has "kernels/fused.cu:NAME (step": its labels are those of
/// plan::makeProgram().
std::optional<ShownMistake> kernelOf(const std::string &problem,
                                     const std::vector<WrittenFile> &files) {
    for (const auto &file : files) {
        const auto at = problem.find(file.path + ':');
        if (at == problem.npos)
            continue;
        const auto name = std::string_view(problem).substr(at + file.path.size() + 1);
        const auto size =
            static_cast<std::size_t>(std::ranges::find_if_not(name, isNamePart) - name.begin());
        if (size == 0 || name.substr(size, 6) != " (step")
            continue;
        const auto kernel = file.content.find(fmt::format(" {}(", name.substr(0, size)));
        if (kernel == file.content.npos)
            continue;
        return ShownMistake{textPlace(file, file.content.find("\n}", kernel)),
                            textPlace(file, file.content.size())};
    }
    return std::nullopt;
}

} // namespace

std::optional<ShownMistake> mistakeOf(const session::Turn &turn, const std::string &text) {
    if (!turn.verdict || !turn.verdict->is_object())
        return std::nullopt;
    const auto files = filesOf(turn, text);
    if (auto line = lineOf(turn.verdict->value("diagnostics", Json()), files,
                           static_cast<std::int64_t>(text.size())))
        return line;
    const auto problem = turn.verdict->value("problem", Json());
    return problem.is_string() ? kernelOf(problem.get<std::string>(), files) : std::nullopt;
}

} // namespace cuda_agent::policy
