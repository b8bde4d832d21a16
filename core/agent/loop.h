// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/agent/control.h"
#include "core/agent/recorder.h"
#include "core/judge/judge.h"
#include "core/policy/policy.h"

namespace cuda_agent::agent {

struct LoopOptions {
    int turns = 20; ///< of the policy at most, those before a resume counted in
    /// Steers the loop from other threads; borrowed, may be null.
    Control *control = nullptr;
    /// Called before the loop waits for the control, and when it goes on. On the loop's thread.
    std::function<void(bool resting)> resting;
};

/// Runs turns (thought, action, observation) until the policy is done, the turns are used up or a
/// stop is asked for; every step goes to the log first. Goes on after the last ended turn in the
/// recorder's state, which is how a killed session resumes. Returns why it ended; the outcome is in
/// the recorder's state. Blocks.
/// Errors: machine (log not writable, device lost), failed (the policy cannot do this task),
/// stopped (the log is whole).
Result<std::string> runLoop(Recorder &recorder, judge::Judge &judge, policy::Policy &policy,
                            const LoopOptions &options, std::stop_token stop);

/// Makes the candidate folder hold exactly the files that the log says, and does one turn of the
/// engineer's in it. Errors: machine, stopped.
Result<void> runEngineerTurn(Recorder &recorder, judge::Judge &judge,
                             const std::vector<session::ToolCall> &calls, std::stop_token stop);

/// The folder of a session that holds the candidate as it is now.
std::filesystem::path candidateFolder(const std::filesystem::path &session);

} // namespace cuda_agent::agent
