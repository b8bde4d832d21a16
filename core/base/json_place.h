// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace cuda_agent {

/// Bytes `begin` to `end` of a text.
struct TextRange {
    std::size_t begin = 0, end = 0;
    bool operator==(const TextRange &) const = default;
};

/// Where the value at `path`, "buffers[4].name", stands in a text of JSON; of what is not there the
/// last one on the way to it that is. Nothing where the path is none or the text ends too early; a
/// text that is no JSON gives any place of it. Keys are compared as they are written.
std::optional<TextRange> placeInJson(std::string_view text, std::string_view path);

/// The byte at a line and a column, both from 1, as parseJson() names them: at most the text's end.
std::size_t byteAt(std::string_view text, std::size_t line, std::size_t column);

} // namespace cuda_agent
