// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/schema.h"
#include "core/tools/toolbox.h"

#include <algorithm>

namespace cuda_agent::tools {

namespace {

using session::Observation;

constexpr int linesAtOnce = 2000;
constexpr std::size_t longestLine = 2000;

const char *const pathHelp = "path in the workspace, such as kernels/fused.cu";

std::string text(const Json &arguments, const char *name) {
    return arguments.at(name).get<std::string>();
}

std::vector<std::string_view> linesOf(std::string_view content) {
    std::vector<std::string_view> lines;
    while (!content.empty()) {
        const auto end = std::min(content.find('\n'), content.size());
        lines.push_back(content.substr(0, end));
        content.remove_prefix(std::min(end + 1, content.size()));
    }
    return lines;
}

/// Lines first..last (counted from 1) with their numbers in front, as `cat -n` shows them.
std::string numbered(const std::vector<std::string_view> &lines, std::size_t first,
                     std::size_t last) {
    std::string result;
    for (std::size_t i = first; i <= last && i <= lines.size(); ++i) {
        const auto line = lines[i - 1];
        result += fmt::format("{:>6}\t{}", i, line.substr(0, longestLine));
        if (line.size() > longestLine)
            result += fmt::format(" [... {} more characters]", line.size() - longestLine);
        result += '\n';
    }
    return result;
}

/// The lines around a place in a text, for the answer to an edit.
std::string around(const std::string &content, std::size_t begin, std::size_t size) {
    const auto line = [&](std::size_t at) {
        return static_cast<std::size_t>(std::count(content.begin(), content.begin() + at, '\n')) +
               1;
    };
    const std::size_t first = line(std::min(begin, content.size()));
    const std::size_t last = line(std::min(begin + size, content.size()));
    return numbered(linesOf(content), first > 4 ? first - 4 : 1, std::min(last + 4, first + 40));
}

Result<Observation> read(Workspace &workspace, const Json &arguments, const std::stop_token &) {
    CUDA_AGENT_ASSIGN(path, workspacePath(text(arguments, "file_path")));
    CUDA_AGENT_ASSIGN(content, workspace.read(path));
    if (content.empty())
        return answer(fmt::format("{} is empty", path));
    if (content.find('\0') != std::string::npos)
        return refuse(fmt::format("{} is no text file ({} bytes)", path, content.size()));
    const auto lines = linesOf(content);
    const auto first = static_cast<std::size_t>(arguments.value("offset", 1));
    const auto count = static_cast<std::size_t>(arguments.value("limit", linesAtOnce));
    if (first > lines.size())
        return refuse(
            fmt::format("{} has {} lines; offset {} is behind its end", path, lines.size(), first));
    const std::size_t last = std::min(first + count - 1, lines.size());
    std::string shown = numbered(lines, first, last);
    if (shown.size() > largestAnswer) {
        shown.resize(shown.rfind('\n', largestAnswer) + 1);
        shown += "[... cut; read on with offset and limit ...]\n";
    } else if (last < lines.size()) {
        shown += fmt::format("[lines {} to {} of {}; read on with offset {}]\n", first, last,
                             lines.size(), last + 1);
    }
    return answer(std::move(shown));
}

Result<Observation> write(Workspace &workspace, const Json &arguments, const std::stop_token &) {
    CUDA_AGENT_ASSIGN(path, workspacePath(text(arguments, "file_path")));
    const auto content = text(arguments, "content");
    CUDA_AGENT_TRY(workspace.write(path, content));
    return answer(fmt::format("wrote {} ({} bytes)", path, content.size()));
}

struct Change {
    std::string from;
    std::string to;
    bool everywhere = false;
};

Change changeOf(const Json &arguments) {
    return {text(arguments, "old_string"), text(arguments, "new_string"),
            arguments.value("replace_all", false)};
}

/// Applies one exact replacement. Returns where the first one lies.
/// Errors: request, why it cannot be done; the text is then unchanged.
Result<std::size_t> apply(std::string &content, const Change &change, const std::string &path) {
    if (change.from == change.to)
        return requestError("old_string and new_string are the same; nothing would change");
    const std::size_t first = content.find(change.from);
    if (first == std::string::npos)
        return requestError("old_string does not occur in {}; it must match exactly, blanks and "
                            "line ends included: read the file again",
                            path);
    std::size_t times = 0;
    for (std::size_t at = first; at != std::string::npos;
         at = content.find(change.from, at + change.from.size()))
        ++times;
    if (times > 1 && !change.everywhere)
        return requestError("old_string occurs {} times in {}; give more of the text around the "
                            "place that is meant, or replace_all",
                            times, path);
    if (content.size() + times * change.to.size() > 4 * largestFile)
        return requestError("{} would grow past {} bytes", path, largestFile);
    std::string result;
    std::size_t from = 0;
    for (std::size_t at = first; at != std::string::npos; at = content.find(change.from, from)) {
        result.append(content, from, at - from).append(change.to);
        from = at + change.from.size();
    }
    content = result.append(content, from);
    return first;
}

/// Applies all changes or none. A file that is not there is made by a first change of "".
Result<Observation> edit(Workspace &workspace, const std::string &given,
                         const std::vector<Change> &changes) {
    CUDA_AGENT_ASSIGN(path, workspacePath(given));
    std::string content;
    std::size_t next = 0;
    const bool makes = !changes.empty() && changes[0].from.empty();
    auto before = workspace.read(path);
    if (makes && before && !before->empty())
        return refuse(fmt::format("old_string is empty, which makes a new file, but {} is there; "
                                  "give the text to replace, or use Write",
                                  path));
    if (makes) {
        content = changes[0].to;
        next = 1;
    } else if (!before) {
        return tl::unexpected(before.error());
    } else {
        content = std::move(*before);
    }
    std::size_t at = 0;
    std::size_t size = content.size();
    for (std::size_t i = next; i < changes.size(); ++i) {
        if (changes[i].from.empty())
            return refuse(fmt::format("edit {}: old_string is empty", i + 1));
        auto applied = apply(content, changes[i], path);
        if (!applied)
            return refuse(changes.size() == 1
                              ? applied.error().message
                              : fmt::format("edit {} of {}: {}. No edit was made.", i + 1,
                                            changes.size(), applied.error().message));
        at = *applied;
        size = changes[i].to.size();
    }
    CUDA_AGENT_TRY(workspace.write(path, content));
    return answer(fmt::format("edited {}; it now reads\n{}", path,
                              clipped(around(content, at, size), largestAnswer / 3)));
}

Json changeFields() {
    return {{"old_string", textField("the exact text to replace; it must occur once, unless "
                                     "replace_all is set")},
            {"new_string", textField("the text that takes its place")},
            {"replace_all", flagField("replace every occurrence (default: false)")}};
}

} // namespace

std::vector<Tool> fileTools() {
    Json editFields = changeFields();
    editFields["file_path"] = textField(pathHelp);
    Json edits = listField("the replacements, applied one after the other to the result of the "
                           "one before",
                           objectOf(changeFields(), {"old_string", "new_string"}));
    edits["minItems"] = 1;
    return {
        {"Read",
         "Reads a text file of the workspace. Lines come with their numbers, at most 2000 "
         "at once; offset and limit choose others.",
         objectOf({{"file_path", textField(pathHelp)},
                   {"offset", wholeField("first line, counted from 1", 1, 100'000'000)},
                   {"limit", wholeField("lines at most", 1, 100'000)}},
                  {"file_path"}),
         read, false},
        {"Write", "Writes one file of the workspace, replacing it. Folders are made as needed.",
         objectOf({{"file_path", textField(pathHelp)},
                   {"content", textField("the whole text of the file")}},
                  {"file_path", "content"}),
         write, true},
        {"Edit",
         "Replaces an exact piece of text in a file. The piece must occur exactly once, "
         "blanks included; with replace_all every occurrence is replaced.",
         objectOf(editFields, {"file_path", "old_string", "new_string"}),
         [](Workspace &workspace, const Json &arguments, const std::stop_token &) {
             return edit(workspace, text(arguments, "file_path"), {changeOf(arguments)});
         },
         true},
        {"MultiEdit",
         "Makes several exact replacements in one file, all of them or, when one "
         "does not fit, none.",
         objectOf({{"file_path", textField(pathHelp)}, {"edits", edits}}, {"file_path", "edits"}),
         [](Workspace &workspace, const Json &arguments, const std::stop_token &) {
             std::vector<Change> changes;
             for (const auto &change : arguments.at("edits"))
                 changes.push_back(changeOf(change));
             return edit(workspace, text(arguments, "file_path"), changes);
         },
         true},
    };
}

} // namespace cuda_agent::tools
