// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/runner.h"
#include "core/profile/profile.h"

#include <stop_token>

namespace cuda_agent::profile {

struct Options {
    int calls = 10;    ///< traced calls
    int samples = 20;  ///< of the whole call's time, with nothing attached
    bool flush = true; ///< write over the L2 cache before every call, as timing does
    bool counters = true;
    bool lines = false;                            ///< also sample program counters; needs counters
    std::chrono::milliseconds callTimeout{60'000}; ///< one call
    std::chrono::milliseconds passTimeout{600'000}; ///< all calls of one pass
};

/// What is profiled.
struct Subject {
    const plan::CompiledPlan *compiled = nullptr; ///< borrowed
    plan::Signature signature;
    std::uint64_t countedBytes = 0; ///< of the task
    double countedOperations = 0;   ///< of the task
};

/// Profiles one call of a plan candidate on `device`, in processes of their own in the sandbox
/// (cuda-agent-profiler), one for each pass, so that no pass changes another's times:
/// - the span of a call as it is judged, with nothing attached;
/// - cuda: exact times of every launch by CUPTI's activity records;
/// - cuda: hardware counters by CUPTI's range profiler. First in the same sandbox as any candidate.
///   Where the driver keeps the counters for administrators and the engine is root, once more with
///   the one capability that the driver asks for (sandbox::Policy::performanceCounters);
/// - cuda, where Options::lines asks for it: where warps wait, by line, from samples of their
///   program counters, as counters;
/// - cpu: the time of every step by the host's clock.
/// What cannot be measured is a sentence in Report::notes; the rest still comes. Findings are not
/// filled in (findings.h). `buffers` are lent and the outputs are written. The caller holds the
/// device's lease. Blocks for seconds.
/// Errors: request (the plan does not resolve), failed (the candidate faulted), machine, stopped.
Result<Report> profileCandidate(const Subject &subject, device::Device &device,
                                const plan::CallBuffers &buffers, const Options &options,
                                std::stop_token stop = {});

/// Folders that may hold libcupti.so.13: $LD_LIBRARY_PATH, the CUDA toolkit, the Python
/// environment.
std::vector<std::filesystem::path> cuptiFolders();

} // namespace cuda_agent::profile
