// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <string>
#include <vector>

namespace cuda_agent::judge {

/// What got worse from a stored verdict (as `cuda-agent check --json` prints it) to a new one, in
/// sentences; empty when nothing did. Speed is compared as the speed-up over each baseline that
/// both have, for absolute times hold on one machine only. It got worse when it fell by more than
/// `tolerance` (0.05: five per cent) and the fall lies outside the confidence intervals.
/// Errors: request (not a verdict; another device kind or numerics than the new one).
Result<std::vector<std::string>> regressions(const Json &stored, const Json &now, double tolerance);

/// A verdict as JUnit XML with one case for the compilation, one for each check, and one for what
/// got worse when that was asked for. `name`: of the suite.
std::string junitXml(const std::string &name, const Json &verdict,
                     const std::vector<std::string> *worse);

} // namespace cuda_agent::judge
