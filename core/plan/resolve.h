// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/plan.h"

// Parts of resolve(), one file a kind of step.

namespace cuda_agent::plan {

using Values = std::map<std::string, std::int64_t>;

/// The value of an expression, at least `low` and at most `high`. Errors: request, naming `path`.
Result<std::int64_t> evaluateWithin(const Expression &expression, const Values &values,
                                    const std::string &path, std::int64_t low, std::int64_t high);

/// The type of a buffer that the plan is known to have.
const TensorType &typeOf(const Resolved &resolved, const std::string &buffer);

Result<ResolvedKernel> resolveKernel(const KernelStep &step, const std::string &path,
                                     const Signature &signature, const LaunchLimits &limits,
                                     const Values &values);
Result<ResolvedGemm> resolveGemm(const GemmStep &step, const std::string &path,
                                 const Resolved &resolved, const Values &values);
Result<ResolvedConvolution> resolveConvolution(const ConvolutionStep &step, const std::string &path,
                                               const Resolved &resolved);

} // namespace cuda_agent::plan
