// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// The hardware metrics that a profile is made of, by the names of Nsight Compute. Not every chip
// has all of them; where chips name one thing differently all names are here and derive.cpp takes
// the one that is there. Checked against the metrics that libcupti 13.0 lists for TU102, GA100,
// AD102, GH100, GB100 and GB202.

namespace cuda_agent::profile {

/// Why a warp waits: part of `smsp__average_warps_issue_stalled_<name>_per_issue_active.ratio`.
struct StallReason {
    std::string_view name;
    std::string_view meaning; ///< completes "warps wait ..."
};
std::span<const StallReason> stallReasons();
std::string stallMetric(std::string_view name);

/// All names to ask for.
std::vector<std::string> wantedMetrics();

} // namespace cuda_agent::profile
