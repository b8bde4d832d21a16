// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace cuda_agent::exporter {

enum class Language { cpp, python };

/// The text that stands for a name of a plan expression ("N", "x.shape[1]", "x.numel").
using Spelling = std::function<std::string(const std::string &name)>;

/// A plan expression (core/plan/expression.h) as source code of the same value, with as few
/// parentheses as the language needs. In C++ it is an int64_t; division and remainder floor, so
/// they are calls of floorDivide() and floorModulo() unless both sides are plain sizes, which are
/// never negative. Comparisons are bool in both languages and count as 0 or 1. Errors: request (not
/// an expression).
Result<std::string> codeOf(std::string_view expression, Language language,
                           const Spelling &spelling);

} // namespace cuda_agent::exporter
