// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <stop_token>

namespace cuda_agent::app {

/// Adds the options of `cuda-agent-learn mistakes`; what it returns does it, after parsing, and
/// gives the exit code.
std::function<Result<int>(const std::stop_token &)> addMistakes(CLI::App &app);

} // namespace cuda_agent::app
