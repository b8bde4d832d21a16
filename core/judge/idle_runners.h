// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/linked_candidate.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cuda_agent::judge {

/// Plan runners on one GPU that have served a candidate and wait for the next, of any task. Opening
/// a GPU takes a fifth of a second, for one process at a time, which is longer than judging a small
/// kernel. Each has hundreds of megabytes of the GPU's memory. Any thread may call every member.
class IdleRunners {
  public:
    struct Runner {
        std::unique_ptr<plan::LinkedCandidate> process; ///< after plan::unload()
        int served = 0;                                 ///< candidates that it has had
    };
    explicit IdleRunners(std::size_t most) : most_(most) {}
    /// The one that came last.
    std::optional<Runner> take();
    /// Keeps it; one too many, or one that has served long, ends.
    void give(Runner runner);
    void clear();

  private:
    std::size_t most_;
    std::mutex mutex_;
    std::vector<Runner> idle_;
};

} // namespace cuda_agent::judge
