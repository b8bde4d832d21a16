// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/runner/backend.h"
#include "core/profile/process/cupti.h"

#include <chrono>

namespace cuda_agent::profile::process {

/// Calls for a fifth of a second, at most 500 times and at least once: the code is loaded then, and
/// the GPU has left its idle clock.
inline Outcome<void> warmUp(plan::runner::Backend &backend, int set) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    for (int i = 0; i == 0 || (i < 500 && std::chrono::steady_clock::now() < end); ++i)
        CUDA_AGENT_TRY(outcomeOf(backend.call(set)));
    return {};
}

} // namespace cuda_agent::profile::process
