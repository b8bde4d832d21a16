// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <stop_token>
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

/// One machine instruction.
struct SassInstruction {
    std::uint32_t address = 0; ///< bytes from the start of its function
    std::string text;          ///< "@!P0 LDG.E.128 R4, desc[UR6][R2.64]"
    /// The line that it was made from; then, where that line's function was inlined, the line that
    /// called it, and so on. Empty where the compiler says nothing.
    std::vector<SourcePlace> places;
    /// The innermost place of that file, 0 where there is none: of the candidate's own source, not
    /// of a header that it uses.
    int lineIn(std::string_view file) const;
};

/// A kernel or a device function that was not inlined.
struct SassFunction {
    std::string name; ///< as in the cubin
    std::vector<SassInstruction> instructions;
};

/// Reads what `nvdisasm -c -gi` prints (CUDA Binary Utilities). `source` is the file name that the
/// compiler was given, "kernels/a.cu"; places in it carry that name, whatever folder stands before
/// it. Takes any text.
std::vector<SassFunction> parseSass(std::string_view text, std::string_view source);

/// Disassembles a cubin that was compiled with -lineinfo, as those of makeCudaCompiler() are, in
/// the sandbox. Blocking (about 50 ms a small kernel); any thread may call.
/// Errors: machine (no nvdisasm, with how to get one; it fails or prints more than 64 MiB),
/// stopped.
Result<std::vector<SassFunction>> disassemble(const std::filesystem::path &cubin,
                                              std::string_view source, std::stop_token stop = {});

/// nvdisasm of the toolkit, of the wheels beside PyTorch or of Triton, in this order.
/// Errors: machine.
Result<std::filesystem::path> findDisassembler();

} // namespace cuda_agent::toolchain
