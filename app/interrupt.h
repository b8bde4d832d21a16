// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <stop_token>

namespace cuda_agent::app {

/// Turns the first Ctrl-C (SIGINT) or SIGTERM into a stop request, so that logs end whole; the
/// second one ends the program at once. Call once, from main, before any thread starts.
std::stop_token stopOnInterrupt();

} // namespace cuda_agent::app
