// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/compiler.h"

namespace cuda_agent::toolchain {

/// What one compile may take; beyond it the source is rejected.
struct CompileLimits {
    int seconds = 60;                       ///< wall time
    std::uint64_t memoryBytes = 3ull << 30; ///< address space of the compiling process
};

/// As makeCudaCompiler(architecture), with other limits.
Result<std::unique_ptr<Compiler>> makeCudaCompiler(std::string architecture,
                                                   const CompileLimits &limits);

} // namespace cuda_agent::toolchain
