// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/device.h"

namespace cuda_agent::device {

/// A data cache of the host, as the kernel describes that of the first processor.
struct CpuCache {
    int level = 0;           ///< 1, 2, 3
    std::uint64_t bytes = 0; ///< of one such cache
    int sharers = 1;         ///< hardware threads that share one
};
/// Data caches of a folder like /sys/devices/system/cpu/cpu0/cache, innermost first; what it does
/// not describe is missing.
std::vector<CpuCache>
cpuCaches(const std::filesystem::path &folder = "/sys/devices/system/cpu/cpu0/cache");

/// The host processor as this process may use it.
Info inspectCpu();
/// What could still be allocated: free memory of the machine or of the control group around this
/// process, whichever is less.
std::uint64_t freeHostBytes();

} // namespace cuda_agent::device
