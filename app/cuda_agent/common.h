// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/judge/judge.h"

#include <CLI/CLI.hpp>

namespace cuda_agent::app {

/// Options that every command on a task takes.
struct TaskOptions {
    std::string task;
    std::string device = "auto";
    std::string numerics = "default";
    std::vector<std::string> sets;
    bool maxAutotune = false;
    bool json = false;
    void add(CLI::App &app);
};

/// The parsed request of such a command. Errors: request.
struct TaskRequest {
    task::Spec spec;
    judge::Options judge;
};
Result<TaskRequest> openTask(const TaskOptions &options);

} // namespace cuda_agent::app
