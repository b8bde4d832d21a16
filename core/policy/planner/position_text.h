// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/candidate.h"

#include <map>
#include <string>

namespace cuda_agent::policy {

/// "constant_pad_nd = in0[k0, _, r0 - 3, r1 * 2] where r0 >= 3 and r0 < (40 + 3), else 0; in1[0,
/// k1]; out0[k0, _, r0, r1]": where in its tensor each load and store of a group's kernels lies, a
/// place for each dimension, outermost first. Loops are called as in the kernels: `row` or `k0`,
/// `k1`, ... those of rows, `i` or `r0`, `r1`, ... those of elements, in tiles `x` or `a0`, `a1`,
/// ... across and `y` or `b0`, ... along, in products `batch`, `row` and `column` or `b0`, `m0` and
/// `n0`, ...; what a product is of comes first, "in0[batch, row, k]; in1[batch, k, column]". `_` is
/// a dimension that the loop of the one before walks as well; the place before it then counts
/// elements of the last such dimension. Where a tensor is read in other sizes than its own, these
/// stand between: "in0 [4, 8, 16][k0, i, k1]". Values that have names stand by them, and positions
/// that are computed are formulas, the long ones before the access by a name: "p0 = clampmin((r0 +
/// 0.5) * 0.25 - 0.5, 0); in0[row, clamp(p0, 0, 31)]". A buffer's name alone has places that cannot
/// be said so. Empty of attention.
std::string describePositions(const Program &program, const ScheduledGroup &group);

/// What the ends of a group's borders are made of, by their number: "(40 + 3)" by 43, where 40
/// elements lie behind a border of 3. Those from `leastSpelled` on, the first of each.
std::map<std::int64_t, std::string> borderTexts(const Program &program,
                                                const ScheduledGroup &group);

/// Whether the place where `count` places of a dimension of `size` begin is told by how far before
/// the end it lies, "1752 - 2": they end with it, or it is a few places before.
bool beginsBeforeEnd(std::int64_t first, std::int64_t count, std::int64_t size);

} // namespace cuda_agent::policy
