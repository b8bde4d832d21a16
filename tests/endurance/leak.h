// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <set>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace cuda_agent::endurance {

/// Loses things on purpose, so that a test can see that they are found. Gives all back at its end.
class Leak {
  public:
    /// Of "fd", "process", "orphan", "memory", "file", "shm", "cgroup", "thread".
    /// Errors: request (another name).
    static Result<Leak> make(const std::vector<std::string> &kinds);
    Leak(Leak &&) noexcept = default;
    ~Leak();

    /// Loses one of each chosen kind. Errors: machine (it cannot be made).
    Result<void> lose();

  private:
    Leak() = default;
    Result<void> startProcess(bool orphan);
    Result<void> makeFile(const std::filesystem::path &file);
    Result<void> makeGroup();

    std::set<std::string> kinds_;
    std::size_t count_ = 0;
    std::vector<int> descriptors_;
    std::vector<pid_t> processes_;
    std::vector<std::unique_ptr<std::vector<char>>> memory_;
    std::vector<std::filesystem::path> files_;
    std::vector<std::filesystem::path> groups_;
    std::vector<std::jthread> threads_;
};

} // namespace cuda_agent::endurance
