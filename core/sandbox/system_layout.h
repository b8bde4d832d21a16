// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuda_agent::sandbox {

/// What of the host every sandbox shows, as found on this machine.
struct SystemLayout {
    /// Top-level folders that are links on a merged-/usr system: {"usr/lib", "/lib"}.
    std::vector<std::pair<std::string, std::string>> links;
    std::vector<std::string> folders; ///< real ones beside them: "/usr", maybe "/lib64"
    std::vector<std::string> files;   ///< of /etc and /sys/devices: "/etc/ld.so.cache"
    /// Files of /proc that are shown empty: kernel state that a program of root's could read.
    std::vector<std::string> hidden;
};

SystemLayout inspectSystem();

/// What a process that uses one GPU needs beside that.
struct GpuLayout {
    std::vector<std::string> devices;       ///< "/dev/nvidia0", "/dev/nvidiactl", ...
    std::vector<std::string> folders;       ///< read-only: parts of /sys, the driver's library
    std::optional<std::string> libraryPath; ///< to be searched, when no system setting has it
};

GpuLayout inspectGpu(int gpu);

} // namespace cuda_agent::sandbox
