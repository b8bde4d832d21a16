// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/modules/launch.h"

#include <deque>
#include <future>
#include <optional>
#include <stop_token>

namespace cuda_agent::modules {

/// Module workers for one task that have imported PyTorch before there is a candidate: seconds that
/// pass while compilers run, or while an agent thinks. Each serves one workspace and ends with it.
/// On a cpu, whose time others measure, they share the device until they are ready.
///
/// Not thread-safe. Ends the workers that wait when destroyed.
class Standby {
  public:
    /// Starts nothing. `options`: of the candidates to come; only where it and the task equal
    /// those of modules::start() may a worker be taken there.
    Standby(task::Spec spec, device::Info device, ProcessOptions options);
    ~Standby();
    Standby(const Standby &) = delete;
    Standby &operator=(const Standby &) = delete;

    /// Starts workers on threads of their own until `count` wait. Does not block. What goes wrong
    /// shows when one is started for a candidate.
    void fill(std::size_t count);

    /// Blocks until the one that was started first is ready. The caller must not share the device
    /// then (device::Share): the worker may wait for its turn to. Errors: stopped.
    Result<void> settle(std::stop_token stop);
    /// The one that was started first, once it is ready; none where none waits. Errors: stopped.
    Result<std::optional<Launched>> take(std::stop_token stop);

  private:
    struct Waiting {
        std::stop_source stop;
        std::future<Result<Launched>> worker; ///< ends soon after `stop`
        std::chrono::steady_clock::time_point started;
    };
    task::Spec spec_;
    device::Info device_;
    ProcessOptions options_;
    std::deque<Waiting> waiting_;
};

} // namespace cuda_agent::modules
