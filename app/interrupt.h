// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <stop_token>

namespace cuda_agent::app {

/// Turns the first Ctrl-C (SIGINT) or SIGTERM into a stop request, so that logs end whole and
/// checkpoints are written; one that comes a second after it, or later, ends the program at once.
/// Those between are the same wish told twice: timeout, torchrun and terminals signal a program and
/// its group. Call once, from main, before any thread starts.
std::stop_token stopOnInterrupt();

} // namespace cuda_agent::app
