// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/metrics_store.h"
#include "core/learn/run/rollout_index.h"

#include <optional>

namespace cuda_agent::learn {

/// Follows a run's folder, also one that a trainer writes now, here or on another machine, and one
/// of another program that has metrics only. Everything in it may be missing, half written, broken
/// or hostile: what cannot be read is told once and the last good content stays. Blocks for file
/// reads; any one thread.
class RunReader {
  public:
    static constexpr double silence = 15; ///< seconds

    explicit RunReader(std::filesystem::path folder);

    struct Change {
        MetricsStore::Change metrics;
        bool state = false; ///< info, status, request, life or a problem is another one
        bool rollouts = false;
    };
    /// Reads what is new: at most about `limit` bytes of metrics, and all of the small files.
    Change read(std::size_t limit = 4u << 20);

    const std::filesystem::path &folder() const { return metrics_.folder(); }
    const MetricsStore &metrics() const { return metrics_; }
    const RolloutIndex &rollouts() const { return rollouts_; }
    /// Nothing before the first good read, and of runs that other programs write.
    const std::optional<RunInfo> &info() const { return info_; }
    const std::optional<RunStatus> &status() const { return status_; }
    /// A request that is meant for the trainer that runs now and that it has not read yet.
    const std::optional<RunRequest> &openRequest() const { return open_; }

    enum class Life {
        none,   ///< no trainer of ours has written here
        alive,  ///< it says that it runs or rests, and is there as far as can be told
        silent, ///< it holds the lock, or wrote lately, but has not been heard of for `silence`
        lost,   ///< it says that it runs, but the lock is free and nothing is heard: it was killed
        ended   ///< it says so
    };
    Life life() const { return life_; }
    /// Why run.json or status.json cannot be read, one sentence; empty when they can or are
    /// missing.
    const std::string &problem() const { return problem_; }

  private:
    void readState();
    Life lifeNow() const;

    MetricsStore metrics_;
    RolloutIndex rollouts_;
    std::optional<RunInfo> info_;
    std::optional<RunStatus> status_;
    std::optional<RunRequest> open_;
    std::string problem_;
    Life life_ = Life::none;
    std::string statusText_, infoText_, controlText_;
    double statusAge_ = 0; ///< seconds since status.json was written, by the file's time
};

} // namespace cuda_agent::learn
