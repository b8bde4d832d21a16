// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <stop_token>

namespace cuda_agent::app {

/// One subcommand: its options are bound when it is added; `run` is called when it was chosen and
/// returns the exit code or the error to print.
using Run = std::function<Result<int>(std::stop_token)>;

Run addDoctor(CLI::App &app);
Run addOptimize(CLI::App &app);
Run addCheck(CLI::App &app);
Run addCorpus(CLI::App &app);
Run addEvaluate(CLI::App &app);
Run addEndpoint(CLI::App &app);
Run addExport(CLI::App &app);
Run addNcu(CLI::App &app);
Run addProfile(CLI::App &app);
Run addReplay(CLI::App &app);
Run addSynthesize(CLI::App &app);
Run addTrain(CLI::App &app);
Run addKnowledge(CLI::App &app);

} // namespace cuda_agent::app
