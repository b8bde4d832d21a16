// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/nest.h"
#include "core/policy/planner/schedule.h"

namespace cuda_agent::policy {

// Runs: neighbours along the innermost loop, from a multiple of their number on, that are read or
// written at once.

/// How many neighbours an access may take at most, up to 8, by sizes and alignment. 0: they lie
/// apart or are all one element.
int widestRun(const Nest &nest, const Access &access);

/// Whether the positions that a load picks are the same for all neighbours, and whether they lie
/// within its border, where it has one.
bool asksOnceForARun(const Program &program, const Nest &nest, int load);

/// How many neighbours a load may take at most. A border has to be a constant, and to begin and end
/// between runs. 0 where neighbours lie apart, are all one element, or are each asked for whether
/// and where they are read.
int widestRun(const Program &program, const Nest &nest, int load);

/// Whether kernels of that schedule read in runs what a load reads that picks positions or has a
/// border; else one by one.
bool readsAskedInRuns(const Program &program, const Group &group, const Nest &nest,
                      const Schedule &schedule, int load);

} // namespace cuda_agent::policy
