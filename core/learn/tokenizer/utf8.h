// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace cuda_agent::learn {

/// Bytes of the character that `text` starts with (1 to 4), 0 where it starts with none: UTF-8 as
/// RFC 3629 has it, without surrogates and overlong forms.
std::size_t characterLength(std::string_view text);

/// A stretch of text that holds either whole characters only or none.
struct Run {
    std::string_view bytes;
    bool characters = true;
};
/// The longest run that `text` starts with; empty for an empty text.
Run firstRun(std::string_view text);

/// Bytes of white space (Unicode's property White_Space) that `text` starts with, or ends with.
std::size_t leadingSpace(std::string_view text);
std::size_t trailingSpace(std::string_view text);

} // namespace cuda_agent::learn
