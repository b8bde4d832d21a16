// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/diagnostic.h"

#include <array>
#include <charconv>
#include <optional>

namespace cuda_agent::toolchain {

namespace {

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Takes a number off the front.
std::optional<int> takeNumber(std::string_view &text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data() || value < 0)
        return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

bool take(std::string_view &text, std::string_view what) {
    if (!text.starts_with(what))
        return false;
    text.remove_prefix(what.size());
    return true;
}

/// "error", "fatal error", "warning #177-D", "note", before a colon.
std::optional<std::string> takeSeverity(std::string_view &text) {
    struct Word {
        std::string_view text;
        const char *severity;
    };
    static constexpr std::array words = std::to_array<Word>({{"fatal error", "error"},
                                                             {"catastrophic error", "error"},
                                                             {"internal error", "error"},
                                                             {"error", "error"},
                                                             {"fatal", "error"},
                                                             {"warning", "warning"},
                                                             {"remark", "note"},
                                                             {"note", "note"}});
    for (const auto &word : words) {
        auto rest = text;
        if (!take(rest, word.text))
            continue;
        rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
        if (take(rest, "#"))
            rest = rest.substr(std::min(rest.find(':'), rest.size()));
        if (!take(rest, ":"))
            continue;
        text = rest;
        return word.severity;
    }
    return {};
}

/// clang and g++: "file:3:7: error: text" or "file:3: error: text".
std::optional<Diagnostic> readColons(std::string_view line) {
    for (auto at = line.find(':'); at != line.npos; at = line.find(':', at + 1)) {
        auto rest = line.substr(at + 1);
        Diagnostic result;
        const auto number = takeNumber(rest);
        if (at == 0 || !number || !take(rest, ":"))
            continue;
        result.line = *number;
        if (auto column = rest; auto value = takeNumber(column)) {
            if (take(column, ":")) {
                result.column = *value;
                rest = column;
            }
        }
        rest = trimmed(rest);
        if (auto severity = takeSeverity(rest)) {
            result.severity = *severity;
            result.file = line.substr(0, at);
            result.message = trimmed(rest);
            return result;
        }
    }
    return {};
}

/// NVRTC and nvcc: "file(3): error: text".
std::optional<Diagnostic> readBrackets(std::string_view line) {
    for (auto at = line.find('('); at != line.npos; at = line.find('(', at + 1)) {
        auto rest = line.substr(at + 1);
        const auto number = takeNumber(rest);
        if (at == 0 || !number || !take(rest, "):"))
            continue;
        rest = trimmed(rest);
        if (auto severity = takeSeverity(rest))
            return Diagnostic{*severity, std::string(line.substr(0, at)), *number, 0,
                              std::string(trimmed(rest))};
    }
    return {};
}

/// Messages that name a tool: "ptxas error   : text", "ptxas a.ptx, line 15; error   : text",
/// "clang++: error: text", "ld.lld: error: text", "error: text".
std::optional<Diagnostic> readTool(std::string_view line) {
    const auto make = [](std::string severity, std::string_view message) {
        return Diagnostic{std::move(severity), {}, 0, 0, std::string(trimmed(message))};
    };
    for (std::string_view tool : {"ptxas ", "nvlink ", "nvcc ", "cudafe++ "}) {
        auto rest = line;
        if (!take(rest, tool))
            continue;
        if (const auto semicolon = rest.find("; ");
            rest.find(", line ") < semicolon && semicolon != rest.npos) {
            auto after = rest.substr(semicolon + 2);
            if (auto severity = takeSeverity(after))
                return make(*severity, trimmed(after));
        }
        if (auto severity = takeSeverity(rest))
            return make(*severity, rest);
        return {};
    }
    auto rest = line;
    if (auto severity = takeSeverity(rest))
        return make(*severity, rest);
    for (std::string_view tool :
         {"clang", "g++", "c++", "cc1plus", "collect2", "ld.lld", "mold", "/usr/bin/ld", "ld"}) {
        if (!line.starts_with(tool))
            continue;
        const auto colon = line.find(": ");
        if (colon == line.npos)
            continue;
        rest = line.substr(colon + 2);
        if (auto severity = takeSeverity(rest))
            return make(*severity, rest);
        if (line.find("undefined reference to") != line.npos)
            return make("error", line.substr(line.find("undefined reference to")));
    }
    return {};
}

/// The column that a caret line of EDG compilers points at, or 0. They indent by two.
int caretColumn(std::string_view line) {
    if (trimmed(line) != "^")
        return 0;
    const int at = static_cast<int>(line.find('^'));
    return at >= 2 ? at - 1 : 0;
}

} // namespace

Json toJson(const Diagnostic &diagnostic) {
    return {{"severity", diagnostic.severity},
            {"file", diagnostic.file},
            {"line", diagnostic.line},
            {"column", diagnostic.column},
            {"message", diagnostic.message}};
}

std::vector<Diagnostic> parseDiagnostics(std::string_view output) {
    std::vector<Diagnostic> found;
    bool brackets = false; ///< the last one is of the EDG kind: caret and details follow
    while (!output.empty()) {
        const auto end = output.find('\n');
        auto line = output.substr(0, end);
        output.remove_prefix(end == output.npos ? output.size() : end + 1);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        const auto content = trimmed(line);
        if (content.empty()) {
            brackets = false;
            continue;
        }
        const bool indented = line.front() == ' ' || line.front() == '\t';
        if (brackets && indented) {
            if (const int column = caretColumn(line); column > 0 && found.back().column == 0)
                found.back().column = column;
            else if (content.starts_with("detected during"))
                found.back().message += " (" + std::string(content) + ")";
            continue;
        }
        if (indented)
            continue; // a quoted source line
        if (auto diagnostic = readBrackets(line)) {
            found.push_back(std::move(*diagnostic));
            brackets = true;
            continue;
        }
        brackets = false;
        auto diagnostic = readColons(line);
        if (!diagnostic)
            diagnostic = readTool(line);
        if (diagnostic)
            found.push_back(std::move(*diagnostic));
    }
    return found;
}

} // namespace cuda_agent::toolchain
