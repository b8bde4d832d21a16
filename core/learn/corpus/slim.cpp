// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/slim.h"

#include "core/base/names.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

namespace cuda_agent::learn {

namespace {

using Lines = std::vector<std::string>;

Lines linesOf(const std::string &text) {
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(std::move(line));
    return lines;
}

bool hasWord(std::string_view line, std::string_view word) {
    for (auto at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
        const auto end = at + word.size();
        if ((at == 0 || !isNamePart(line[at - 1])) &&
            (end == line.size() || !isNamePart(line[end])))
            return true;
    }
    return false;
}

std::string_view trimmed(std::string_view line) {
    const auto first = line.find_first_not_of(' ');
    return first == line.npos ? std::string_view() : line.substr(first);
}

/// Without "// ..." outside of strings, and without blanks at the end.
void dropComment(std::string &line) {
    bool inText = false;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
        if (line[i] == '"' && (i == 0 || line[i - 1] != '\\'))
            inText = !inText;
        if (!inText && line[i] == '/' && line[i + 1] == '/') {
            line.resize(i);
            break;
        }
    }
    line.resize(line.find_last_not_of(' ') + 1);
}

/// Takes the branches of `#ifndef __CUDA_AGENT_HOST__` that the device kind compiles.
Lines withoutOtherDevice(const Lines &lines, device::Kind kind) {
    struct Open {
        bool ours = false; ///< asks for the device kind
        bool taken = true;
    };
    std::vector<Open> open;
    Lines result;
    for (const std::string &line : lines) {
        const auto text = trimmed(line);
        if (text.starts_with("#if")) {
            Open one;
            const bool host = text == "#ifdef __CUDA_AGENT_HOST__";
            one.ours = host || text == "#ifndef __CUDA_AGENT_HOST__";
            one.taken = !one.ours || host == (kind == device::Kind::cpu);
            open.push_back(one);
            if (one.ours)
                continue;
        } else if (text == "#else" && !open.empty() && open.back().ours) {
            open.back().taken = !open.back().taken;
            continue;
        }
        const bool taken = std::ranges::all_of(open, &Open::taken);
        if (text == "#endif" && !open.empty()) {
            const bool ours = open.back().ours;
            open.pop_back();
            if (ours)
                continue;
        }
        if (taken)
            result.push_back(line);
    }
    return result;
}

/// Without `#ifndef NAME / #define NAME ... / #endif` of names that nothing reads.
void dropUnreadGuards(Lines &lines) {
    for (std::size_t i = 0; i + 2 < lines.size();) {
        const auto name = std::string(lines[i].starts_with("#ifndef ") ? lines[i].substr(8) : "");
        const bool guard = !name.empty() && lines[i + 1].starts_with("#define " + name + " ") &&
                           lines[i + 2] == "#endif";
        bool read = !guard;
        for (std::size_t k = 0; k < lines.size() && !read; ++k)
            read = (k < i || k > i + 2) && hasWord(lines[k], name);
        if (read) {
            ++i;
            continue;
        }
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i),
                    lines.begin() + static_cast<std::ptrdiff_t>(i + 3));
    }
}

/// The name that a line of its own defines as a constant whose value nothing but it needs.
std::optional<std::string> constantOf(std::string_view line) {
    const auto text = trimmed(line);
    if (!text.starts_with("const ") || !text.ends_with(";"))
        return std::nullopt;
    const auto equals = text.find(" = ");
    if (equals == text.npos)
        return std::nullopt;
    const auto value = text.substr(equals + 3);
    if (value.find(" = ") != value.npos) // it declares others, too
        return std::nullopt;
    // What threads do together, or to memory, is done whoever reads the result.
    for (const char *effect : {"sync", "atomic", "++", "--", "asm", "Blocks", "Block(", "Lanes"})
        if (value.find(effect) != value.npos)
            return std::nullopt;
    auto begin = equals;
    while (begin > 0 && isNamePart(text[begin - 1]))
        --begin;
    const auto type = text.substr(6, begin - 6);
    const bool plain = begin < equals && type.find_first_of("({[<,;") == type.npos;
    return plain ? std::optional(std::string(text.substr(begin, equals - begin))) : std::nullopt;
}

int depthOf(std::string_view line) {
    return static_cast<int>(std::ranges::count(line, '{') - std::ranges::count(line, '}'));
}

/// From the last to the first, so that what only they read goes, too.
void dropUnreadConstants(Lines &lines) {
    for (std::size_t i = lines.size(); i-- > 0;) {
        const auto name = constantOf(lines[i]);
        if (!name)
            continue;
        bool read = false;
        int depth = 0;
        for (std::size_t k = i + 1; k < lines.size() && depth >= 0 && !read; ++k) {
            read = hasWord(lines[k], *name);
            depth += depthOf(lines[k]);
        }
        if (!read)
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void replaceAll(std::string &text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// "= (i) % 4" is "= i % 4".
void dropParentheses(std::string &line) {
    const auto at = line.find("= (");
    if (at == line.npos)
        return;
    auto end = at + 3;
    while (end < line.size() && isNamePart(line[end]))
        ++end;
    if (line.compare(end, 4, ") % ") == 0 || line.compare(end, 4, ") / ") == 0) {
        line.erase(end, 1);
        line.erase(at + 2, 1);
    }
}

/// What means nothing to NVRTC, which inlines such functions by itself, and shorter casts.
void dropWords(std::string &line) {
    if (line == "#define CUDA_AGENT_REASSOCIATE")
        line.clear();
    replaceAll(line, "CUDA_AGENT_REASSOCIATE ", "");
    replaceAll(line, "__device__ __forceinline__ ", "__device__ ");
    for (const char *type : {"const Vector<T, count> *", "Vector<T, count> *", "const uint4 *",
                             "uint4 *", "const uint2 *", "uint2 *"})
        for (const char *pointer : {"from", "to", "&v"})
            replaceAll(line, fmt::format("reinterpret_cast<{}>({})", type, pointer),
                       fmt::format("({}){}", type, pointer));
}

bool isOne(const Json &size) {
    return size == 1 || size == "1";
}

} // namespace

std::string slimKernels(const std::string &text, device::Kind kind) {
    Lines lines = withoutOtherDevice(linesOf(text), kind);
    for (std::string &line : lines) {
        dropComment(line);
        replaceAll(line, "[[maybe_unused]] ", "");
        if (kind == device::Kind::cuda)
            dropWords(line);
        dropParentheses(line);
    }
    std::erase(lines, std::string());
    dropUnreadGuards(lines);
    dropUnreadConstants(lines);
    std::string result;
    for (const std::string &line : lines)
        result += (result.empty() ? "" : "\n") + line;
    return result;
}

Json slimPlan(Json plan, const std::string &file) {
    plan.erase("name");
    for (Json &step : plan["steps"]) {
        if (step.contains("source"))
            step["source"] = file;
        for (const char *key : {"grid", "block"})
            while (step.contains(key) && step[key].size() > 1 && isOne(step[key].back()))
                step[key].erase(step[key].size() - 1);
    }
    return plan;
}

} // namespace cuda_agent::learn
