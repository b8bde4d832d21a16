// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/profile/profile.h"

namespace cuda_agent::profile {

/// What an engineer would say on reading the counters, the largest gain first. Pure. A rule whose
/// counters are missing says nothing. README.md lists the rules with their thresholds.
///
/// `Finding::gain` is an upper bound. For a launch that takes the share s of a call, made f times
/// as fast, the call is 1 / (1 - s + s / f) times as fast (Amdahl). f comes from the rule (wasted
/// bytes, passes, lanes) and from the roofline: a launch at the share m of its nearest measured
/// ceiling becomes at most 1 / m times as fast while it moves and computes the same. f is at most
/// 100.
std::vector<Finding> findingsIn(const Report &report);

} // namespace cuda_agent::profile
