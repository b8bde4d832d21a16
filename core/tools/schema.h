// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <string>

namespace cuda_agent::tools {

/// What is wrong with `value` under `schema`, as a sentence that a model can act on ("Edit takes no
/// 'path'; it takes file_path, old_string, new_string, replace_all"), or empty. All faults are
/// named at once. Knows the part of JSON Schema that our tools use: type, properties, required,
/// additionalProperties, items, minItems, enum, minimum, maximum, minLength.
std::string schemaProblems(const Json &value, const Json &schema, const std::string &tool);

// The vocabulary that tools write their schemas in.
Json textField(std::string description);
Json wholeField(std::string description, std::int64_t minimum, std::int64_t maximum);
Json flagField(std::string description);
Json choiceField(std::string description, std::vector<std::string> choices);
Json listField(std::string description, Json items);
/// An object of these properties and no others.
Json objectOf(Json properties, std::vector<std::string> required);

} // namespace cuda_agent::tools
