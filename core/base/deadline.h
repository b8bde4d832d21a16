// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace cuda_agent {

/// Asks for a stop when its time is up, when another asks for one, or when told to. Safe to use
/// from several threads.
class Deadline {
  public:
    /// `seconds` 0 or less: no limit.
    Deadline(std::stop_token outer, double seconds)
        : forward_(std::move(outer), Forward{&source_}) {
        if (seconds > 0)
            timer_ = std::jthread([this, seconds](const std::stop_token &ended) {
                std::mutex mutex;
                std::unique_lock lock(mutex);
                std::condition_variable_any never;
                never.wait_for(lock, ended, std::chrono::duration<double>(seconds),
                               [] { return false; });
                if (!ended.stop_requested()) {
                    passed_ = true;
                    source_.request_stop();
                }
            });
    }
    Deadline(const Deadline &) = delete;
    Deadline &operator=(const Deadline &) = delete;

    std::stop_token token() const { return source_.get_token(); }
    /// The time was up before anybody else asked.
    bool passed() const { return passed_; }
    void request() { source_.request_stop(); }

  private:
    struct Forward {
        std::stop_source *source;
        void operator()() const { source->request_stop(); }
    };
    std::stop_source source_;
    std::atomic<bool> passed_{false};
    std::stop_callback<Forward> forward_;
    std::jthread timer_;
};

} // namespace cuda_agent
