// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cuda_agent::device {

/// A fixed set of threads that share the parts of one job, the caller among them. Threads start
/// with the first job that has more than one part and sleep in between.
/// One thread at a time may call.
class Crew {
  public:
    /// All hardware threads that this process may use.
    Crew();
    ~Crew();
    Crew(const Crew &) = delete;
    Crew &operator=(const Crew &) = delete;

    int size() const { return size_; }
    /// Calls `part(i)` for each i in [0, parts), in any order and on any thread, at most once each.
    /// Blocks until all are done.
    void run(std::int64_t parts, const std::function<void(std::int64_t)> &part);

  private:
    void start();
    void serve();
    void work();

    int size_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    const std::function<void(std::int64_t)> *part_ = nullptr;
    std::int64_t parts_ = 0;
    std::atomic<std::int64_t> next_{0};
    int wanted_ = 0; ///< threads that may still join the job at hand
    int busy_ = 0;   ///< threads that have joined it
    bool quit_ = false;
    std::vector<std::thread> threads_;
};

} // namespace cuda_agent::device
