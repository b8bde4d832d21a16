// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/process_tree.h"

#include "core/sandbox/cgroup_files.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace cuda_agent::sandbox {

namespace {

struct Entry {
    pid_t parent = 0;
    std::uint64_t ticks = 0;
    int threads = 0;
};

bool readEntry(const std::string &pid, Entry &entry) {
    const auto stat = readCgroupFile("/proc/" + pid + "/stat").value_or("");
    const auto close = stat.rfind(')');
    if (close == std::string::npos)
        return false;
    // After the name: state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt
    // utime stime cutime cstime priority nice num_threads
    std::istringstream in(stat.substr(close + 1));
    std::string skipped;
    in >> skipped >> entry.parent;
    for (int i = 0; i < 9; ++i)
        in >> skipped;
    std::uint64_t user = 0, system = 0, childUser = 0, childSystem = 0;
    in >> user >> system >> childUser >> childSystem >> skipped >> skipped >> entry.threads;
    entry.ticks = user + system + childUser + childSystem;
    return !in.fail();
}

std::uint64_t residentBytes(pid_t pid) {
    const std::string file = "/proc/" + std::to_string(pid) + "/status";
    std::uint64_t kibibytes = 0;
    std::istringstream in(readCgroupFile(file).value_or(""));
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("RssAnon:") || line.starts_with("RssShmem:"))
            kibibytes += std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    return kibibytes * 1024;
}

} // namespace

TreeUse treeUse(pid_t root, int enough) {
    std::map<pid_t, Entry> entries;
    std::multimap<pid_t, pid_t> children;
    // Those whose parents came before them, which is nearly all: /proc is in the order of numbers.
    std::set<pid_t> seen{root};
    int seenThreads = 0;
    if (DIR *folder = ::opendir("/proc")) {
        while (const dirent *file = ::readdir(folder)) {
            const pid_t pid = static_cast<pid_t>(std::strtol(file->d_name, nullptr, 10));
            Entry entry;
            if (pid <= 0 || !readEntry(file->d_name, entry))
                continue;
            entries[pid] = entry;
            children.emplace(entry.parent, pid);
            if (pid != root && !seen.contains(entry.parent))
                continue;
            seen.insert(pid);
            seenThreads += entry.threads;
            if (enough > 0 && seenThreads > enough) {
                ::closedir(folder);
                return {.threads = seenThreads};
            }
        }
        ::closedir(folder);
    }
    TreeUse use;
    static const double ticksPerSecond = static_cast<double>(::sysconf(_SC_CLK_TCK));
    std::vector<pid_t> open{root};
    while (!open.empty()) {
        const pid_t pid = open.back();
        open.pop_back();
        const auto entry = entries.find(pid);
        if (entry == entries.end())
            continue;
        use.memoryBytes += residentBytes(pid);
        use.cpuSeconds += static_cast<double>(entry->second.ticks) / ticksPerSecond;
        use.threads += entry->second.threads;
        const auto [begin, end] = children.equal_range(pid);
        for (auto child = begin; child != end; ++child)
            open.push_back(child->second);
    }
    return use;
}

pid_t parentOf(pid_t pid) {
    Entry entry;
    return readEntry(std::to_string(pid), entry) ? entry.parent : 0;
}

} // namespace cuda_agent::sandbox
