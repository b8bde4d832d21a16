// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/toolchain/compiler.h"

#include <string_view>
#include <vector>

namespace cuda_agent::toolchain {

/// Names of the kernels (`__global__` functions) in a cubin, from its symbol table.
/// The file comes from a process that ran hostile text: every offset is checked.
/// Errors: machine (not a 64-bit CUDA ELF file, or a damaged one).
Result<std::vector<std::string>> kernelsOfCubin(std::string_view file);

/// Registers, spill, static shared and stack bytes and barriers of each entry, from what `ptxas -v`
/// printed; -1 where it said nothing.
std::vector<EntryInfo> entryFacts(const std::vector<std::string> &names, std::string_view log);

/// Why the assembler refused without a word: it only prints the shared memory that a kernel asks
/// for. Empty when it had no such reason.
std::string tooMuchShared(std::string_view log);

/// The log without ptxas's statistics.
std::string withoutStatistics(std::string_view log);

} // namespace cuda_agent::toolchain
