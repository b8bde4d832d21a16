// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/plan.h"

// What the two halves of planFromJson share.

namespace cuda_agent::plan {

template <typename Range>
std::string listed(const Range &names) {
    return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> bufferNames(const Plan &plan);

/// Every name in `expression` must be a symbol or the shape of an input or parameter.
/// Errors: request, naming `path`.
Result<void> checkNames(const Plan &plan, const Expression &expression, const std::string &path);

/// One entry of `steps`. The plan's buffers and symbols must be there already.
Result<Step> parseStep(const Plan &plan, const Json &json, const std::string &path);

} // namespace cuda_agent::plan
