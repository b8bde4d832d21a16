// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace cuda_agent::widgets {

/// Where the parts of a long UTF-8 text begin, and at last its size: each part has at most a
/// thousand lines and 64 KB and ends at a line's end where there is one. {0, size} for short ones.
std::vector<std::size_t> bodyParts(std::string_view body);

/// At most `bytes` after `from`, not in the middle of a character.
std::size_t cutAt(std::string_view body, std::size_t from, std::size_t bytes);

} // namespace cuda_agent::widgets
