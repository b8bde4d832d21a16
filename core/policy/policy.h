// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/session/state.h"
#include "core/task/task.h"

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace cuda_agent::policy {

/// What a policy says in one turn: a thought and tool calls, or the end.
struct Step {
    std::string thought;
    std::vector<session::ToolCall> calls;
    bool finished = false;
    std::string reason; ///< why it stops, when finished
    bool fresh = false; ///< it was said without sight of earlier turns, which stay as they are
    /// Of a fresh one that repeats an earlier turn up to a place: which, and what it says there.
    std::string departure = {};
};

/// What a policy may know about the task and the machine.
struct Context {
    task::Description task;
    device::Info device;
    device::Ceilings ceilings;
    Json baselines; ///< as in the log's baselinesMeasured
    task::Numerics numerics = task::Numerics::standard;
    int turnLimit = 0;
    std::string knowledge; ///< what earlier sessions found, in words; empty: nothing is offered
    /// Candidates of the planner that won on such a task and device, the best first.
    std::vector<std::string> preferred;
    int attempt = 1;  ///< of several at the same task, which should differ
    int attempts = 1; ///< how many there are
};

/// Anything that answers a transcript with an action. One object serves one session.
/// The answer depends on the context and the turns alone, so that a killed session resumes:
/// a new object, given the turns logged so far, goes on as the old one would have.
class Policy {
  public:
    virtual ~Policy() = default;
    virtual std::string name() const = 0;
    /// Blocks; can be stopped. `turns` are all ended turns so far.
    /// Errors: failed (cannot do this task; the message names the operators), machine, stopped.
    virtual Result<Step> next(const std::vector<session::Turn> &turns, std::stop_token stop) = 0;
    /// What the candidate of that name (of its plan) is and why, in a line, for the record of what
    /// worked. Empty: its turn's thought says it.
    virtual std::string describe(const std::string &) const { return {}; }
};

/// The built-in planner: fusion and schedule search over the operator graph.
std::unique_ptr<Policy> makePlanner(Context context);
/// Answers with the recorded turns of another session.
Result<std::unique_ptr<Policy>> makeReplay(const std::filesystem::path &session);

} // namespace cuda_agent::policy
