// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <string>

namespace cuda_agent::tools {

/// A verdict in one line, as policies and people read it.
std::string summaryOf(const Json &verdict);

/// The same with what a policy needs to go on: the failed check and its evidence, the baselines,
/// the kernels' resources, flags.
std::string reportOf(const Json &verdict);

/// What is known of where the time goes: achieved rates against this machine's measured ceilings,
/// resources of each kernel, what is not measured. `baselines`: as in the log's baselinesMeasured,
/// with ceilings; `description`: as in taskDescribed.
std::string profileOf(const Json &verdict, const Json &baselines, const Json &description);

/// Compiler messages, a line each: "kernels/a.cu:3:7: error: expected ';'".
std::string diagnosticLines(const Json &diagnostics);

/// "12.3 us", "1.234 ms", "2.00 s".
std::string formatSeconds(double seconds);

} // namespace cuda_agent::tools
