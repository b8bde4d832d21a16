// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/agent/control.h"
#include "core/agent/turn_writer.h"
#include "core/policy/policy.h"
#include "core/tools/toolbox.h"

namespace cuda_agent::agent {

/// What a session may use up. Zero means no limit of that kind.
struct Budget {
    int turns = 20;          ///< of the policy, those before a resume counted in
    double seconds = 0;      ///< of this run, from its first turn
    std::int64_t tokens = 0; ///< prompts and answers of language models, of the whole session
    double cost = 0;         ///< by the endpoint's prices, of the whole session
};

struct LoopOptions {
    Budget budget;
    int enough = 0; ///< reward of a candidate that ends the session; 0: none does
    /// Steers the loop from other threads; borrowed, may be null.
    Control *control = nullptr;
    /// Called before the loop waits for the control, and when it goes on. On the loop's thread.
    std::function<void(bool resting)> resting;
    /// Called after each turn, the engineer's too. An error ends the loop.
    std::function<Result<void>()> turnDone;
    /// Asked before each call of the policy's; an answer other than empty is why it may not be.
    /// Blocks as long as it likes; on the loop's thread. Null: everything may be.
    /// Errors: stopped.
    std::function<Result<std::string>(const session::ToolCall &, std::stop_token)> approve;
};

/// Runs turns (thought, action, observation) until the policy is done, the budget is used up or a
/// stop is asked for; every step goes to the log first. Goes on after the last ended turn in the
/// recorder's state, which is how a killed session resumes. Returns why it ended; the outcome is in
/// the recorder's state. Blocks.
/// Errors: machine (log not writable, device lost), failed (the policy cannot do this task),
/// request (the policy is set up wrongly, such as a refused key), stopped (the log is whole).
Result<std::string> runLoop(tools::Workspace &workspace, TurnWriter &writer, policy::Policy &policy,
                            const LoopOptions &options, std::stop_token stop);

/// Makes the workspace hold exactly the files that the log says, and does one turn of the
/// engineer's in it: a message and tool calls. Errors: machine, stopped.
Result<void> runEngineerTurn(tools::Workspace &workspace, TurnWriter &writer,
                             const Control::Order &order, std::stop_token stop);

/// The folder of a session that holds the candidate as it is now.
std::filesystem::path candidateFolder(const std::filesystem::path &session);

} // namespace cuda_agent::agent
