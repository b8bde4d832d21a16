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
        if (seconds <= 0)
            return;
        until_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(seconds));
        timer_ = std::jthread([this](const std::stop_token &ended) {
            std::unique_lock lock(mutex_);
            while (!ended.stop_requested() && Clock::now() < until_) {
                const auto end = until_;
                changed_.wait_until(lock, ended, end, [&] { return until_ != end; });
            }
            lock.unlock();
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
    /// The time from here to resume() does not count. One thread at a time.
    void pause() {
        const std::lock_guard lock(mutex_);
        left_ = until_ - Clock::now();
        until_ += std::chrono::hours(24 * 365);
        changed_.notify_all();
    }
    void resume() {
        const std::lock_guard lock(mutex_);
        until_ = Clock::now() + left_;
        changed_.notify_all();
    }

  private:
    using Clock = std::chrono::steady_clock;
    struct Forward {
        std::stop_source *source;
        void operator()() const { source->request_stop(); }
    };

    std::stop_source source_;
    std::atomic<bool> passed_{false};
    std::stop_callback<Forward> forward_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    Clock::time_point until_; ///< these two under the mutex
    Clock::duration left_{};
    std::jthread timer_;
};

} // namespace cuda_agent
