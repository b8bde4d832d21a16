// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/cgroup.h"
#include "core/sandbox/cgroup_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

namespace cuda_agent::sandbox {

namespace fs = std::filesystem;

namespace {

constexpr const char *nameStem = "cuda-agent-";

struct Hierarchy {
    fs::path mountPoint;
    std::string root; ///< the group that the mount point shows
    bool unified = false;
    std::vector<std::string> controllers; ///< version 1
    std::string ownGroup;
};

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);)
        parts.push_back(part);
    return parts;
}

bool contains(const std::vector<std::string> &list, const std::string &element) {
    return std::find(list.begin(), list.end(), element) != list.end();
}

std::vector<Hierarchy> hierarchies(const CgroupTables &tables) {
    std::vector<Hierarchy> result;
    for (const auto &line : split(tables.mounts, '\n')) {
        // 36 35 98:0 /root /mountpoint options [tags] - type source super-options
        const auto dash = line.find(" - ");
        if (dash == std::string::npos)
            continue;
        const auto left = split(line.substr(0, dash), ' ');
        const auto right = split(line.substr(dash + 3), ' ');
        if (left.size() < 5 || right.size() < 3 || !right[0].starts_with("cgroup"))
            continue;
        Hierarchy hierarchy;
        hierarchy.root = left[3];
        hierarchy.mountPoint = left[4];
        hierarchy.unified = right[0] == "cgroup2";
        hierarchy.controllers = split(right[2], ',');
        for (const auto &group : split(tables.groups, '\n')) {
            // 4:memory:/path, or 0::/path
            const auto first = group.find(':');
            const auto second = group.find(':', first + 1);
            if (first == std::string::npos || second == std::string::npos)
                continue;
            const auto names = split(group.substr(first + 1, second - first - 1), ',');
            const bool same = hierarchy.unified
                                  ? names.empty()
                                  : !names.empty() && contains(hierarchy.controllers, names[0]);
            if (same)
                hierarchy.ownGroup = group.substr(second + 1);
        }
        if (!hierarchy.ownGroup.empty())
            result.push_back(std::move(hierarchy));
    }
    return result;
}

fs::path ownFolder(const Hierarchy &hierarchy) {
    std::string group = hierarchy.ownGroup;
    if (hierarchy.root != "/" && group.starts_with(hierarchy.root))
        group = group.substr(hierarchy.root.size());
    const auto relative = fs::path(group).relative_path();
    // A container may be told a path outside what it is shown.
    if (!relative.empty() && *relative.begin() == "..")
        return hierarchy.mountPoint;
    return relative.empty() ? hierarchy.mountPoint : hierarchy.mountPoint / relative;
}

std::string startTime(const std::string &pid) {
    const auto stat = readCgroupFile("/proc/" + pid + "/stat").value_or("");
    const auto close = stat.rfind(')');
    if (close == std::string::npos)
        return {};
    const auto fields = split(stat.substr(std::min(close + 2, stat.size())), ' ');
    return fields.size() > 19 ? fields[19] : "";
}

std::string pidNamespace() {
    struct stat info {};
    return ::stat("/proc/self/ns/pid", &info) == 0 ? std::to_string(info.st_ino) : "0";
}

/// Groups are named after their engine; one whose engine is gone is removed. A process number means
/// something only in its own name space, so others' groups stay.
void removeLeftOvers(const fs::path &folder, const std::string &space, int depth) {
    std::error_code ignored;
    for (const auto &entry : fs::directory_iterator(folder, ignored)) {
        if (!entry.is_directory(ignored))
            continue;
        const auto name = entry.path().filename().string();
        if (!name.starts_with(nameStem)) {
            if (depth > 0)
                removeLeftOvers(entry.path(), space, depth - 1);
            continue;
        }
        const auto parts = split(name.substr(std::string_view(nameStem).size()), '-');
        if (parts.size() == 4 && parts[0] == space && startTime(parts[1]) != parts[2])
            destroyCgroup(entry.path());
    }
}

/// Whether a process of ours can really be moved into a new group here.
bool works(const CgroupPlace &place, const std::string &controller) {
    const std::string neededFile =
        controller == "memory" ? (place.unified ? "memory.max" : "memory.limit_in_bytes")
        : controller == "pids" ? "pids.max"
                               : (place.unified ? "cpu.stat" : "cpuacct.usage");
    const fs::path trial = place.folder / (cgroupNamePrefix() + "trial");
    if (::mkdir(trial.c_str(), 0755) != 0)
        return false;
    std::error_code ignored;
    bool usable = fs::exists(trial / neededFile, ignored);
    if (!usable && place.unified) {
        writeCgroupFile(place.folder / "cgroup.subtree_control", "+" + controller);
        usable = fs::exists(trial / neededFile, ignored);
    }
    const UniqueFd entrance(::open((trial / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (usable && entrance) {
        const pid_t child = ::fork();
        if (child == 0)
            ::_exit(::write(entrance.get(), "0", 1) == 1 ? 0 : 1);
        int status = -1;
        while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        usable = child > 0 && status == 0;
    } else {
        usable = false;
    }
    destroyCgroup(trial);
    return usable;
}

} // namespace

std::string cgroupNamePrefix() {
    const auto pid = std::to_string(::getpid());
    return nameStem + pidNamespace() + "-" + pid + "-" + startTime(pid) + "-";
}

std::vector<CgroupPlace> cgroupCandidates(const CgroupTables &tables,
                                          const std::string &controller) {
    std::vector<CgroupPlace> first;
    std::vector<CgroupPlace> second;
    for (const auto &hierarchy : hierarchies(tables)) {
        const auto own = ownFolder(hierarchy);
        if (!hierarchy.unified && contains(hierarchy.controllers, controller)) {
            first.push_back({own, false});
            if (own != hierarchy.mountPoint)
                first.push_back({hierarchy.mountPoint, false});
        } else if (hierarchy.unified) {
            second.push_back({own, true});
            if (own != hierarchy.mountPoint) {
                if (own.parent_path() != hierarchy.mountPoint)
                    second.push_back({own.parent_path(), true});
                second.push_back({hierarchy.mountPoint, true});
            }
        }
    }
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

CgroupPlaces findCgroupPlaces() {
    const CgroupTables tables{readCgroupFile("/proc/self/mountinfo").value_or(""),
                              readCgroupFile("/proc/self/cgroup").value_or("")};
    const auto space = pidNamespace();
    for (const auto &hierarchy : hierarchies(tables))
        if (hierarchy.unified || contains(hierarchy.controllers, "memory") ||
            contains(hierarchy.controllers, "pids") || contains(hierarchy.controllers, "cpuacct"))
            removeLeftOvers(hierarchy.mountPoint, space, 6);

    // A process is in one group of version 2, so all its controllers share the first one found.
    std::optional<fs::path> unified;
    const auto find = [&](const std::string &controller) -> std::optional<CgroupPlace> {
        for (const auto &place : cgroupCandidates(tables, controller)) {
            if (place.unified && unified && place.folder != *unified)
                continue;
            if (!works(place, controller))
                continue;
            if (place.unified)
                unified = place.folder;
            return place;
        }
        return std::nullopt;
    };
    CgroupPlaces places;
    places.memory = find("memory");
    places.processes = find("pids");
    places.cpu = find("cpuacct");
    return places;
}

} // namespace cuda_agent::sandbox
