// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"
#include "core/profile/profiler.h"

namespace cuda_agent::judge {

/// Profiles a plan candidate on the first random case (core/profile/profiler.h), with findings.
/// Takes the device alone meanwhile. Blocks for seconds.
/// Errors: request (a module candidate), failed (it does not compile, or faults), machine, stopped.
Result<profile::Report> profileCandidate(Judge &judge, const Candidate &candidate,
                                         std::stop_token stop);

} // namespace cuda_agent::judge
