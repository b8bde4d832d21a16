// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>
#include <vector>

namespace cuda_agent::exporter {

/// One parameter of Model.forward.
struct ForwardParameter {
    std::string name;
    std::string fallback; ///< its default, where that is a literal; else empty
    bool operator==(const ForwardParameter &) const = default;
};

/// The parameters of Model.forward after `self`, read from the text of a task. Empty where they are
/// not plain names (`*args`, keyword-only ones) or there is no such function.
std::vector<ForwardParameter> forwardParameters(const std::string &task);

/// The text of a task with module-level constants set, as `--set` does in the session. Only the
/// lines that assign them change. Errors: request, when no line assigns one of them.
Result<std::string> withOverrides(const std::string &task,
                                  const std::map<std::string, std::string> &overrides);

/// Whether the text speaks of something that differs between train() and eval().
bool mentionsTraining(const std::string &task);

} // namespace cuda_agent::exporter
