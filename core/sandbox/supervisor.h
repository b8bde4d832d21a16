// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/unique_fd.h"
#include "core/sandbox/cgroup.h"
#include "core/sandbox/mount_watch.h"
#include "core/sandbox/sandbox.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace cuda_agent::sandbox {

/// What a supervisor takes over of a run that has just been started.
struct Running {
    pid_t outer = 0; ///< bubblewrap's monitor process, our child and a process group leader
    UniqueFd standardOutput;
    UniqueFd standardError;
    UniqueFd status;  ///< bubblewrap's reports, one JSON object a line
    UniqueFd report;  ///< what kept the program from running, of the entry program; may be none
    UniqueFd release; ///< written to when the program may run; closed when not used
    std::optional<Cgroup> cgroup;
    bool watchMemory = false;    ///< no control group counts it
    bool watchProcesses = false; ///< likewise
};

/// Watches one run on a thread of its own until nothing of it is left: keeps its output, enforces
/// the limits that the kernel does not, kills, reaps and writes the record.
/// kill(), finished() and standardErrorSoFar() may be called from any thread.
class Supervisor {
  public:
    Supervisor(Running running, const Policy &policy, std::vector<std::string> unenforced);
    ~Supervisor();

    void kill();
    bool finished();
    std::string standardErrorSoFar();
    Record wait();

  private:
    using Clock = std::chrono::steady_clock;
    /// One output stream; the first part is kept, the rest is read and dropped.
    struct Stream {
        UniqueFd fd;
        std::string kept;
        bool cut = false;
    };

    void watch();
    void readStream(Stream &stream);
    void readStatus();
    void releaseProgram();
    void check(Clock::time_point now);
    void killNow();
    void noteLimit(const char *name);
    void hitLimit(const char *name);
    void reap();
    void finish();
    std::string entryReport() const;
    int pollTimeout(Clock::time_point now) const;

    const Limits limits_;
    Running running_;
    MountWatch mounts_;
    UniqueFd wake_;
    UniqueFd outerHandle_;
    UniqueFd innerHandle_;
    pid_t inner_ = 0; ///< process 1 of the sandbox
    std::string statusText_;
    std::optional<int> reportedExit_;
    bool outerGone_ = false;
    bool innerGone_ = false;
    int outerStatus_ = 0;
    double reapedCpuSeconds_ = 0;
    std::uint64_t reapedPeakBytes_ = 0;
    double watchedCpuSeconds_ = 0;
    std::uint64_t watchedPeakBytes_ = 0;
    Clock::time_point start_;
    Clock::time_point nextCheck_;
    std::optional<Clock::time_point> killedAt_;
    std::optional<Clock::time_point> outerGoneAt_;

    std::mutex mutex_; ///< guards what follows
    std::condition_variable ended_;
    Stream output_;
    Stream error_;
    Record record_;
    bool finished_ = false;

    std::atomic<bool> killWanted_{false};
    std::thread thread_;
};

} // namespace cuda_agent::sandbox
