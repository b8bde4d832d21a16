// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/task/task.h"
#include "core/verify/verify.h"

namespace cuda_agent::bench {

/// Bytes of intermediate values and outputs that live at once in the forward pass, at most, in the
/// task's own precision: a value lives until its last reader or, as an output, to the end; views
/// keep what they show alive and take nothing. 0 for a graph without nodes.
std::uint64_t liveBytes(const task::Graph &graph);

/// Bytes of a GPU that judging a candidate of the task takes at its highest, by its shapes: the
/// processes' own, sealed cases of `caseBytes` in all but one at least, and the larger of what the
/// oracle works with, in twice the precision, and what eager PyTorch and the candidate do. A guess:
/// libraries' workspaces are not in it, nor what an allocator keeps.
std::uint64_t memoryNeed(const task::Description &description, std::uint64_t caseBytes,
                         verify::Strength strongest);

/// The same of a task of which only `taskBytes` is known, SuiteTask::memoryBytes. A coarser guess:
/// inputs and parameters are taken to be no more than what lives beside them.
std::uint64_t memoryNeed(std::uint64_t taskBytes, std::uint64_t caseBytes,
                         verify::Strength strongest);

} // namespace cuda_agent::bench
