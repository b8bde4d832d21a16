// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace cuda_agent::bench {

/// Writes the log of a session of that many events into a folder, as the planner's sessions look:
/// ten events a turn, kernels in blobs, full verdicts.
Result<void> writeSampleSession(const std::filesystem::path &folder, int events);

} // namespace cuda_agent::bench
