// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/plain_text.h"

#include <algorithm>

namespace cuda_agent {

std::string plainLine(std::string_view text, std::size_t most) {
    std::string line(text.substr(0, most));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return line;
}

std::string lastPlainLine(std::string_view text, std::size_t most) {
    const auto end = text.find_last_not_of(" \n\r\t");
    if (end == text.npos)
        return "no message";
    const auto start = text.find_last_of('\n', end);
    const auto first = start == text.npos ? 0 : start + 1;
    return plainLine(text.substr(first, end + 1 - first), most);
}

} // namespace cuda_agent
