// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cuda_agent/common.h"

namespace cuda_agent::app {

/// `profile` on this machine's device.
struct DeviceProfileOptions {
    int calls = 10;
    bool keepCache = false;
    bool noCounters = false;
    bool lines = false;
    std::string csv; ///< file to write
    void add(CLI::App &app);
};

/// Profiles plan candidates of one task one after the other and prints what they do: a table, or
/// with --json one object (several: a line each, with "candidate" and, where one cannot be
/// profiled, "error"). Returns the exit code of the worst. Errors: request, machine, stopped.
Result<int> profileOnDevice(const TaskOptions &task, const std::vector<std::string> &candidates,
                            const DeviceProfileOptions &options, std::stop_token stop);

} // namespace cuda_agent::app
