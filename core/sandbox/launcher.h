// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace cuda_agent::sandbox {

/// One program to start, everything else about it settled beforehand.
struct Launch {
    std::vector<std::string> argv;              ///< argv[0] is the absolute path
    std::vector<std::string> environment;       ///< "NAME=value", the whole of it
    std::vector<std::pair<int, int>> fds;       ///< (ours, the child's); the child has no others
    std::vector<int> cgroupEntrances;           ///< the child writes "0" to each before it runs
    std::vector<std::pair<int, rlimit>> limits; ///< resource and value
};

/// Starts it in a process group of its own, with default signal handling, to be killed when this
/// process ends. Any thread may call; the calling thread may end before the child does (the kernel
/// ties a child's life to the thread that made it, so one thread that never ends makes them all).
/// Makes this process the one that inherits orphans of its descendants, so that none stays behind
/// as a zombie where the machine's init does not reap. Errors: machine.
Result<pid_t> launch(const Launch &what);

/// Waits for a child of `launch` that is about to end.
void reapNow(pid_t pid);

} // namespace cuda_agent::sandbox
