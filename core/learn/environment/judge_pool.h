// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace cuda_agent::learn {

/// Judges of many tasks for many episodes at once. A judge is prepared when its task is first
/// wanted, or ahead of that, and is kept for the next episode at it. It serves one verdict at a
/// time; where several episodes are at one task, it gets twins. On a GPU the sealed cases of all
/// share the memory, each as much as lets those that are kept be there together; while it is short,
/// judges that nobody uses go, and a new one waits until one can. Any thread may call every member.
class JudgePool {
  public:
    struct Options {
        std::string device = "auto"; ///< "auto", "cuda", "cpu"
        std::vector<int> gpus = {0}; ///< with "cuda": which ones; a task stays on one
        judge::Options judge;
        std::size_t kept = 8; ///< judges without an episode that stay; the one unused longest goes
        int atOnce = 2;       ///< verdicts, and preparations, at the same time over all tasks
        int perTask = 1;      ///< of them at one task; 1 where baselines are measured in between
        /// Told once of each task that cannot be judged by, and why. Any thread calls it.
        std::function<void(const std::string &task, const std::string &why)> unusable = {};
        /// Share of a GPU's memory that is free; empty: asks the GPU, and a CPU has enough.
        std::function<double(int gpu)> freeShare = {};
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
        /// Waits until it is nobody else's, and keeps it until leave(). Beside other verdicts it
        /// also waits for memory, and judges without a seat go for it. Errors: stopped.
        Result<void> take(const std::stop_token &stop);
        /// Nothing to do where it was not taken.
        void leave();

      private:
        friend class JudgePool;
        struct Lane;
        struct Entry;
        Seat(JudgePool &pool, Entry &entry, Lane &lane)
            : pool_(&pool), entry_(&entry), lane_(&lane) {}
        JudgePool *pool_;
        Entry *entry_;
        Lane *lane_;
        bool taken_ = false;
    };
    /// Prepares the task's judge where there is none; blocks meanwhile. Errors: request (the task
    /// cannot be judged by; it is not tried again), machine (also where a task fails while others
    /// hold much of the memory), stopped.
    Result<Seat> sit(const task::Spec &spec, const std::stop_token &stop);

    /// Prepares the judges of these tasks, too, whenever there is time and memory that nobody else
    /// asks for; what an earlier call left undone is not. Returns at once. A task that cannot be
    /// judged by is told as sit() does.
    void prepareAhead(std::vector<task::Spec> specs);

    const Options &options() const { return options_; }
    /// Of judges prepared, and the seconds that took, over all threads.
    struct Counts {
        int prepared = 0;
        double seconds = 0;
    };
    Counts counts() const;

  private:
    using Entry = Seat::Entry;
    using Lock = std::unique_lock<std::mutex>;
    using Gone = std::vector<std::unique_ptr<judge::Judge>>;
    enum class Wants { now, ahead };

    Result<std::unique_ptr<device::Device>> openDevice(int gpu) const;
    /// Judges that are on a GPU at the same time, where it is as it should be.
    std::size_t judgesOfAGpu() const;
    Result<std::unique_ptr<judge::Judge>> prepare(const task::Spec &spec, int gpu,
                                                  const std::stop_token &stop) const;
    /// Those that follow have the lock, and give it up while they wait or prepare.
    Entry &entryOf(const task::Spec &spec);
    /// Has the entry's judge. Errors: as sit().
    Result<void> know(Lock &lock, Entry &entry, const task::Spec &spec, Wants wants,
                      const std::stop_token &stop);
    /// The lane with the fewest seats, or a new one. Errors: machine.
    Result<Seat::Lane *> laneOf(Lock &lock, Entry &entry);
    /// Until the entry's judge may be prepared by the caller, or is there, or cannot be. Judges
    /// without a seat go, unless it is for later. Errors: stopped.
    Result<void> waitForRoom(Lock &lock, const Entry &entry, Wants wants,
                             const std::stop_token &stop);
    /// Until it is so. Whoever works ahead lets others go first. Errors: stopped.
    Result<void> waitFor(Lock &lock, const std::function<bool()> &ready, Wants wants,
                         const std::stop_token &stop);

    /// Whoever comes meanwhile is to find a free place.
    int mostAhead() const { return std::max(options_.atOnce / 2, 1); }

    /// The judge without a seat on a GPU that is unused longest goes. False: there is none.
    bool letOneGo(Lock &lock, int gpu);
    /// For a moment, or until somebody leaves. Errors: stopped.
    Result<void> pause(Lock &lock, const std::stop_token &stop);

    /// Under the lock; what goes is to be destroyed without it.
    void makeRoom(Gone &gone);
    static void remove(Entry &entry, Gone &gone);
    /// Judges without a seat, the one unused longest first. Under the lock.
    std::vector<Entry *> idle() const;
    /// Whether such a share of a GPU's memory is free. Under the lock.
    bool hasRoom(int gpu, double share) const;
    /// Whether there is room for one more judge beside those that are being prepared. Under the
    /// lock.
    bool mayPrepare(int gpu) const;
    /// Whether a verdict is under way on a GPU. Under the lock.
    bool isJudging(int gpu) const;
    /// Judges that are there or are being prepared on a GPU, but for `but`. Under the lock.
    std::size_t others(const Entry &but, int gpu) const;
    /// The one with the fewest judges, of those with room if there are some. Under the lock.
    int emptiestGpu(const Entry &but) const;

    Options options_; ///< never changed after the constructor
    std::map<int, std::shared_ptr<judge::IdleRunners>> runners_; ///< by GPU; likewise
    std::map<int, std::shared_ptr<reference::Stock>> stocks_;    ///< by GPU; likewise
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<std::string, std::unique_ptr<Entry>> entries_; ///< by file and overrides
    int busy_ = 0;                                          ///< of `atOnce`
    int waiting_ = 0;                                       ///< for a turn now, not ahead
    std::uint64_t clock_ = 0;
    Counts counts_;
    std::mutex aheadMutex_; ///< of the thread
    std::jthread ahead_;    ///< ends before the rest
};

} // namespace cuda_agent::learn
