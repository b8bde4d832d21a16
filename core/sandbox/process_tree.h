// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace cuda_agent::sandbox {

/// What a process and all its descendants use now; the stand-in where no control group counts.
struct TreeUse {
    std::uint64_t memoryBytes =
        0;                 ///< anonymous and shared memory; pages that two share count twice
    double cpuSeconds = 0; ///< of the living and of the children that they have waited for
    int threads = 0;
};

/// Reads /proc once (about 1 ms for some hundred processes). With `enough` above 0 it stops where
/// more threads than that were found, or a fork bomb would grow faster than it is counted; the
/// other figures are then 0.
TreeUse treeUse(pid_t root, int enough = 0);

/// The parent of a process, or 0.
pid_t parentOf(pid_t pid);

} // namespace cuda_agent::sandbox
