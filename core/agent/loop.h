// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"
#include "core/policy/policy.h"
#include "core/session/log.h"

#include <functional>

namespace cuda_agent::agent {

struct LoopOptions {
    int turns = 20;
};
struct LoopResult {
    session::State state;
    std::string reason; ///< why it ended
};

/// Runs turns (thought, action, observation) until the policy is done, the turns are used up or a
/// stop is asked for; every step goes to the log first. `state` is the fold of the log so far, so
/// that a resumed session goes on after its last ended turn.
/// Errors: machine (log not writable, device lost), stopped (the log is whole).
Result<LoopResult> runLoop(session::Log &log, session::State state, judge::Judge &judge,
                           policy::Policy &policy, const LoopOptions &options,
                           std::stop_token stop);

} // namespace cuda_agent::agent
