// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/kernel_writer.h"

namespace cuda_agent::policy {

/// A plan candidate in memory.
struct CandidateFiles {
    std::string name;                         ///< also the plan's name
    std::map<std::string, std::string> files; ///< "plan.json", "kernels/planner.cu"
};

/// One group with what its schedules are chosen by.
struct ScheduledGroup {
    const Group *group = nullptr;
    Nest nest;
    std::string name; ///< "map0", "reduce1"
};
/// Groups of a fused program, in the order in which they run.
/// `transpose` as in `makeNest`.
std::vector<ScheduledGroup> groupsOf(const Fused &fused, bool transpose = false);

/// Writes kernels and plan. `schedules` has one entry per group; `reasons` go into the header.
CandidateFiles makeCandidate(const Fused &fused, const std::vector<ScheduledGroup> &groups,
                             const std::vector<Schedule> &schedules, const std::string &name,
                             const std::vector<std::string> &reasons);

/// Bytes that the group has to move between kernels and memory at least.
std::int64_t groupBytes(const Program &program, const Group &group);

} // namespace cuda_agent::policy
