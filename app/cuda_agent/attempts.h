// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/agent/best_of.h"

namespace cuda_agent::app {

/// Runs several attempts at one task and prints how they went. Returns the exit code.
Result<int> runAttempts(const agent::BestOfRequest &request, bool json, std::stop_token stop);

} // namespace cuda_agent::app
