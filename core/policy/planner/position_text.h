// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/candidate.h"

namespace cuda_agent::policy {

/// "slice_2 at in0[(i + 1) % 64]; in1 where 3 <= r1 < 43, else 1": of each load of a group's
/// kernels whose positions are computed, or which has a border, the positions that it picks,
/// outermost first, and where it reads. Loops are called as in the kernels: `row` or `k0`, `k1`,
/// ... those of rows, `i` or `r0`, `r1`, ... those of elements. Values that have names stand by
/// them. Empty where there is none, and for tiles of a product.
std::string describePositions(const Program &program, const ScheduledGroup &group);

} // namespace cuda_agent::policy
