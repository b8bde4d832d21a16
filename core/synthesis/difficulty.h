// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <filesystem>
#include <map>
#include <string>

namespace cuda_agent::synthesis {

/// How hard tasks were for a policy, by the name of the task: {"reward", "turns"} of the results in
/// the folder of an evaluation (core/bench/store.h), which may still be running. Of several modes
/// the first counts, of several samples the best one; tasks that were not judged are left out.
/// Nothing found in time is a reward of -1. Errors: request (no results there, a line that is
/// none).
Result<std::map<std::string, Json>> difficultyFrom(const std::filesystem::path &evaluation);

} // namespace cuda_agent::synthesis
