// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

namespace cuda_agent {

/// How deep lists and objects of a text from outside may nest: copying and writing a value takes
/// stack for each level, and a few megabytes of '[' would end the program.
inline constexpr int deepestJson = 500;

/// Where the text nests deeper than that, or npos. Looks at brackets outside strings only; what is
/// no JSON at all is found by a parser.
std::size_t tooDeepAt(std::string_view text);

/// JSON text from somebody who is not trusted: a discarded value (`is_discarded()`) when it is not
/// JSON or nests deeper than `deepestJson`. Never throws. (`parseJson` has the same limit and an
/// error to show.)
Json parseUntrusted(std::string_view text);

} // namespace cuda_agent
