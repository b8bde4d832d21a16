// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/descriptor_io.h"
#include "core/sandbox/landlock.h"
#include "core/sandbox/machine.h"
#include "core/sandbox/policy_arguments.h"
#include "core/sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace cuda_agent::sandbox {

namespace {

constexpr rlim_t mostOpenFiles = 4096;

struct Pipe {
    UniqueFd reading;
    UniqueFd writing;
};

Result<Pipe> makePipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return machineError("cannot start a sandbox: no pipe: {}", std::strerror(errno));
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// Never above what this process may have itself.
std::pair<int, rlimit> resourceLimit(int resource, rlim_t soft, rlim_t hard) {
    rlimit own{};
    ::getrlimit(static_cast<__rlimit_resource_t>(resource), &own);
    hard = std::min(hard, own.rlim_max);
    return {resource, rlimit{std::min(soft, hard), hard}};
}

std::vector<std::pair<int, rlimit>> resourceLimits(const Limits &limits) {
    std::vector<std::pair<int, rlimit>> list;
    // No core file either way; with 1, unlike 0, a machine that pipes cores to a program of its own
    // does not do so, which would keep a dying process for seconds.
    list.push_back(resourceLimit(RLIMIT_CORE, 1, 1));
    list.push_back(resourceLimit(RLIMIT_NOFILE, mostOpenFiles, mostOpenFiles));
    if (limits.fileBytes > 0)
        list.push_back(resourceLimit(RLIMIT_FSIZE, limits.fileBytes, limits.fileBytes));
    if (limits.cpu.count() > 0) {
        // A signal at the limit, the end a second later for a program that ignores it.
        const auto most = static_cast<rlim_t>(limits.cpu.count());
        list.push_back(resourceLimit(RLIMIT_CPU, most, most + 1));
    }
    return list;
}

/// The machine's shortcomings that matter to this policy.
std::vector<std::string> concerning(const std::vector<std::string> &all, const Limits &limits) {
    std::vector<std::string> some;
    for (const auto &reason : all) {
        const bool idle = (reason.starts_with("memory:") && limits.memoryBytes == 0) ||
                          (reason.starts_with("processes:") && limits.processes == 0) ||
                          (reason.starts_with("cpu:") && limits.cpu.count() == 0);
        if (!idle)
            some.push_back(reason);
    }
    return some;
}

} // namespace

Result<UniqueFd> memoryFile(std::string_view bytes) {
    const UniqueFd writing(::memfd_create("sandbox", MFD_CLOEXEC));
    if (writing && !writeWhole(writing.get(), bytes))
        return machineError("cannot keep {} bytes in memory: {}", bytes.size(),
                            std::strerror(errno));
    const auto path = "/proc/self/fd/" + std::to_string(writing.get());
    UniqueFd reading(writing ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1);
    if (!reading)
        return machineError("cannot make a file in memory: {}", std::strerror(errno));
    return reading;
}

Result<std::unique_ptr<Supervisor>> startOn(const Machine &machine, const Policy &policy,
                                            const std::vector<std::string> &argv, UniqueFd input,
                                            UniqueFd channel) {
    CUDA_AGENT_TRY(checkPolicy(policy, argv));
    Setting setting{
        machine.support.bubblewrap, machine.userNamespace, machine.system, {}, machine.landlock};
    if (policy.gpu) {
        setting.gpu = inspectGpu(*policy.gpu);
        if (std::find(setting.gpu->devices.begin(), setting.gpu->devices.end(),
                      "/dev/nvidia" + std::to_string(*policy.gpu)) == setting.gpu->devices.end())
            return machineError("sandbox {}: there is no /dev/nvidia{}; load the NVIDIA driver or "
                                "choose the cpu device",
                                policy.name, *policy.gpu);
    }

    CUDA_AGENT_ASSIGN(filterText, seccompProgram());
    CUDA_AGENT_ASSIGN(filter, memoryFile(filterText));
    CUDA_AGENT_ASSIGN(passwd, memoryFile(syntheticPasswd()));
    CUDA_AGENT_ASSIGN(group, memoryFile(syntheticGroup()));
    CUDA_AGENT_ASSIGN(nameService, memoryFile(syntheticNameService()));
    CUDA_AGENT_ASSIGN(output, makePipe());
    CUDA_AGENT_ASSIGN(error, makePipe());
    CUDA_AGENT_ASSIGN(status, makePipe());
    if (!input)
        input = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));

    Descriptors numbers;
    numbers.channel = static_cast<bool>(channel);
    numbers.status = 4;
    numbers.seccomp = 5;
    numbers.passwd = 6;
    numbers.group = 7;
    numbers.nameService = 8;
    Launch what;
    what.fds = {{input.get(), 0},          {output.writing.get(), 1}, {error.writing.get(), 2},
                {status.writing.get(), 4}, {filter.get(), 5},         {passwd.get(), 6},
                {group.get(), 7},          {nameService.get(), 8}};
    if (channel)
        what.fds.emplace_back(channel.get(), 3);

    Running running;
    UniqueFd entry;
    Pipe report;
    if (machine.landlock > 0) {
        CUDA_AGENT_ASSIGN(program, memoryFile(entryProgram()));
        entry = std::move(program);
        CUDA_AGENT_ASSIGN(pipe, makePipe());
        report = std::move(pipe);
        numbers.entry = 11;
        what.fds.emplace_back(report.writing.get(), 10);
        what.fds.emplace_back(entry.get(), numbers.entry);
    }
    Pipe release;
    if (machine.limitProcesses && policy.limits.processes > 0) {
        CUDA_AGENT_ASSIGN(pipe, makePipe());
        release = std::move(pipe);
        numbers.block = 9;
        what.fds.emplace_back(release.reading.get(), 9);
        running.watchProcesses = true;
    }
    const auto &places = machine.cgroups;
    running.watchMemory = !places.memory && policy.limits.memoryBytes > 0;
    if (places.memory || places.processes || places.cpu) {
        // bubblewrap's two own processes do not count against the program.
        const int processes = policy.limits.processes > 0 ? policy.limits.processes + 2 : 0;
        CUDA_AGENT_ASSIGN(cgroup, Cgroup::create(places, policy.limits.memoryBytes, processes));
        what.cgroupEntrances = cgroup.entrances();
        running.cgroup.emplace(std::move(cgroup));
    }
    what.argv = bubblewrapArguments(policy, argv, setting, numbers);
    what.environment = {"PATH=/usr/bin:/bin"};
    what.limits = resourceLimits(policy.limits);

    CUDA_AGENT_ASSIGN(pid, launch(what));
    running.outer = pid;
    running.standardOutput = std::move(output.reading);
    running.standardError = std::move(error.reading);
    running.status = std::move(status.reading);
    running.report = std::move(report.reading);
    running.release = std::move(release.writing);
    if (running.cgroup)
        running.cgroup->closeEntrances();
    return std::make_unique<Supervisor>(std::move(running), policy,
                                        concerning(machine.support.unenforced, policy.limits));
}

} // namespace cuda_agent::sandbox
