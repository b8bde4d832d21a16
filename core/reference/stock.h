// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sandbox/sandbox.h"

#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

namespace cuda_agent::reference {

/// Workers' processes on one device whose task is done and that wait for another: PyTorch is
/// imported, its compiler has been used, the GPU is open, which is most of what a worker's start
/// takes. What a task leaves in its process the next one may find, so a stock is for tasks that
/// belong together, such as those of one set. Candidates never run in these processes. Any thread
/// may call every member.
class Stock {
  public:
    struct Idle {
        sandbox::Process process;
        int served = 0; ///< tasks that it has had
    };
    /// At most so many wait.
    explicit Stock(std::size_t most);
    /// Ends those that wait and removes cache(); no worker of the stock may be left.
    ~Stock();
    Stock(const Stock &) = delete;
    Stock &operator=(const Stock &) = delete;

    /// The one that came last.
    std::optional<Idle> take();
    /// Keeps it; one too many, or one that has served long, ends.
    void give(Idle idle);
    /// Where the workers keep what they compile; made by whoever starts one.
    const std::filesystem::path &cache() const { return cache_; }

  private:
    std::size_t most_;
    std::filesystem::path cache_;
    std::mutex mutex_;
    std::vector<Idle> idle_;
};

} // namespace cuda_agent::reference
