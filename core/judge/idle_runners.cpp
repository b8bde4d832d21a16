// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/idle_runners.h"

#include <utility>

namespace cuda_agent::judge {

namespace {

/// Candidates that one process has at most: whatever one could leave in it ends.
constexpr int mostServed = 50;

} // namespace

std::optional<IdleRunners::Runner> IdleRunners::take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty())
        return {};
    auto runner = std::move(idle_.back());
    idle_.pop_back();
    return runner;
}

void IdleRunners::give(Runner runner) {
    if (runner.served >= mostServed)
        return;
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_)
        idle_.push_back(std::move(runner)); // else it ends when the lock is left
}

void IdleRunners::clear() {
    std::vector<Runner> gone; // ends when the lock is left
    const std::lock_guard lock(mutex_);
    std::swap(gone, idle_);
}

} // namespace cuda_agent::judge
