// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"

namespace cuda_agent::judge {

/// Private copies of the first random case, as that candidate gets them, for runs that judge
/// nothing. Errors: machine.
Result<verify::GuardedSet> buffersOfFirstCase(Judge &judge, const Candidate &candidate);

} // namespace cuda_agent::judge
