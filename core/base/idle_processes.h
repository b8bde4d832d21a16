// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cuda_agent {

/// Processes that took long to start, have served, and wait for the next one who needs such a one.
/// `Process` ends what it stands for when it is destroyed. Any thread may call every member.
template <class Process>
class IdleProcesses {
  public:
    struct Idle {
        Process process;
        int served = 0; ///< how often it has served
    };
    /// Of one process, at most: whatever could be left in it ends.
    static constexpr int mostServed = 50;

    /// At most so many wait.
    explicit IdleProcesses(std::size_t most) : most_(most) {}

    /// The one that came last.
    std::optional<Idle> take() {
        const std::lock_guard lock(mutex_);
        if (idle_.empty())
            return {};
        auto idle = std::move(idle_.back());
        idle_.pop_back();
        return idle;
    }
    /// Keeps it; one too many, or one that has served long, ends.
    void give(Idle idle) {
        if (idle.served >= mostServed)
            return;
        const std::lock_guard lock(mutex_);
        if (idle_.size() < most_)
            idle_.push_back(std::move(idle)); // else it ends when the lock is left
    }
    void clear() {
        std::vector<Idle> gone; // ends when the lock is left
        const std::lock_guard lock(mutex_);
        std::swap(gone, idle_);
    }

  private:
    std::size_t most_;
    std::mutex mutex_;
    std::vector<Idle> idle_;
};

} // namespace cuda_agent
