// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/runner.h"
#include "core/sanitize/report.h"
#include "core/toolchain/compiler.h"

namespace cuda_agent::sanitize {

struct Options {
    std::chrono::milliseconds callTimeout{600'000}; ///< one checked call
    std::uint64_t memoryBytes = 16ull << 30;        ///< host memory of the process
};

/// Runs a plan candidate once on the cpu device with every access of its kernels looked at: bounds
/// of buffers and shared memory, memory that nobody wrote, data races within and between blocks,
/// barriers that not all threads reach, overflow, shifts, alignment. The kernels are compiled anew
/// for that, with the same meaning, and run in the sandbox as always. `buffers` are lent; the
/// outputs are written. Blocks for five to a hundred times the plain run and more (README.md).
/// Errors: machine (no clang, no cuda-agent-checker); request (the plan does not resolve); failed,
/// when the kernels do not compile so; stopped. What the run finds is the report.
Result<Report> checkOnCpu(const plan::Candidate &candidate, const plan::Signature &signature,
                          device::Device &device, const plan::CallBuffers &buffers,
                          const Options &options, std::stop_token stop = {});

/// The same for a process whose checked kernels are loaded and that answers `findings`: a module
/// worker with ProcessOptions::checked. `sources`: the kernel files as their author wrote them.
/// Errors: machine, stopped.
Result<Report> checkStarted(plan::LinkedCandidate &process,
                            const std::vector<toolchain::Source> &sources,
                            const plan::CallBuffers &buffers);

} // namespace cuda_agent::sanitize
