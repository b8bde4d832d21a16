// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"
#include "core/session/state.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <vector>

namespace cuda_agent::agent {

/// How people steer a loop that runs on another thread: pause, one step, go on, and turns of their
/// own in between. Every member may be called from any thread.
///
/// A pause takes hold when the turn under way is over; what is judged then is judged to its end.
/// (A stop, which cuts a turn off, is the loop's std::stop_token.)
class Control {
  public:
    /// Turns follow each other.
    void run();
    /// No further turn of the policy; the engineer's are done.
    void pause();
    /// One turn of the policy, then a pause.
    void step();
    /// What the loop is to do next: a turn of the engineer's, or, when it is empty, the policy's.
    struct Order {
        std::string message; ///< to the agent
        std::vector<session::ToolCall> calls;
        bool engineer() const { return !message.empty() || !calls.empty(); }
    };
    /// A turn that the engineer takes as soon as the turn under way is over. Not empty.
    void post(Order order);

    /// For the loop: blocks while there is nothing to do. `resting` is called before it blocks.
    /// Errors: stopped.
    Result<Order> next(std::stop_token stop, const std::function<void()> &resting);
    /// For the loop: the policy has no more turns in it; a run or step asked for later wakes it.
    void policyDone();

  private:
    enum class Mode { run, step, pause };
    std::mutex mutex_;
    std::condition_variable_any changed_;
    Mode mode_ = Mode::run;
    std::deque<Order> posted_;
};

} // namespace cuda_agent::agent
