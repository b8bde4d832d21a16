// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/ptx.h"

#include "core/toolchain/ptx_places.h"

#include <algorithm>

namespace cuda_agent::toolchain {

namespace {

/// The name of a function whose head, without its parameters, ends with this line.
std::string nameIn(std::string_view line) {
    line = line.substr(0, line.find('('));
    line = withoutSpace(line);
    return std::string(line.substr(line.find_last_of(" \t") + 1));
}

bool beginsFunction(std::string_view line) {
    return !line.starts_with(".extern") &&
           (line.find(".entry") != line.npos || line.find(".func") != line.npos);
}

} // namespace

std::vector<ListedFunction> parsePtx(std::string_view text, std::string_view source) {
    std::vector<ListedFunction> functions;
    std::vector<std::vector<PtxPlace>> chains; // one an instruction, in order of all functions
    PtxPlaces places;
    bool inside = false; // of a function's body
    std::string name;    // of the head that was read last
    int depth = 0;
    std::uint32_t number = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = withoutSpace(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        ++number;
        const bool about = places.read(line);
        if (!inside && line.starts_with('.') && beginsFunction(line)) {
            // ".func  (.param .b32 result) name(": the result stands before the name
            const auto close = line.find(") ");
            name = nameIn(close == line.npos ? line : line.substr(close + 1));
            continue;
        }
        const bool opens = line.starts_with('{') && line.find('}') == line.npos;
        if (opens) { // also of a call: "{ // callseq 0, 0"
            if (depth++ == 0 && !name.empty()) {
                functions.push_back({name, {}});
                inside = true;
            }
            continue;
        }
        if (line.starts_with('}')) {
            depth = std::max(depth - 1, 0);
            if (depth == 0) {
                inside = false;
                name.clear();
            }
            continue;
        }
        if (!inside || about || line.empty() || line.starts_with('.') || line.starts_with("//") ||
            line.ends_with(':'))
            continue;
        functions.back().instructions.push_back({number, std::string(line), {}});
        chains.push_back(places.chain());
    }
    std::size_t next = 0;
    for (auto &function : functions)
        for (auto &instruction : function.instructions)
            for (const auto &place : chains[next++]) {
                const auto file = places.file(place.file);
                if (place.line > 0)
                    instruction.places.push_back(
                        {std::string(isPathOf(file, source) ? source : file), place.line});
            }
    return functions;
}

} // namespace cuda_agent::toolchain
