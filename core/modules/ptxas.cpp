// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/ptxas.h"

#include <charconv>
#include <cstdlib>
#include <cxxabi.h>

namespace cuda_agent::modules {

namespace {

/// The number that stands before `unit`, or -1.
int numberBefore(std::string_view line, std::string_view unit) {
    const auto at = line.find(unit);
    if (at == line.npos || at == 0)
        return -1;
    auto begin = at;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
        --begin;
    int value = -1;
    std::from_chars(line.data() + begin, line.data() + at, value);
    return value;
}

} // namespace

std::string readableKernel(std::string name) {
    int status = 0;
    if (char *text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status)) {
        name = text;
        std::free(text); // what __cxa_demangle gives comes from malloc
    }
    if (name.starts_with("void "))
        name.erase(0, 5);
    for (const std::string_view anonymous : {"(anonymous namespace)::", "<unnamed>::"})
        for (auto at = name.find(anonymous); at != name.npos; at = name.find(anonymous))
            name.erase(at, anonymous.size());
    // nvcc's own name for them: _GLOBAL__N__<hash>::
    for (auto at = name.find("_GLOBAL__N__"); at != name.npos; at = name.find("_GLOBAL__N__")) {
        const auto end = name.find("::", at);
        name.erase(at, end == name.npos ? name.npos : end + 2 - at);
    }
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
        if (name[i] == '(' && depth == 0)
            return name.substr(0, i);
    }
    return name;
}

std::vector<toolchain::EntryInfo> entriesFromPtxas(std::string_view output) {
    constexpr std::string_view begin = "Compiling entry function '";
    std::vector<toolchain::EntryInfo> entries;
    while (!output.empty()) {
        const auto end = std::min(output.find('\n'), output.size());
        const auto line = output.substr(0, end);
        output.remove_prefix(std::min(end + 1, output.size()));
        if (const auto at = line.find(begin); at != line.npos) {
            const auto name = line.substr(at + begin.size());
            auto readable = readableKernel(std::string(name.substr(0, name.find('\''))));
            if (!readable.empty())
                entries.push_back({.name = std::move(readable)});
        } else if (entries.empty()) {
            continue;
        } else if (line.find("bytes stack frame") != line.npos) {
            entries.back().stackBytes = numberBefore(line, " bytes stack frame");
            entries.back().spillBytes = numberBefore(line, " bytes spill stores");
        } else if (line.find("Used ") != line.npos) {
            entries.back().registers = numberBefore(line, " registers");
            entries.back().sharedBytes = std::max(0, numberBefore(line, " bytes smem"));
            entries.back().barriers = numberBefore(line, " barriers");
        }
    }
    return entries;
}

} // namespace cuda_agent::modules
