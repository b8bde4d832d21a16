// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/machine.h"

#include "core/sandbox/cgroup_files.h"
#include "core/sandbox/landlock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace cuda_agent::sandbox {

namespace fs = std::filesystem;

namespace {

bool runnable(const fs::path &path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string findBubblewrap() {
    const char *path = std::getenv("PATH");
    std::istringstream in(path ? path : "");
    for (std::string folder; std::getline(in, folder, ':');)
        if (folder.starts_with('/') && runnable(fs::path(folder) / "bwrap"))
            return (fs::path(folder) / "bwrap").string();
    return runnable("/usr/bin/bwrap") ? "/usr/bin/bwrap" : "";
}

bool setting(const char *name, std::string_view value) {
    const auto text = readCgroupFile(fs::path("/proc/sys") / name).value_or("");
    return text.substr(0, text.find('\n')) == value;
}

/// What to change so that name spaces are given; each hint only where its cause is seen.
std::string hint() {
    if (setting("kernel/unprivileged_userns_clone", "0"))
        return "allow user name spaces: sysctl kernel.unprivileged_userns_clone=1";
    if (setting("kernel/apparmor_restrict_unprivileged_userns", "1"))
        return "allow user name spaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or "
               "give bwrap an AppArmor profile with \"userns,\"";
    if (setting("user/max_user_namespaces", "0"))
        return "allow user name spaces: sysctl user.max_user_namespaces=15000";
    std::error_code ignored;
    if (fs::exists("/.dockerenv", ignored) || fs::exists("/run/.containerenv", ignored))
        return "start this container with --security-opt seccomp=unconfined --security-opt "
               "apparmor=unconfined --security-opt systempaths=unconfined (and --cap-add SYS_ADMIN "
               "when it runs as root)";
    return "allow unprivileged user name spaces on this machine (see user_namespaces(7))";
}

/// A run of /usr/bin/true; the problem, or nothing.
std::string trial(const Machine &machine) {
    Policy policy;
    policy.name = "trial";
    policy.limits.wall = std::chrono::seconds(20);
    auto started = startOn(machine, policy, {"/usr/bin/true"}, {}, {});
    if (!started)
        return started.error().message;
    const auto record = (*started)->wait();
    if (record.clean())
        return {};
    return record.problem.empty() ? record.summary() : record.problem;
}

std::string version(const std::string &bubblewrap) {
    // No code from outside is involved, but there is one way to start processes here.
    Launch what;
    what.argv = {bubblewrap, "--version"};
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return {};
    UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    what.fds = {{writing.get(), 1}};
    const auto pid = launch(what);
    writing.reset();
    std::string text;
    char buffer[256];
    for (ssize_t count = 0; pid && (count = ::read(reading.get(), buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(count));
    if (pid)
        reapNow(*pid);
    // "bubblewrap 0.8.0"
    const auto space = text.find(' ');
    return space == std::string::npos ? "" : text.substr(space + 1, text.find('\n') - space - 1);
}

void noteUnenforced(Machine &machine) {
    auto &list = machine.support.unenforced;
    const bool root = ::geteuid() == 0;
    const std::string how =
        root ? "no writable control group"
             : "no writable control group (run under systemd-run --user --scope -p Delegate=yes)";
    if (!machine.userNamespace)
        list.push_back("user: the kernel refuses a user name space of its own; the program runs as "
                       "root without capabilities");
    if (machine.landlock == 0)
        list.push_back("landlock: " + landlock().problem +
                       "; mounts alone keep files from being written");
    if (!machine.cgroups.memory)
        list.push_back("memory: " + how + "; resident size watched every 20 ms");
    if (!machine.cgroups.processes)
        list.push_back("processes: " + how +
                       (root ? "; counted every 20 ms" : "; limited in the user name space"));
    if (!machine.cgroups.cpu)
        list.push_back("cpu: " + how + "; limited per process and summed every 20 ms");
}

} // namespace

Machine inspectMachine(const std::string &bubblewrap, bool useCgroups) {
    Machine machine;
    auto &support = machine.support;
    support.bubblewrap = bubblewrap.empty() ? findBubblewrap() : bubblewrap;
    if (!runnable(support.bubblewrap)) {
        support.problem = bubblewrap.empty()
                              ? "bubblewrap is not installed: apt-get install bubblewrap"
                              : "there is no program " + bubblewrap +
                                    " (CUDA_AGENT_BWRAP): unset it, and apt-get install bubblewrap";
        support.bubblewrap.clear();
        return machine;
    }
    support.version = version(support.bubblewrap);
    machine.system = inspectSystem();
    machine.landlock = landlock().version;
    if (useCgroups)
        machine.cgroups = findCgroupPlaces();
    // Root in the machine's own name space is exempt from the limit on processes.
    machine.limitProcesses = !machine.cgroups.processes;

    std::string problem = trial(machine);
    if (!problem.empty() && ::geteuid() == 0) {
        machine.userNamespace = false;
        const auto second = trial(machine);
        if (second.empty())
            problem.clear();
    }
    if (!problem.empty()) {
        support.problem = "no sandbox can be started (" + problem + "): " + hint();
        return machine;
    }
    noteUnenforced(machine);
    return machine;
}

const Machine &thisMachine() {
    static const Machine machine = [] {
        const char *bubblewrap = std::getenv("CUDA_AGENT_BWRAP");
        const char *without = std::getenv("CUDA_AGENT_NO_CGROUPS");
        return inspectMachine(bubblewrap ? bubblewrap : "",
                              !(without && std::string_view(without) == "1"));
    }();
    return machine;
}

Support probe() {
    return thisMachine().support;
}

} // namespace cuda_agent::sandbox
