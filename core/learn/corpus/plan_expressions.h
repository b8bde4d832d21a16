// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace cuda_agent::learn {

/// Whether `value`, which a part of a plan has at `key`, is an expression over sizes as text; the
/// elements of lists are, and fields but for those that name something. Pure.
inline bool isExpression(const Json &part, const std::string &key, const Json &value) {
    constexpr std::array<std::string_view, 8> names{"name",   "source", "entry", "dtype",
                                                    "buffer", "kind",   "role",  "key"};
    return value.is_string() && (part.is_array() || std::ranges::find(names, key) == names.end());
}

} // namespace cuda_agent::learn
