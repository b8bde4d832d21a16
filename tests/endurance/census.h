// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace cuda_agent::endurance {

/// Environment variable that every process started by this one inherits, unless it is given another
/// environment: tells processes that left the family.
inline constexpr const char *markerVariable = "CUDA_AGENT_ENDURANCE";

/// What this process holds of the machine at one moment. Counted are what a user would find left
/// behind; `items` says which they are, by kind: "processes", "zombies", "threads",
/// "descriptors (pipe)", "mounts", "control groups", "shared memory", "shared mappings",
/// "temporary files", "cache files".
struct Census {
    std::map<std::string, std::multiset<std::string>> items;
    std::uint64_t residentBytes = 0; ///< of its own: anonymous pages and those of files
    std::uint64_t sharedBytes = 0;   ///< size of all mappings of memory files
    std::uint64_t heapBytes = 0;     ///< in use of the allocator; what it keeps does not count
    std::uint64_t cacheBytes = 0;    ///< compiled kernels on disk
    std::optional<std::uint64_t> freeBytes; ///< of the GPU's memory

    std::size_t count(const std::string &kind) const;
    /// All whose kind begins with `prefix`.
    std::size_t countAll(const std::string &prefix) const;
};

/// Looks at /proc, the control groups, /dev/shm, the temporary folder (which must be this process's
/// own, or others' files count) and the cache folder. Takes some milliseconds.
/// `gpu`: the device whose free memory counts, or null. `known`: shared memory that was there
/// before; new files of /dev/shm count unless a process of somebody else has them open or mapped.
/// Errors: machine (the GPU cannot be asked).
Result<Census> takeCensus(device::Device *gpu, const std::set<std::string> &known = {});

} // namespace cuda_agent::endurance
