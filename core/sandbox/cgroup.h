// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::sandbox {

/// One controller's folder, in which groups for single runs can be made.
struct CgroupPlace {
    std::filesystem::path folder;
    bool unified = false; ///< version 2
};

/// Where this machine lets us make control groups; found by trying.
struct CgroupPlaces {
    std::optional<CgroupPlace> memory;
    std::optional<CgroupPlace> processes;
    std::optional<CgroupPlace> cpu;
};

/// The mount points and own groups that `findCgroupPlaces` starts from.
struct CgroupTables {
    std::string mounts; ///< text of /proc/self/mountinfo
    std::string groups; ///< text of /proc/self/cgroup
};

/// Folders worth trying for one controller ("memory", "pids", "cpuacct"), best first: the engine's
/// own group, so that limits set on the engine go on to hold; for version 2 also its parent, since
/// a group with processes of its own cannot hand controllers down; last the top.
std::vector<CgroupPlace> cgroupCandidates(const CgroupTables &tables,
                                          const std::string &controller);

/// Tries the candidates with a real group and a real process. Also removes groups that engines
/// which have died left behind. Takes some milliseconds.
CgroupPlaces findCgroupPlaces();

/// The control groups of one run, in whichever hierarchies there are.
/// The folders go when this goes, with everything that still runs inside killed.
/// Not thread-safe.
class Cgroup {
  public:
    /// Zero means no limit. `processes` counts threads too. Errors: machine.
    static Result<Cgroup> create(const CgroupPlaces &places, std::uint64_t memoryBytes,
                                 int processes);
    Cgroup(Cgroup &&) noexcept = default;
    ~Cgroup();

    /// A process that writes "0" to each of these moves itself in.
    std::vector<int> entrances() const;
    void closeEntrances() { entrances_.clear(); }

    bool outOfMemory() const;
    bool outOfProcesses() const;
    /// Absent where the hierarchy has no such figure.
    std::optional<std::uint64_t> peakMemoryBytes() const;
    std::optional<double> cpuSeconds() const;

    bool empty() const;
    void killAll() const;

  private:
    Cgroup() = default;
    struct Group {
        std::filesystem::path folder;
        bool unified = false;
        bool memory = false;
        bool processes = false;
        bool cpu = false;
    };
    const Group *find(bool Group::*controller) const;
    std::vector<Group> groups_;
    std::vector<UniqueFd> entrances_;
};

} // namespace cuda_agent::sandbox
