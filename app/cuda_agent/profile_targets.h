// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cuda_agent/common.h"

namespace cuda_agent::app {

/// `profile --arch`: compiles a candidate for the architectures that `list` names and prints what
/// its kernels need on each, as a table or as JSON. Returns 0 when every kernel compiles and, of a
/// plan, every launch is possible on all of them, else 1. `listing`: empty, or "sass" or "ptx" for
/// the instructions of a plan's kernels. Errors: request, machine, stopped.
Result<int> profileTargets(const TaskOptions &options, const std::string &candidate,
                           const std::string &list, const std::string &listing,
                           std::stop_token stop);

/// What its JSON holds, for --help.
extern const char *const targetsHelp;

} // namespace cuda_agent::app
