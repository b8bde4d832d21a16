// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuda_agent {

/// The first `most` bytes of a text from somebody who is not trusted, as one line of ASCII:
/// whatever else is in there becomes '?'.
std::string plainLine(std::string_view text, std::size_t most);

/// The last line that is not blank, where a program names what it ended by, as plainLine(); "no
/// message" where there is none.
std::string lastPlainLine(std::string_view text, std::size_t most);

} // namespace cuda_agent
