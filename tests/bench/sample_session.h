// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace cuda_agent::bench {

/// Writes the log of a session of that many events (3 at least) into a folder, as the planner's
/// sessions look: what comes before the turns, then ten events a turn with kernels in blobs. It is
/// cut off there, without an end.
Result<void> writeSampleSession(const std::filesystem::path &folder, int events);

} // namespace cuda_agent::bench
