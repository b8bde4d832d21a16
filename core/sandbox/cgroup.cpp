// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/cgroup.h"

#include "core/sandbox/cgroup_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>
#include <thread>

namespace cuda_agent::sandbox {

namespace fs = std::filesystem;

std::optional<std::string> readCgroupFile(const fs::path &file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return std::nullopt;
    std::string text;
    char buffer[4096];
    for (;;) {
        const auto count = ::read(fd.get(), buffer, sizeof buffer);
        if (count < 0)
            return std::nullopt;
        if (count == 0)
            return text;
        text.append(buffer, static_cast<std::size_t>(count));
    }
}

bool writeCgroupFile(const fs::path &file, const std::string &value) {
    const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    return fd &&
           ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::optional<std::uint64_t> cgroupNumber(const fs::path &file, const std::string &key) {
    const auto text = readCgroupFile(file);
    if (!text)
        return std::nullopt;
    std::istringstream in(*text);
    for (std::string line; std::getline(in, line);) {
        if (!key.empty() && !line.starts_with(key + " "))
            continue;
        const char *begin = line.data() + (key.empty() ? 0 : key.size() + 1);
        std::uint64_t number = 0;
        if (std::from_chars(begin, line.data() + line.size(), number).ec == std::errc())
            return number;
        return std::nullopt;
    }
    return std::nullopt;
}

void killCgroup(const fs::path &folder) {
    if (writeCgroupFile(folder / "cgroup.kill", "1"))
        return;
    std::istringstream in(readCgroupFile(folder / "cgroup.procs").value_or(""));
    for (pid_t pid = 0; in >> pid;)
        if (pid > 1 && pid != ::getpid())
            ::kill(pid, SIGKILL);
}

bool destroyCgroup(const fs::path &folder) {
    // A dying process leaves its group a moment after its parent has been told.
    for (int attempt = 0; attempt < 200; ++attempt) {
        if (::rmdir(folder.c_str()) == 0 || errno == ENOENT)
            return true;
        if (errno != EBUSY)
            return false;
        killCgroup(folder);
        std::this_thread::sleep_for(std::chrono::milliseconds(attempt < 20 ? 1 : 10));
    }
    return false;
}

Result<Cgroup> Cgroup::create(const CgroupPlaces &places, std::uint64_t memoryBytes,
                              int processes) {
    static std::atomic<unsigned> counter{0};
    static const std::string prefix = cgroupNamePrefix();
    const std::string name = prefix + std::to_string(counter++);

    Cgroup cgroup;
    cgroup.groups_.reserve(3); // pointers into it are handed out below
    const auto use = [&](const std::optional<CgroupPlace> &place,
                         bool Group::*controller) -> Result<const Group *> {
        if (!place)
            return nullptr;
        const fs::path folder = place->folder / name;
        for (auto &group : cgroup.groups_)
            if (group.folder == folder) {
                group.*controller = true;
                return &group;
            }
        if (::mkdir(folder.c_str(), 0755) != 0)
            return machineError("cannot make the control group {}: {}", folder.string(),
                                std::strerror(errno));
        Group group{folder, place->unified};
        group.*controller = true;
        cgroup.groups_.push_back(group);
        return &cgroup.groups_.back();
    };
    const auto set = [](const fs::path &file, const std::string &value) -> Result<void> {
        if (!writeCgroupFile(file, value))
            return machineError("cannot set {} to {}: {}", file.string(), value,
                                std::strerror(errno));
        return {};
    };

    CUDA_AGENT_ASSIGN(memory, use(places.memory, &Group::memory));
    if (memory && memoryBytes > 0) {
        const auto bytes = std::to_string(memoryBytes);
        if (memory->unified) {
            CUDA_AGENT_TRY(set(memory->folder / "memory.max", bytes));
            // Absent without swap; a process that is killed takes its whole group along.
            writeCgroupFile(memory->folder / "memory.swap.max", "0");
            writeCgroupFile(memory->folder / "memory.oom.group", "1");
        } else {
            CUDA_AGENT_TRY(set(memory->folder / "memory.limit_in_bytes", bytes));
            writeCgroupFile(memory->folder / "memory.memsw.limit_in_bytes", bytes);
        }
    }
    CUDA_AGENT_ASSIGN(pids, use(places.processes, &Group::processes));
    if (pids && processes > 0)
        CUDA_AGENT_TRY(set(pids->folder / "pids.max", std::to_string(processes)));
    CUDA_AGENT_TRY(use(places.cpu, &Group::cpu));

    for (const auto &group : cgroup.groups_) {
        UniqueFd entrance(::open((group.folder / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
        if (!entrance)
            return machineError("cannot open {}/cgroup.procs: {}", group.folder.string(),
                                std::strerror(errno));
        cgroup.entrances_.push_back(std::move(entrance));
    }
    return cgroup;
}

Cgroup::~Cgroup() {
    for (const auto &group : groups_)
        destroyCgroup(group.folder);
}

std::vector<int> Cgroup::entrances() const {
    std::vector<int> numbers;
    for (const auto &entrance : entrances_)
        numbers.push_back(entrance.get());
    return numbers;
}

const Cgroup::Group *Cgroup::find(bool Group::*controller) const {
    for (const auto &group : groups_)
        if (group.*controller)
            return &group;
    return nullptr;
}

bool Cgroup::outOfMemory() const {
    const Group *group = find(&Group::memory);
    if (!group)
        return false;
    const char *file = group->unified ? "memory.events" : "memory.oom_control";
    return cgroupNumber(group->folder / file, "oom_kill").value_or(0) > 0;
}

bool Cgroup::outOfProcesses() const {
    const Group *group = find(&Group::processes);
    return group && cgroupNumber(group->folder / "pids.events", "max").value_or(0) > 0;
}

std::optional<std::uint64_t> Cgroup::peakMemoryBytes() const {
    const Group *group = find(&Group::memory);
    if (!group)
        return std::nullopt;
    return cgroupNumber(group->folder /
                        (group->unified ? "memory.peak" : "memory.max_usage_in_bytes"));
}

std::optional<double> Cgroup::cpuSeconds() const {
    const Group *group = find(&Group::cpu);
    if (!group)
        return std::nullopt;
    const auto used = group->unified ? cgroupNumber(group->folder / "cpu.stat", "usage_usec")
                                     : cgroupNumber(group->folder / "cpuacct.usage");
    if (!used)
        return std::nullopt;
    return static_cast<double>(*used) * (group->unified ? 1e-6 : 1e-9);
}

bool Cgroup::empty() const {
    for (const auto &group : groups_)
        if (!readCgroupFile(group.folder / "cgroup.procs").value_or("").empty())
            return false;
    return true;
}

void Cgroup::killAll() const {
    for (const auto &group : groups_)
        killCgroup(group.folder);
}

} // namespace cuda_agent::sandbox
