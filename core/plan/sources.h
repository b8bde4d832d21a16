// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/runner.h"

#include <vector>

namespace cuda_agent::plan {

/// What a compiler gets of a candidate: one source a kernel file, in order of use, with the entries
/// that the plan launches.
std::vector<toolchain::Source> sourcesOf(const Candidate &candidate);

} // namespace cuda_agent::plan
