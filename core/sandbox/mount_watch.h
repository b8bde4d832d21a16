// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace cuda_agent::sandbox {

/// What lies in some folders now. The tree may be a hostile program's: symbolic links are not
/// followed, and counting stops at a fixed number of entries and depth (`tooMany`).
struct TreeSize {
    std::uint64_t bytes = 0; ///< allocated on disk
    std::uint64_t entries = 0;
    bool tooMany = false;
};
TreeSize treeSize(const std::vector<std::filesystem::path> &folders);

/// Watches how much a run adds to its writable mounts, which no kernel limit covers: a quota would
/// need a file system that has them. Not thread-safe.
class MountWatch {
  public:
    /// Notes what is there now. `mostBytes` zero: no limit.
    MountWatch(std::vector<std::filesystem::path> folders, std::uint64_t mostBytes);

    /// Whether more than `mostBytes` (or 100,000 entries) have been added, or the disk below has
    /// little left. Looks at most every 250 ms, less often where looking takes long.
    bool exceeded();

  private:
    using Clock = std::chrono::steady_clock;
    std::uint64_t freeBytes() const;

    std::vector<std::filesystem::path> folders_;
    std::uint64_t mostBytes_;
    TreeSize before_;
    std::uint64_t freeBefore_ = 0;
    Clock::time_point next_;
};

} // namespace cuda_agent::sandbox
