// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/candidate.h"

#include <map>
#include <string>

namespace cuda_agent::policy {

/// "slice_2 at in0[(i + 1) % 64]; in1 where r1 >= 3 and r1 < (40 + 3), else 1": of each load of a
/// group's kernels whose positions are computed, or which has a border, the positions that it
/// picks, outermost first, and where it reads. Loops are called as in the kernels: `row` or `k0`,
/// `k1`, ... those of rows, `i` or `r0`, `r1`, ... those of elements. Values that have names stand
/// by them. Empty where there is none, and for tiles of a product.
std::string describePositions(const Program &program, const ScheduledGroup &group);

/// What the ends of a group's borders are made of, by their number: "(40 + 3)" by 43, where 40
/// elements lie behind a border of 3. Those from `leastSpelled` on, the first of each.
std::map<std::int64_t, std::string> borderTexts(const Program &program,
                                                const ScheduledGroup &group);

} // namespace cuda_agent::policy
