// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace cuda_agent::learn {

/// Judges of many tasks for many episodes at once. A judge is prepared when its task is first
/// wanted, is kept for the next episode at it, and serves one verdict at a time. Any thread may
/// call every member.
class JudgePool {
  public:
    struct Options {
        std::string device = "auto"; ///< "auto", "cuda", "cpu"
        int gpu = 0;                 ///< with "cuda": which one
        judge::Options judge;
        std::size_t kept = 8; ///< judges without an episode that stay; the one unused longest goes
        int atOnce = 2;       ///< verdicts, and preparations, at the same time over all tasks
    };
    explicit JudgePool(Options options);
    /// No seat may be left.
    ~JudgePool();
    JudgePool(const JudgePool &) = delete;
    JudgePool &operator=(const JudgePool &) = delete;

    /// A task's judge for as long as an episode lasts; others may have a seat at it, too.
    class Seat {
      public:
        Seat(Seat &&other) noexcept;
        Seat &operator=(Seat &&) = delete;
        ~Seat(); ///< leaves

        /// What it knows of the task and the device may be read at any time.
        judge::Judge &judge() const;
        /// Waits until it is nobody else's, and keeps it until leave(). Errors: stopped.
        Result<void> take(const std::stop_token &stop);
        /// Nothing to do where it was not taken.
        void leave();

      private:
        friend class JudgePool;
        struct Entry;
        Seat(JudgePool &pool, Entry &entry) : pool_(&pool), entry_(&entry) {}
        JudgePool *pool_;
        Entry *entry_;
        bool taken_ = false;
    };
    /// Prepares the task's judge where there is none; blocks meanwhile. Errors: request (the task
    /// cannot be judged by; it is not tried again), machine, stopped.
    Result<Seat> sit(const task::Spec &spec, const std::stop_token &stop);

    const Options &options() const { return options_; }
    /// Of judges prepared, and the seconds that took, over all threads.
    struct Counts {
        int prepared = 0;
        double seconds = 0;
    };
    Counts counts() const;

  private:
    Result<std::unique_ptr<judge::Judge>> prepare(const task::Spec &spec,
                                                  const std::stop_token &stop) const;
    void makeRoom(std::vector<std::unique_ptr<judge::Judge>> &gone);

    const Options options_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<std::string, std::unique_ptr<Seat::Entry>> entries_; ///< by file and overrides
    int busy_ = 0;                                                ///< of `atOnce`
    std::uint64_t clock_ = 0;
    Counts counts_;
};

} // namespace cuda_agent::learn
