// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/occupancy.h"
#include "core/modules/candidate.h"
#include "core/toolchain/compiler.h"

#include <span>
#include <stop_token>

namespace cuda_agent::modules {

/// A kernel of a workspace.
struct TargetKernel {
    std::string source; ///< "kernels/x.cu"
    toolchain::EntryInfo entry;
};

/// The kernels of a workspace on one architecture. How they are launched is decided by host code
/// when it runs, so nothing is known of blocks and dynamic shared memory.
struct Target {
    const device::Architecture *architecture = nullptr;
    bool compiled = false; ///< every kernel file
    /// Errors of the files that do not compile, warnings of the others.
    std::vector<toolchain::Diagnostic> diagnostics;
    std::string problem; ///< one line, of the first file that does not compile
    std::vector<TargetKernel> kernels;
    double seconds = 0; ///< spent compiling; what was cached counts with its time then
    bool cached = true; ///< nothing was compiled now
};

/// Block sizes for which toJson gives theoretical occupancy.
inline constexpr int exampleThreads[] = {128, 256, 512, 1024};
/// What an SM holds of a kernel with that many threads a block and no dynamic shared memory.
device::Occupancy occupancyOf(const Target &target, const TargetKernel &kernel, int threads);

/// Compiles the kernel files of a workspace with nvcc for each of the architectures, in their
/// order, as Builder does; bindings are left out and nothing runs. Blocking, parallel.
/// Errors: request (a single file, which compiles what it needs when it is loaded), machine (no
/// nvcc, ...), stopped.
Result<std::vector<Target>>
examineTargets(const Candidate &candidate,
               std::span<const device::Architecture *const> architectures, std::stop_token stop);

/// As plan::toJson(Target), with kernels: [{"source", "entry", "registers", "static_shared_bytes",
/// "spill_bytes", "stack_bytes", "barriers", "occupancy_by_threads": {"128": {...}, ...}}].
Json toJson(const Target &target);

} // namespace cuda_agent::modules
