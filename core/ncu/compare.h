// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ncu/report.h"

#include <string>
#include <vector>

namespace cuda_agent::ncu {

/// One figure that both sides have.
struct Difference {
    int launch = 0;     ///< place in our report, from 0
    std::string kernel; ///< as ours has it
    std::string metric;
    std::string unit;
    double ours = 0;
    double theirs = 0;
    /// (ours - theirs) / |theirs|; 0 where both are 0, infinite where theirs alone is.
    double relative() const;
};

struct Comparison {
    std::vector<Difference> figures; ///< by launch, then as ncu printed them
    std::vector<std::string> notes;  ///< launches that only one side has
};

/// Compares with a report of `cuda-agent profile --json`: counters of the same name, durations
/// ("seconds" with gpu__time_duration.sum) and registers. The n-th launch of a kernel on our side
/// is held against the n-th of its name on ncu's, parameter lists left out. ncu's further launches,
/// of calls that ours did not make, are passed over.
/// Errors: request (no such report).
Result<Comparison> compare(const Report &theirs, const Json &ours);

/// {"figures": [{"launch", "kernel", "metric", "unit", "ours", "ncu", "relative" (null where
/// infinite)}], "notes"}
Json toJson(const Comparison &comparison);

} // namespace cuda_agent::ncu
