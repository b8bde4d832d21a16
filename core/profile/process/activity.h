// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/runner/backend.h"
#include "core/profile/process/cupti.h"
#include "core/profile/process/flush.h"

namespace cuda_agent::profile::process {

/// What to trace.
struct TraceRequest {
    int set = 0;
    int calls = 10; ///< traced, after some that are not looked at
    bool flush = true;
};

/// Traces calls by CUPTI's activity records: exact start and end of every kernel, copy and fill,
/// with the shape and the resources of the launches. No hardware counters, no privileges.
///
/// First one call, step by step, says which launch belongs to which step. Then `calls` calls as
/// they are timed: replays of a CUDA graph, where the plan can be captured into one. Where a replay
/// does not show the same launches, the times are those of calls that are launched one by one.
///
/// The answer: {"launches": [{"kind", "name", "step", "grid", "block", "cluster", "registers",
/// "static_shared", "dynamic_shared", "local", "bytes", "seconds": [...], "gaps": [...]}],
/// "graph": bool, "dropped": records, "library", "version"}; seconds and gaps (to the launch
/// before; absent for the first) have an entry a traced call.
Outcome<Json> traceCalls(const Cupti &cupti, plan::runner::Backend &backend, CacheFlush &flush,
                         const TraceRequest &request);

} // namespace cuda_agent::profile::process
