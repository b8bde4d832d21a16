// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/idle_processes.h"
#include "core/sandbox/sandbox.h"

#include <filesystem>

namespace cuda_agent::reference {

/// Workers' processes on one device whose task is done and that wait for another: PyTorch is
/// imported, its compiler has been used, the GPU is open, which is most of what a worker's start
/// takes. What a task leaves in its process the next one may find, so a stock is for tasks that
/// belong together, such as those of one set. Candidates never run in these processes. Any thread
/// may call every member.
class Stock : public IdleProcesses<sandbox::Process> {
  public:
    /// At most so many wait.
    explicit Stock(std::size_t most);
    /// Ends those that wait and removes cache(); no worker of the stock may be left.
    ~Stock();

    /// Where the workers keep what they compile; made by whoever starts one.
    const std::filesystem::path &cache() const { return cache_; }

  private:
    std::filesystem::path cache_;
};

} // namespace cuda_agent::reference
