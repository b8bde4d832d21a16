// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/rollout/collection.h"
#include "core/learn/train/processes.h"

namespace cuda_agent::learn {

/// What all processes have collected, in the order of the places, the same in each; of one process
/// alone what it was. Trajectories are as a file of them has them; those of another machine than
/// the first process's lose their session's name, for its folder is where a run keeps sessions.
/// Each process calls it; waits for the slowest. Errors: the same in each: one of `mine`, machine.
Result<Collected> gathered(Processes &processes, Result<Collected> mine);

} // namespace cuda_agent::learn
