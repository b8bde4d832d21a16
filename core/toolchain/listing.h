// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::toolchain {

/// A line of a source file.
struct SourcePlace {
    std::string file;
    int line = 0; ///< from 1
    bool operator==(const SourcePlace &) const = default;
};

/// One instruction that a compiler made, of PTX or of a machine (SASS).
struct ListedInstruction {
    std::uint32_t address =
        0;            ///< SASS: bytes from the start of its function; PTX: line of the text
    std::string text; ///< "@!P0 LDG.E.128 R4, desc[UR6][R2.64]"
    /// The line that it was made from; then, where that line's function was inlined, the line that
    /// called it, and so on. Empty where the compiler says nothing.
    std::vector<SourcePlace> places;

    /// The innermost place of that file, 0 where there is none: of the candidate's own source, not
    /// of a header that it uses.
    int lineIn(std::string_view file) const {
        for (const auto &place : places)
            if (place.file == file)
                return place.line;
        return 0;
    }
};

/// A kernel or a device function that was not inlined.
struct ListedFunction {
    std::string name; ///< as compiled
    std::vector<ListedInstruction> instructions;
};

/// Whether a compiler's path of a file is that of `source`, the name that the compiler was given:
/// compilers put a folder of their own in front.
inline bool isPathOf(std::string_view path, std::string_view source) {
    return !source.empty() && path.ends_with(source) &&
           (path.size() == source.size() || source.front() == '/' ||
            path[path.size() - source.size() - 1] == '/');
}

} // namespace cuda_agent::toolchain
