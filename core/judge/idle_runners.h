// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/idle_processes.h"
#include "core/plan/linked_candidate.h"

#include <memory>

namespace cuda_agent::judge {

/// Plan runners on one GPU that have served a candidate, and wait after plan::unload() for the
/// next, of any task. Opening a GPU takes a fifth of a second, for one process at a time, which is
/// longer than judging a small kernel. Each has hundreds of megabytes of the GPU's memory.
using IdleRunners = IdleProcesses<std::unique_ptr<plan::LinkedCandidate>>;

} // namespace cuda_agent::judge
