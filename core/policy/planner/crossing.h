// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/nest.h"

#include <optional>

namespace cuda_agent::policy {

/// The nest of a map whose elements can only be written one by one for the sake of its innermost
/// loop's length, with rows that can be written in vectors: these go over the ends of that loop
/// (Nest::crossing). `plain` is what makeNest() makes of it with `shortestRun` and `transpose`.
/// Nothing where vectors would be no wider, or what is read would suffer.
std::optional<Nest> crossingNest(const Program &program, const Group &group, const Nest &plain,
                                 std::int64_t shortestRun);

} // namespace cuda_agent::policy
