// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"

namespace cuda_agent::judge {

/// Whether checked runs are possible on that device, before a task is prepared for one. Errors:
/// machine (what is missing).
Result<void> canSanitize(const device::Info &device);

/// One call of the candidate on the first random case with its memory accesses looked at: by checks
/// of our own on the cpu, by compute-sanitizer on cuda. The candidate compiles.
/// Errors: as canSanitize(), failed (it does not compile with checks), stopped.
Result<sanitize::Report> sanitizeCandidate(Judge &judge, const Candidate &candidate,
                                           std::stop_token stop);

} // namespace cuda_agent::judge
