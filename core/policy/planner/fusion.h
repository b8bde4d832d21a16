// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/group.h"

#include <limits>

namespace cuda_agent::policy {

/// A step of the plan: a group, or a library step by its number.
struct Unit {
    std::optional<Group> group;
    int library = -1;
};

struct FusionOptions {
    /// Rows longer than this are not swept again in the same kernel: each dependent reduction and
    /// each elementwise result becomes a kernel of its own, so that a row may be shared by blocks
    /// that do not wait for each other.
    std::int64_t longestFusedRow = std::numeric_limits<std::int64_t>::max();
    /// What is written in another order than a reduction or a scan reads in, and what these read in
    /// another order than the rest, gets a kernel of its own, which changes the order in tiles,
    /// where it is at least so many bytes.
    std::int64_t leastReordered = std::numeric_limits<std::int64_t>::max();
};

/// Splits a program into units in an order in which they can run. Values that cross between groups
/// are stored in new scratch buffers of the returned program.
struct Fused {
    Program program;
    std::vector<Unit> units;
};
Fused fuse(Program program, const FusionOptions &options);

} // namespace cuda_agent::policy
