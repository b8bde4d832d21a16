// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/shown_mistake.h"

#include "core/base/json_place.h"
#include "core/base/names.h"

#include <algorithm>
#include <cstdio>

namespace cuda_agent::policy {

namespace {

constexpr std::string_view functionEnd = "\n}\n", planPath = "plan.json",
                           contentBegin = "\n</parameter>\n<parameter=content>\n";

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
    if (error == diagnostics.end())
        return std::nullopt;
    const auto given = error->value("line", Json());
    const auto line = given.is_number_integer() ? given.get<std::int64_t>() : 0;
    if (line < 1) // of no line, such as that a kernel is missing
        return std::nullopt;
    const auto file = std::ranges::find_if(
        files, [&](const WrittenFile &each) { return error->value("file", Json()) == each.path; });
    if (file == files.end())
        return std::nullopt;
    const auto behind = byteAt(file->content, static_cast<std::size_t>(line) + 1, 1);
    ShownMistake shown{textPlace(*file, behind), all, true};
    const auto at = byteAt(file->content, static_cast<std::size_t>(line), 1);
    const auto before = file->content.rfind(functionEnd, at);
    shown.function =
        textPlace(*file, before == file->content.npos ? 0 : before + functionEnd.size());
    return shown;
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

/// Of a refusal as "plan.json: buffers[4].name: ..." or "plan.json is not JSON: line 1, column 9:
/// ...": those of parseJson() and plan::Plan.
std::optional<ShownMistake> planPlaceOf(std::string_view refusal,
                                        const std::vector<WrittenFile> &files, std::int64_t all) {
    constexpr std::string_view noJson = " is not JSON: ";
    const auto file = std::ranges::find(files, planPath, &WrittenFile::path);
    if (file == files.end())
        return std::nullopt;
    if (refusal.starts_with(planPath))
        refusal.remove_prefix(planPath.size());
    std::optional<std::size_t> end;
    if (refusal.starts_with(noJson)) {
        std::size_t line = 0, column = 0;
        const std::string place(refusal.substr(noJson.size(), 64));
        if (std::sscanf(place.c_str(), "line %zu, column %zu", &line, &column) == 2)
            end = byteAt(file->content, line, column);
    } else {
        if (refusal.starts_with(": "))
            refusal.remove_prefix(2);
        const auto path = refusal.substr(0, refusal.find(": "));
        if (path.starts_with("buffers[") || path.starts_with("steps["))
            if (const auto place = placeInJson(file->content, path))
                end = place->end;
    }
    if (!end)
        return std::nullopt;
    return ShownMistake{textPlace(*file, *end), all, true, textPlace(*file, 0)};
}

} // namespace

std::optional<ShownMistake> mistakeOf(const session::Turn &turn, const std::string &text) {
    const auto files = filesOf(turn, text);
    const auto all = static_cast<std::int64_t>(text.size());
    if (!turn.verdict) {
        for (const auto &observation : turn.observations)
            if (!observation.ok)
                if (auto place = planPlaceOf(observation.text, files, all))
                    return place;
        return std::nullopt;
    }
    if (!turn.verdict->is_object())
        return std::nullopt;
    if (auto line = lineOf(turn.verdict->value("diagnostics", Json()), files, all))
        return line;
    const auto problem = turn.verdict->value("problem", Json());
    return problem.is_string() ? kernelOf(problem.get<std::string>(), files) : std::nullopt;
}

ShownMistake refusedBehind(std::string_view text) {
    const auto end = static_cast<std::int64_t>(text.size());
    ShownMistake shown{end, end, true};
    const auto content = text.rfind(contentBegin);
    if (content != text.npos && text.substr(0, content).ends_with(planPath) &&
        text.find("\n</parameter>", content + contentBegin.size()) == text.npos)
        shown.begin = static_cast<std::int64_t>(content + contentBegin.size());
    return shown;
}

} // namespace cuda_agent::policy
