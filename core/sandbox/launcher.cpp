// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/launcher.h"

#include "core/base/unique_fd.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

namespace cuda_agent::sandbox {

namespace {

/// What the child tells before it gives up.
struct Failure {
    int step;
    int error;
};
constexpr const char *steps[] = {"enter its control group", "set a limit", "hand over a descriptor",
                                 "run"};

/// Everything the child touches: made before the fork, since after it only system calls are safe.
struct Prepared {
    const Launch *what;
    std::vector<char *> argv;
    std::vector<char *> environment;
    std::vector<int> moved; ///< room for the descriptors on their way
    int report = -1;
    pid_t engine = 0;
};

[[noreturn]] void giveUp(int report, int step) {
    const Failure failure{step, errno};
    static_cast<void>(!::write(report, &failure, sizeof failure));
    ::_exit(127);
}

/// Above every number that a child is given.
constexpr int highNumbers = 64;

/// Runs in the child of a vfork: memory is the engine's, so nothing here allocates or locks.
[[noreturn]] void becomeProgram(Prepared &prepared) {
    const Launch &what = *prepared.what;
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != prepared.engine)
        ::_exit(127);
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < 65; ++number)
        ::sigaction(number, &standard, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::umask(022);

    for (const int entrance : what.cgroupEntrances)
        if (::write(entrance, "0", 1) != 1)
            giveUp(prepared.report, 0);
    // When the whole machine runs short, the sandbox goes before the engine does.
    if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
        static_cast<void>(!::write(file, "500", 3));
        ::close(file);
    }

    const int report = ::fcntl(prepared.report, F_DUPFD_CLOEXEC, highNumbers);
    for (std::size_t i = 0; i < what.fds.size(); ++i)
        if ((prepared.moved[i] = ::fcntl(what.fds[i].first, F_DUPFD_CLOEXEC, highNumbers)) < 0)
            giveUp(prepared.report, 2);
    ::syscall(SYS_close_range, 0u, static_cast<unsigned>(highNumbers - 1), 0u);
    for (std::size_t i = 0; i < what.fds.size(); ++i)
        if (::dup2(prepared.moved[i], what.fds[i].second) < 0)
            giveUp(report, 2);
    ::syscall(SYS_close_range, static_cast<unsigned>(highNumbers), ~0u,
              static_cast<unsigned>(CLOSE_RANGE_CLOEXEC));

    for (const auto &[resource, value] : what.limits)
        if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &value) != 0)
            giveUp(report, 1);
    ::execve(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
    giveUp(report, 3);
}

// vfork, because the engine may be large and copying its page tables would cost milliseconds.
// A function of its own, so that nothing of the caller's frame lives across the double return.
__attribute__((noinline)) pid_t forkChild(Prepared &prepared) {
    const pid_t pid = ::vfork();
    if (pid == 0)
        becomeProgram(prepared);
    return pid;
}

Result<pid_t> launchHere(const Launch &what) {
    Prepared prepared;
    prepared.what = &what;
    for (const auto &argument : what.argv)
        prepared.argv.push_back(const_cast<char *>(argument.c_str()));
    prepared.argv.push_back(nullptr);
    for (const auto &variable : what.environment)
        prepared.environment.push_back(const_cast<char *>(variable.c_str()));
    prepared.environment.push_back(nullptr);
    prepared.moved.resize(what.fds.size(), -1);
    prepared.engine = ::getpid();

    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return machineError("cannot start a sandbox: {}", std::strerror(errno));
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    prepared.report = writing.get();

    // A handler of the engine must not run in the child while it shares the engine's memory.
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = forkChild(prepared);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0)
        return machineError("cannot start a sandbox: {}", std::strerror(error));

    writing.reset();
    Failure failure{};
    ssize_t count = 0;
    while ((count = ::read(reading.get(), &failure, sizeof failure)) < 0 && errno == EINTR) {
    }
    if (count == 0)
        return pid;
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (count != sizeof failure || failure.step < 0 || failure.step > 3)
        return machineError("cannot start a sandbox: the first process died");
    return machineError("cannot start a sandbox: the first process could not {}{}: {}",
                        steps[failure.step], failure.step == 3 ? " " + what.argv[0] : "",
                        std::strerror(failure.error));
}

/// The thread that makes every child. It is never joined: it lives as long as the process.
class Launcher {
  public:
    Launcher() {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        std::thread([this] { serve(); }).detach();
    }
    Result<pid_t> run(const Launch &what) {
        // Shared: the answering thread may still be inside set_value when we have the answer.
        const auto job = std::make_shared<Job>(&what);
        auto answer = job->answer.get_future();
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back(job);
        }
        changed_.notify_one();
        return answer.get();
    }

  private:
    struct Job {
        explicit Job(const Launch *launch) : what(launch) {}
        const Launch *what;
        std::promise<Result<pid_t>> answer;
    };
    [[noreturn]] void serve() {
        for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !jobs_.empty(); });
            const auto job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            job->answer.set_value(launchHere(*job->what));
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<Job>> jobs_;
};

} // namespace

Result<pid_t> launch(const Launch &what) {
    static Launcher *const launcher = new Launcher; // outlives every static that may still launch
    return launcher->run(what);
}

void reapNow(pid_t pid) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

} // namespace cuda_agent::sandbox
