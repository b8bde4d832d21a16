// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/plan/plan.h"
#include "core/plan/program.h"

namespace cuda_agent::plan {

/// What a launch may use on that device.
LaunchLimits limitsOf(const device::Info &info);

/// The plan with all names and expressions worked out. Kernel sources become binary numbers in the
/// order of plan.sources(); Program::binaries stays empty.
Program makeProgram(const Plan &plan, const Resolved &resolved, const device::Info &info);

} // namespace cuda_agent::plan
