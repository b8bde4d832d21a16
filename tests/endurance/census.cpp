// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/endurance/census.h"

#include "core/base/paths.h"
#include "core/sandbox/cgroup_files.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace cuda_agent::endurance {

namespace fs = std::filesystem;

namespace {

constexpr const char *sharedFolder = "/dev/shm";

/// Names in a folder; none when it is gone meanwhile.
std::vector<std::string> namesIn(const fs::path &folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        names.push_back(it->path().filename().string());
    return names;
}

std::string textOf(const fs::path &file) {
    return sandbox::readCgroupFile(file).value_or("");
}

std::string linkOf(const fs::path &file) {
    std::error_code error;
    return fs::read_symlink(file, error).string();
}

bool isNumber(const std::string &text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return isdigit(c); });
}

std::vector<std::string> linesOf(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

struct Process {
    std::string name;
    char state = '?';
    std::string parent;
};

std::map<std::string, Process> allProcesses() {
    std::map<std::string, Process> all;
    for (const auto &pid : namesIn("/proc")) {
        if (!isNumber(pid))
            continue;
        const auto stat = textOf(fs::path("/proc") / pid / "stat");
        const auto open = stat.find('('), close = stat.rfind(')');
        if (open == stat.npos || close == stat.npos)
            continue;
        Process process;
        process.name = stat.substr(open + 1, close - open - 1);
        std::istringstream in(stat.substr(close + 1));
        in >> process.state >> process.parent;
        all[pid] = std::move(process);
    }
    return all;
}

/// Control groups that the sandbox has made for this process, wherever they are.
void collectGroups(const fs::path &folder, const std::string &prefix, int depth,
                   std::multiset<std::string> &found) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (!it->is_directory(ignored) || it->is_symlink(ignored))
            continue;
        if (it->path().filename().string().starts_with(prefix))
            found.insert(it->path().string());
        else if (depth > 0)
            collectGroups(it->path(), prefix, depth - 1, found);
    }
}

/// Ours are those that descend from this process (which inherits their orphans), carry the marker,
/// or sit in one of its control groups.
void addProcesses(Census &census) {
    const auto all = allProcesses();
    const auto self = std::to_string(::getpid());
    std::set<std::string> ours{self};
    for (bool grown = true; grown;) {
        grown = false;
        for (const auto &[pid, process] : all)
            if (ours.contains(process.parent))
                grown = ours.insert(pid).second || grown;
    }
    const char *value = std::getenv(markerVariable);
    const auto marker = std::string(markerVariable) + "=" + (value ? value : "");
    for (const auto &[pid, process] : all)
        if (value && textOf(fs::path("/proc") / pid / "environ").find(marker) != std::string::npos)
            ours.insert(pid);
    for (const auto &group : census.items["control groups"])
        for (const auto &pid : linesOf(textOf(fs::path(group) / "cgroup.procs")))
            ours.insert(pid);
    ours.erase(self);
    for (const auto &pid : ours) {
        const auto found = all.find(pid);
        const auto name = found == all.end() ? "?" : found->second.name;
        const bool dead = found != all.end() && found->second.state == 'Z';
        census.items[dead ? "zombies" : "processes"].insert(pid + " " + name);
    }
}

/// "pipe", "socket", "memfd", "anonymous", "file" by what /proc/self/fd says.
std::string kindOf(const std::string &link) {
    if (link.starts_with("/memfd:"))
        return "memfd";
    if (link.starts_with("/"))
        return "file";
    if (link.starts_with("anon_inode:"))
        return "anonymous";
    return link.substr(0, link.find(':'));
}

void addOwn(Census &census) {
    for (const char *kind : {"file", "pipe", "socket", "memfd", "anonymous"})
        census.items[fmt::format("descriptors ({})", kind)];
    for (const auto &number : namesIn("/proc/self/fd"))
        if (const auto link = linkOf(fs::path("/proc/self/fd") / number);
            !link.empty() && !link.starts_with("/proc/")) // the folder that is being read
            census.items[fmt::format("descriptors ({})", kindOf(link))].insert(link);
    for (const auto &thread : namesIn("/proc/self/task"))
        census.items["threads"].insert(thread);
    for (const auto &mount : linesOf(textOf("/proc/self/mountinfo")))
        census.items["mounts"].insert(mount);
    auto &mappings = census.items["shared mappings"];
    for (const auto &line : linesOf(textOf("/proc/self/maps")))
        if (line.find("/memfd:") != line.npos || line.find("/dev/") != line.npos) {
            mappings.insert(line);
            char *dash = nullptr;
            const auto begin = std::strtoull(line.c_str(), &dash, 16);
            census.sharedBytes += std::strtoull(dash + 1, nullptr, 16) - begin;
        }
    // Pages of shared mappings become resident when they are first looked at, however long after:
    // what counts of these is their size.
    for (const auto &line : linesOf(textOf("/proc/self/status")))
        if (line.starts_with("RssAnon:") || line.starts_with("RssFile:"))
            census.residentBytes +=
                1024 * std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    const auto heap = ::mallinfo2();
    census.heapBytes = heap.uordblks + heap.hblkhd;
}

/// Whether a process that is not of this family has the file open or mapped.
bool heldByOthers(const std::string &path, const Census &census) {
    std::set<std::string> ours{std::to_string(::getpid())};
    for (const char *kind : {"processes", "zombies"})
        for (const auto &item : census.items.at(kind))
            ours.insert(item.substr(0, item.find(' ')));
    for (const auto &pid : namesIn("/proc")) {
        if (!isNumber(pid) || ours.contains(pid))
            continue;
        const fs::path folder = fs::path("/proc") / pid;
        if (textOf(folder / "maps").find(path) != std::string::npos)
            return true;
        for (const auto &number : namesIn(folder / "fd"))
            if (linkOf(folder / "fd" / number).starts_with(path))
                return true;
    }
    return false;
}

void addSharedMemory(Census &census, const std::set<std::string> &known) {
    auto &found = census.items["shared memory"];
    for (const auto &name : namesIn(sharedFolder)) {
        const auto path = (fs::path(sharedFolder) / name).string();
        if (known.contains(path) || !heldByOthers(path, census))
            found.insert(path);
    }
    // key shmid perms size cpid: segments that this process has made
    for (const auto &line : linesOf(textOf("/proc/sysvipc/shm"))) {
        std::istringstream in(line);
        std::string key, number, permissions, size, creator;
        in >> key >> number >> permissions >> size >> creator;
        if (creator == std::to_string(::getpid()))
            found.insert("System V segment " + number);
    }
}

/// An entry of the cache of kernels or of the texts of modules, which have ends of their own. What
/// is still being made begins with a dot.
bool isFinished(const fs::path &inCache) {
    auto part = inCache.begin();
    if (part == inCache.end() || (*part != "binaries" && *part != "modules"))
        return false;
    return ++part != inCache.end() && !part->string().starts_with(".");
}

/// Everything below the temporary folder, and of the cache what is no finished entry.
void addFiles(Census &census) {
    const auto walk = [](const fs::path &folder, auto &&visit) {
        std::error_code error;
        for (fs::recursive_directory_iterator
                 it(folder, fs::directory_options::skip_permission_denied, error),
             end;
             !error && it != end; it.increment(error))
            visit(*it);
    };
    auto &temporary = census.items["temporary files"];
    walk(fs::temp_directory_path(),
         [&](const fs::directory_entry &entry) { temporary.insert(entry.path().string()); });
    auto &cached = census.items["cache files"];
    walk(cacheDir(), [&](const fs::directory_entry &entry) {
        std::error_code error;
        const auto size = entry.is_regular_file(error) ? entry.file_size(error) : 0;
        census.cacheBytes += error ? 0 : size;
        if (!isFinished(entry.path().lexically_relative(cacheDir())))
            cached.insert(entry.path().string());
    });
}

} // namespace

std::size_t Census::count(const std::string &kind) const {
    const auto found = items.find(kind);
    return found == items.end() ? 0 : found->second.size();
}

std::size_t Census::countAll(const std::string &prefix) const {
    std::size_t sum = 0;
    for (const auto &[kind, each] : items)
        sum += kind.starts_with(prefix) ? each.size() : 0;
    return sum;
}

Result<Census> takeCensus(device::Device *gpu, const std::set<std::string> &known) {
    Census census;
    for (const char *kind : {"processes", "zombies"})
        census.items[kind];
    collectGroups("/sys/fs/cgroup", sandbox::cgroupNamePrefix(), 8, census.items["control groups"]);
    addOwn(census);
    addProcesses(census);
    addSharedMemory(census, known);
    addFiles(census);
    if (gpu) {
        CUDA_AGENT_ASSIGN(bytes, gpu->freeBytes());
        census.freeBytes = bytes;
    }
    return census;
}

} // namespace cuda_agent::endurance
