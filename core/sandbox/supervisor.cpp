// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/supervisor.h"

#include "core/sandbox/landlock.h"
#include "core/sandbox/process_tree.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace cuda_agent::sandbox {

namespace {

using namespace std::chrono_literals;

constexpr auto groupPeriod = 50ms; ///< how often control group figures are looked at
constexpr auto watchPeriod = 20ms; ///< how often a process tree is, where there are no groups
constexpr auto patience = 10s;     ///< for a process to obey SIGKILL

UniqueFd openHandle(pid_t pid) {
    UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (handle)
        ::fcntl(handle.get(), F_SETFD, FD_CLOEXEC);
    return handle;
}

void signalHandle(const UniqueFd &handle) {
    if (handle)
        ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
}

std::vector<std::filesystem::path> writableMounts(const Policy &policy) {
    std::vector<std::filesystem::path> folders;
    for (const auto &mount : policy.mounts)
        if (mount.writable)
            folders.push_back(mount.host);
    return folders;
}

double seconds(const timeval &time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

} // namespace

Supervisor::Supervisor(Running running, const Policy &policy, std::vector<std::string> unenforced)
    : limits_(policy.limits), running_(std::move(running)),
      mounts_(writableMounts(policy), limits_.mountBytes),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), outerHandle_(openHandle(running_.outer)),
      start_(Clock::now()), nextCheck_(start_ + watchPeriod) {
    record_.name = policy.name;
    record_.unenforced = std::move(unenforced);
    output_.fd = std::move(running_.standardOutput);
    error_.fd = std::move(running_.standardError);
    for (const int fd :
         {output_.fd.get(), error_.fd.get(), running_.status.get(), running_.report.get()})
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    thread_ = std::thread([this] { watch(); });
}

Supervisor::~Supervisor() {
    kill();
    thread_.join();
}

void Supervisor::kill() {
    killWanted_ = true;
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

bool Supervisor::finished() {
    const std::lock_guard lock(mutex_);
    return finished_;
}

std::string Supervisor::standardErrorSoFar() {
    const std::lock_guard lock(mutex_);
    return error_.kept;
}

Record Supervisor::wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return finished_; });
    return record_;
}

int Supervisor::pollTimeout(Clock::time_point now) const {
    // Rounded up, or the last millisecond before a deadline would be spent spinning.
    auto until = now + 1s;
    if (outerGone_ || killedAt_)
        until = now + 2ms;
    else {
        until = std::min(until, nextCheck_);
        if (limits_.wall.count() > 0)
            until = std::min(until, start_ + limits_.wall);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
    return static_cast<int>(std::max<std::int64_t>(left, 0));
}

void Supervisor::watch() {
    // Where nothing else refuses processes, the watch must not wait its turn among them. Only root
    // may do this, and only for root does the program's own limit not hold.
    if (running_.watchProcesses)
        static_cast<void>(::setpriority(PRIO_PROCESS, 0, -20));
    for (;;) {
        const auto now = Clock::now();
        std::array<pollfd, 6> entries{{{wake_.get(), POLLIN, 0},
                                       {outerGone_ ? -1 : outerHandle_.get(), POLLIN, 0},
                                       {innerGone_ ? -1 : innerHandle_.get(), POLLIN, 0},
                                       {running_.status.get(), POLLIN, 0},
                                       {output_.fd.get(), POLLIN, 0},
                                       {error_.fd.get(), POLLIN, 0}}};
        ::poll(entries.data(), entries.size(), pollTimeout(now));
        if (entries[0].revents != 0) {
            std::uint64_t ignored = 0;
            static_cast<void>(!::read(wake_.get(), &ignored, sizeof ignored));
        }
        readStatus();
        readStream(output_);
        readStream(error_);
        reap();
        if (outerGone_ && innerGone_)
            break;
        check(Clock::now());
        const auto dyingSince = killedAt_ ? killedAt_ : outerGoneAt_;
        if (dyingSince && Clock::now() - *dyingSince > patience) {
            record_.stuck = true;
            break;
        }
    }
    finish();
}

void Supervisor::readStream(Stream &stream) {
    std::array<char, 65536> buffer;
    // A bounded number of reads, so that a flood does not keep us from the clock.
    for (int i = 0; i < 16 && stream.fd; ++i) {
        const auto count = ::read(stream.fd.get(), buffer.data(), buffer.size());
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
            stream.fd.reset();
        if (count <= 0)
            return;
        const std::lock_guard lock(mutex_);
        auto room = static_cast<std::size_t>(count);
        if (limits_.outputBytes > 0)
            room = std::min<std::size_t>(room, limits_.outputBytes - stream.kept.size());
        stream.kept.append(buffer.data(), room);
        stream.cut = stream.cut || room < static_cast<std::size_t>(count);
    }
}

void Supervisor::readStatus() {
    std::array<char, 4096> buffer;
    while (running_.status) {
        const auto count = ::read(running_.status.get(), buffer.data(), buffer.size());
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
            running_.status.reset();
        if (count <= 0)
            break;
        statusText_.append(buffer.data(), static_cast<std::size_t>(count));
    }
    for (auto end = statusText_.find('\n'); end != std::string::npos;
         end = statusText_.find('\n')) {
        const auto line = Json::parse(statusText_.substr(0, end), nullptr, false);
        statusText_.erase(0, end + 1);
        if (!line.is_object())
            continue;
        if (const auto pid = line.find("child-pid");
            pid != line.end() && pid->is_number_integer()) {
            inner_ = pid->get<pid_t>();
            innerHandle_ = openHandle(inner_);
            const pid_t parent = parentOf(inner_);
            if (!innerHandle_ || (parent != running_.outer && parent != ::getpid())) {
                // Gone already, or the number is somebody else's by now.
                innerHandle_.reset();
                inner_ = 0;
            }
            releaseProgram();
        }
        if (const auto code = line.find("exit-code");
            code != line.end() && code->is_number_integer())
            reportedExit_ = code->get<int>();
    }
}

/// The limit on processes is counted per user name space, so it can be set only when there is one:
/// set before, it would count everything that the user runs on this machine.
void Supervisor::releaseProgram() {
    if (!running_.release)
        return;
    if (limits_.processes > 0 && inner_ > 0) {
        // Beside the program there is the sandbox's process 1.
        const rlimit limit{static_cast<rlim_t>(limits_.processes) + 1,
                           static_cast<rlim_t>(limits_.processes) + 1};
        ::prlimit(inner_, RLIMIT_NPROC, &limit, nullptr);
    }
    static_cast<void>(!::write(running_.release.get(), "1", 1));
    running_.release.reset();
}

void Supervisor::check(Clock::time_point now) {
    if (killWanted_ && !killedAt_) {
        record_.killed = true;
        killNow();
    }
    if (!killedAt_ && limits_.wall.count() > 0 && now - start_ >= limits_.wall)
        hitLimit("wall");
    if (killedAt_) {
        killNow(); // again: something may have been forking just then
        return;
    }
    if (now < nextCheck_)
        return;
    const bool watching = running_.watchMemory || running_.watchProcesses ||
                          (limits_.cpu.count() > 0 && !running_.cgroup);
    nextCheck_ = now + (watching ? watchPeriod : groupPeriod);
    const auto &cgroup = running_.cgroup;
    if (mounts_.exceeded())
        hitLimit("mounts");
    std::optional<double> cpu;
    if (cgroup) {
        if (cgroup->outOfMemory())
            hitLimit("memory");
        cpu = cgroup->cpuSeconds();
    }
    if (watching) {
        const bool counting = running_.watchProcesses && limits_.processes > 0;
        const auto use = treeUse(running_.outer, counting ? limits_.processes + 2 : 0);
        watchedCpuSeconds_ = std::max(watchedCpuSeconds_, use.cpuSeconds);
        watchedPeakBytes_ = std::max(watchedPeakBytes_, use.memoryBytes);
        if (running_.watchMemory && limits_.memoryBytes > 0 &&
            use.memoryBytes > limits_.memoryBytes)
            hitLimit("memory");
        // The program's own limit (RLIMIT_NPROC) refuses; bubblewrap has two processes beside it.
        if (counting && use.threads >= limits_.processes + 2)
            noteLimit("processes");
        if (counting && use.threads > limits_.processes + 2)
            killNow();
    }
    if (limits_.cpu.count() > 0 &&
        cpu.value_or(watchedCpuSeconds_) >= static_cast<double>(limits_.cpu.count()))
        hitLimit("cpu");
}

void Supervisor::noteLimit(const char *name) {
    if (std::find(record_.limitsHit.begin(), record_.limitsHit.end(), name) ==
        record_.limitsHit.end())
        record_.limitsHit.push_back(name);
}

void Supervisor::hitLimit(const char *name) {
    noteLimit(name);
    killNow();
}

void Supervisor::killNow() {
    if (!killedAt_)
        killedAt_ = Clock::now();
    if (!outerGone_) {
        // The group reaches process 1 while it is still being set up.
        ::kill(-running_.outer, SIGKILL);
        signalHandle(outerHandle_);
    }
    // All others die when process 1 does; among many that fork it should not wait for its turn.
    if (running_.watchProcesses && inner_ > 0 && !innerGone_)
        static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(inner_), -20));
    signalHandle(innerHandle_);
    if (running_.cgroup)
        running_.cgroup->killAll();
}

void Supervisor::reap() {
    rusage usage{};
    const auto count = [&] {
        reapedCpuSeconds_ += seconds(usage.ru_utime) + seconds(usage.ru_stime);
        reapedPeakBytes_ =
            std::max(reapedPeakBytes_, static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
    };
    if (!outerGone_) {
        int status = 0;
        const pid_t got = ::wait4(running_.outer, &status, WNOHANG, &usage);
        if (got == running_.outer || (got < 0 && errno == ECHILD)) {
            // What it wrote last is in the pipe by now.
            readStatus();
            outerGone_ = true;
            outerGoneAt_ = Clock::now();
            outerStatus_ = got > 0 ? status : 0;
            if (got > 0)
                count();
        }
    }
    if (!outerGone_ || innerGone_)
        return;
    // bubblewrap does not wait for process 1 of the sandbox, which dies with it; we inherit it.
    if (inner_ > 0) {
        const pid_t got = ::wait4(inner_, nullptr, WNOHANG, &usage);
        if (got == inner_)
            count();
        pollfd entry{innerHandle_.get(), POLLIN, 0};
        innerGone_ = got == inner_ || (got < 0 && ::poll(&entry, 1, 0) > 0);
        // By now it has been told to die; make sure.
        if (!innerGone_)
            signalHandle(innerHandle_);
    } else {
        // Killed while it was being set up: it is still of our process group.
        pid_t got = 0;
        while ((got = ::waitpid(-running_.outer, nullptr, WNOHANG)) > 0) {
        }
        const bool noneLeft = got < 0 && errno == ECHILD;
        if (running_.cgroup)
            running_.cgroup->killAll();
        innerGone_ = noneLeft && (!running_.cgroup || running_.cgroup->empty());
    }
}

/// Only the entry program could write to it: it is closed when the program starts.
std::string Supervisor::entryReport() const {
    std::array<char, 1024> buffer;
    const auto count =
        running_.report ? ::read(running_.report.get(), buffer.data(), buffer.size()) : ssize_t{0};
    return count > 0 ? entryProblem({buffer.data(), static_cast<std::size_t>(count)}) : "";
}

void Supervisor::finish() {
    const auto end = outerGoneAt_.value_or(Clock::now());
    // Whoever holds the other ends now is outside the sandbox (a descriptor can be lent over the
    // channel), so read what is there and do not wait for the end of it.
    readStream(output_);
    readStream(error_);

    Record record = record_;
    record.wallSeconds = std::chrono::duration<double>(end - start_).count();
    record.cpuSeconds = std::max(reapedCpuSeconds_, watchedCpuSeconds_);
    record.peakMemoryBytes = std::max(reapedPeakBytes_, watchedPeakBytes_);
    const auto note = [&](const char *name) {
        if (std::find(record.limitsHit.begin(), record.limitsHit.end(), name) ==
            record.limitsHit.end())
            record.limitsHit.push_back(name);
    };
    if (const auto &cgroup = running_.cgroup) {
        record.cpuSeconds = cgroup->cpuSeconds().value_or(record.cpuSeconds);
        record.peakMemoryBytes = cgroup->peakMemoryBytes().value_or(record.peakMemoryBytes);
        if (cgroup->outOfMemory())
            note("memory");
        if (cgroup->outOfProcesses())
            note("processes");
    }
    running_.cgroup.reset();

    const int code =
        reportedExit_.value_or(WIFEXITED(outerStatus_) ? WEXITSTATUS(outerStatus_) : 0);
    if (killedAt_ && !reportedExit_)
        record.signal = SIGKILL;
    else if (WIFSIGNALED(outerStatus_))
        record.signal = WTERMSIG(outerStatus_);
    if (record.signal == 0) {
        // A process that a signal ended is reported as a shell does.
        if (code > 128 && code <= 192)
            record.signal = code - 128;
        else
            record.exitCode = code;
    }
    if (record.signal == SIGXCPU)
        note("cpu");
    if (record.signal == SIGXFSZ)
        note("file");

    const std::lock_guard lock(mutex_);
    for (auto [stream, text] :
         {std::pair{&output_, &record.standardOutput}, std::pair{&error_, &record.standardError}}) {
        *text = stream->kept;
        if (stream->cut) {
            note("output");
            *text += fmt::format("\n[output cut after {} bytes]\n", limits_.outputBytes);
        }
        stream->fd.reset();
    }
    if (!reportedExit_ && record.signal == 0 && record.exitCode != 0 && record.limitsHit.empty()) {
        auto first = record.standardError.substr(0, record.standardError.find('\n'));
        record.problem = first.empty() ? "the sandbox ended before the program ran" : first;
        record.exitCode = 127;
    }
    if (const auto report = entryReport(); !report.empty() && !killedAt_) {
        record.problem = report;
        record.exitCode = 127;
    }
    record_ = std::move(record);
    finished_ = true;
    ended_.notify_all();
}

} // namespace cuda_agent::sandbox
