// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/policy_arguments.h"

#include "core/sandbox/landlock.h"

#include <algorithm>

namespace cuda_agent::sandbox {

namespace fs = std::filesystem;

namespace {

constexpr const char *entryPath = "/.entry";

/// Collects arguments; every element may be a string or a number.
class Arguments {
  public:
    template <typename... Parts>
    void add(Parts &&...parts) {
        (list_.push_back(fmt::format("{}", std::forward<Parts>(parts))), ...);
    }
    std::vector<std::string> take() { return std::move(list_); }

  private:
    std::vector<std::string> list_;
};

bool hasDots(const fs::path &path) {
    return std::any_of(path.begin(), path.end(),
                       [](const fs::path &part) { return part == ".." || part == "."; });
}

/// A tmpfs is limited to half the machine's memory by itself.
void addScratch(Arguments &arguments, const Limits &limits, const char *where) {
    if (limits.scratchBytes > 0)
        arguments.add("--size", limits.scratchBytes);
    arguments.add("--perms", "1777", "--tmpfs", where);
}

void addSystem(Arguments &arguments, const Setting &setting, const Descriptors &descriptors) {
    for (const auto &folder : setting.system.folders)
        arguments.add("--ro-bind", folder, folder);
    for (const auto &[target, name] : setting.system.links)
        arguments.add("--symlink", target, name);
    for (const auto &file : setting.system.files)
        arguments.add("--ro-bind", file, file);
    // Copies, not mounts: every mount costs time at the start, and the root is sealed later.
    arguments.add("--perms", "0444", "--file", descriptors.passwd, "/etc/passwd");
    arguments.add("--perms", "0444", "--file", descriptors.group, "/etc/group");
    arguments.add("--perms", "0444", "--file", descriptors.nameService, "/etc/nsswitch.conf");
}

void addEnvironment(Arguments &arguments, const Policy &policy, const Setting &setting,
                    const Descriptors &descriptors) {
    arguments.add("--clearenv");
    arguments.add("--setenv", "PATH", "/usr/bin:/bin");
    arguments.add("--setenv", "HOME", "/tmp");
    arguments.add("--setenv", "LANG", "C.UTF-8");
    if (setting.gpu && setting.gpu->libraryPath)
        arguments.add("--setenv", "LD_LIBRARY_PATH", *setting.gpu->libraryPath);
    for (const auto &[name, value] : policy.environment)
        arguments.add("--setenv", name, value);
    if (descriptors.channel)
        arguments.add("--setenv", "CUDA_AGENT_CHANNEL", 3);
}

} // namespace

std::string insidePath(const Mount &mount) {
    auto path = (mount.inside.empty() ? mount.host : mount.inside).lexically_normal();
    if (!path.has_filename() && path.has_parent_path())
        path = path.parent_path();
    return path.string();
}

std::string_view syntheticPasswd() {
    return "agent:x:1000:1000:agent:/tmp:/bin/sh\n"
           "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
           "root:x:0:0:root:/tmp:/usr/sbin/nologin\n";
}

std::string_view syntheticGroup() {
    return "agent:x:1000:\nnogroup:x:65534:\nroot:x:0:\n";
}

std::string_view syntheticNameService() {
    return "passwd: files\ngroup: files\nshadow: files\nhosts: files\n";
}

Result<void> checkPolicy(const Policy &policy, const std::vector<std::string> &argv) {
    if (argv.empty() || argv[0].empty())
        return requestError("sandbox {}: no program to run", policy.name);
    for (const auto &argument : argv)
        if (argument.find('\0') != std::string::npos)
            return requestError("sandbox {}: an argument holds a zero byte", policy.name);
    if (argv[0].front() != '/')
        return requestError("sandbox {}: the program {} is not an absolute path", policy.name,
                            argv[0]);
    for (const auto &mount : policy.mounts) {
        const fs::path target = insidePath(mount);
        if (!mount.host.is_absolute() || !target.is_absolute() || hasDots(mount.inside))
            return requestError("sandbox {}: mount {} at {}: both need to be absolute paths",
                                policy.name, mount.host.string(), mount.inside.string());
        std::error_code ignored;
        if (!fs::exists(mount.host, ignored))
            return requestError("sandbox {}: {} cannot be shown inside: there is no such file",
                                policy.name, mount.host.string());
        for (const char *fixed : {"/", "/proc", "/dev", "/sys", "/usr", "/etc", "/tmp"})
            if (target == fixed)
                return requestError("sandbox {}: a mount may not replace {}", policy.name, fixed);
        for (const char *fixed : {"/proc/", "/dev/", "/sys/"})
            if (target.string().starts_with(fixed))
                return requestError("sandbox {}: a mount may not lie in {}", policy.name, fixed);
    }
    for (const auto &[name, value] : policy.environment)
        if (name.empty() || name.find('=') != std::string::npos ||
            (name + value).find('\0') != std::string::npos)
            return requestError("sandbox {}: \"{}\" cannot be an environment variable", policy.name,
                                name);
    if (!policy.workingDirectory.is_absolute())
        return requestError("sandbox {}: the working directory {} is not an absolute path",
                            policy.name, policy.workingDirectory.string());
    return {};
}

std::vector<std::string> bubblewrapArguments(const Policy &policy,
                                             const std::vector<std::string> &argv,
                                             const Setting &setting,
                                             const Descriptors &descriptors) {
    Arguments arguments;
    arguments.add(setting.bubblewrap);
    if (setting.userNamespace && !policy.performanceCounters)
        arguments.add("--unshare-user", "--uid", 1000, "--gid", 1000);
    arguments.add("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
                  "--unshare-cgroup-try", "--hostname", "sandbox");
    arguments.add("--die-with-parent", "--new-session", "--cap-drop", "ALL");
    if (policy.performanceCounters)
        arguments.add("--cap-add", "CAP_PERFMON");
    arguments.add("--json-status-fd", descriptors.status, "--seccomp", descriptors.seccomp);
    if (descriptors.block >= 0)
        arguments.add("--block-fd", descriptors.block);

    addSystem(arguments, setting, descriptors);
    arguments.add("--proc", "/proc", "--dev", "/dev");
    addScratch(arguments, policy.limits, "/dev/shm");
    addScratch(arguments, policy.limits, "/tmp");
    if (setting.gpu) {
        for (const auto &device : setting.gpu->devices)
            arguments.add("--dev-bind", device, device);
        for (const auto &folder : setting.gpu->folders)
            arguments.add("--ro-bind", folder, folder);
    }
    for (const auto &mount : policy.mounts)
        arguments.add(mount.writable ? "--bind" : "--ro-bind",
                      mount.host.lexically_normal().string(), insidePath(mount));
    for (const auto &file : setting.system.hidden)
        arguments.add("--ro-bind", "/dev/null", file);
    // Where the engine is root, the program owns the kernel settings in /proc/sys (capabilities do
    // not come into it), and bubblewrap's own covering misses them in a user name space.
    // With a GPU only those stay covered: the CUDA driver writes to its own /proc/self and fails
    // with error 304 where it cannot.
    if (setting.gpu)
        arguments.add("--ro-bind", "/proc/sys", "/proc/sys");
    else
        arguments.add("--remount-ro", "/proc");
    if (descriptors.entry >= 0)
        arguments.add("--perms", "0555", "--file", descriptors.entry, entryPath);
    // The root and /dev are memory of their own, with no size limit: nothing more may grow there.
    arguments.add("--remount-ro", "/dev", "--remount-ro", "/");

    addEnvironment(arguments, policy, setting, descriptors);
    arguments.add("--chdir", policy.workingDirectory.string(), "--");
    if (descriptors.entry >= 0) {
        arguments.add(entryPath);
        for (const auto &rule : entryRules(policy, setting.landlock))
            arguments.add(rule);
        arguments.add("--");
    }
    for (const auto &argument : argv)
        arguments.add(argument);
    return arguments.take();
}

} // namespace cuda_agent::sandbox
