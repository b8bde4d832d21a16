// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/base/tensor_type.h"

#include <string>
#include <string_view>

/// Typed reading of JSON that an untrusted worker sent. `what` names the place in the error
/// ("graph.nodes[3]"). Errors: request. Internal to core/task.
namespace cuda_agent::task {

Result<std::string> stringField(const Json &object, const char *key, std::string_view what,
                                bool required = true);
Result<std::int64_t> integerField(const Json &object, const char *key, std::string_view what,
                                  std::int64_t fallback);
/// A finite number that is not negative.
Result<double> amountField(const Json &object, const char *key, std::string_view what);
/// The list under `key`; an empty list when it is absent.
Result<Json> listField(const Json &object, const char *key, std::string_view what);

} // namespace cuda_agent::task
