// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuda_agent::learn {

/// Follows the lines of a turn in the chat's template, byte after byte: of a call the path, and
/// where the content of that file begins and ends. A value.
class ContentLines {
  public:
    enum class At : std::uint8_t {
        outside,
        begins, ///< the content, behind this byte
        inside,
        ends ///< the line that ends it, wherever it is, ends with this byte
    };
    /// Where a byte stands. The content of a file that is not `wanted`, by its path, is outside.
    At take(char byte, bool (*wanted)(std::string_view path));
    /// What stands of the line; inside no more than tells whether it ends the content.
    const std::string &line() const { return line_; }

  private:
    bool inside_ = false;
    bool wanted_ = false; ///< the file of the last path
    std::string line_;
    std::string before_; ///< the line before, outside
};

} // namespace cuda_agent::learn
