// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/endurance/leak.h"

#include "core/base/json.h"
#include "core/sandbox/cgroup.h"
#include "core/sandbox/cgroup_files.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

namespace cuda_agent::endurance {

namespace fs = std::filesystem;

namespace {

constexpr std::array kinds{"fd", "process", "orphan", "memory", "file", "shm", "cgroup", "thread"};
constexpr std::size_t memoryBytes = 4u << 20;

} // namespace

Result<Leak> Leak::make(const std::vector<std::string> &wanted) {
    Leak leak;
    for (const auto &kind : wanted) {
        if (std::ranges::find(kinds, kind) == kinds.end())
            return requestError("--leak takes fd, process, orphan, memory, file, shm, cgroup or "
                                "thread, not '{}'",
                                kind);
        leak.kinds_.insert(kind);
    }
    return leak;
}

Leak::~Leak() {
    for (const int descriptor : descriptors_)
        ::close(descriptor);
    for (const pid_t process : processes_) {
        ::kill(process, SIGKILL);
        ::waitpid(process, nullptr, 0);
    }
    std::error_code ignored;
    for (const auto &file : files_)
        fs::remove(file, ignored);
    for (const auto &group : groups_)
        sandbox::destroyCgroup(group);
}

/// An orphan's parent has ended, so that another process inherits it.
Result<void> Leak::startProcess(bool orphan) {
    std::array<const char *, 4> direct{"sleep", "600", nullptr, nullptr};
    std::array<const char *, 4> detached{"sh", "-c", "sleep 600 & echo $!", nullptr};
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return machineError("no pipe for a process to leak");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    pid_t process = 0;
    auto *arguments = const_cast<char **>(orphan ? detached.data() : direct.data());
    const int failed =
        ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failed == 0 && orphan) {
        std::array<char, 32> number{};
        static_cast<void>(!::read(ends[0], number.data(), number.size() - 1));
        ::waitpid(process, nullptr, 0);
        process = static_cast<pid_t>(std::strtol(number.data(), nullptr, 10));
    }
    ::close(ends[0]);
    if (failed != 0 || process <= 1)
        return machineError("no process can be started to leak it");
    processes_.push_back(process);
    return {};
}

Result<void> Leak::makeFile(const fs::path &file) {
    CUDA_AGENT_TRY(writeFileAtomically(file, "left behind on purpose\n"));
    files_.push_back(file);
    return {};
}

Result<void> Leak::makeGroup() {
    const auto places = sandbox::findCgroupPlaces();
    const auto place = places.memory ? places.memory : places.processes;
    std::error_code error;
    const auto group = (place ? place->folder : fs::path()) /
                       (sandbox::cgroupNamePrefix() + "leak" + std::to_string(count_));
    if (!place || !fs::create_directory(group, error))
        return machineError("this machine lets nobody make a control group to leak");
    groups_.push_back(group);
    return {};
}

Result<void> Leak::lose() {
    ++count_;
    const auto name = fmt::format("endurance-leak-{}-{}", ::getpid(), count_);
    if (kinds_.contains("fd"))
        descriptors_.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (kinds_.contains("process"))
        CUDA_AGENT_TRY(startProcess(false));
    if (kinds_.contains("orphan"))
        CUDA_AGENT_TRY(startProcess(true));
    if (kinds_.contains("memory"))
        memory_.push_back(std::make_unique<std::vector<char>>(memoryBytes, 1));
    if (kinds_.contains("file"))
        CUDA_AGENT_TRY(makeFile(fs::temp_directory_path() / name));
    if (kinds_.contains("shm")) {
        // Kept open, so that another such program does not take it for its own.
        CUDA_AGENT_TRY(makeFile(fs::path("/dev/shm") / name));
        descriptors_.push_back(::open(files_.back().c_str(), O_RDONLY | O_CLOEXEC));
    }
    if (kinds_.contains("cgroup"))
        CUDA_AGENT_TRY(makeGroup());
    if (kinds_.contains("thread"))
        threads_.emplace_back([](std::stop_token stop) {
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any().wait(lock, stop, [] { return false; });
        });
    return {};
}

} // namespace cuda_agent::endurance
