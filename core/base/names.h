// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace cuda_agent {

/// Characters of names and numbers: ASCII alone, whatever the locale.
constexpr bool isDigit(char c) {
    return c >= '0' && c <= '9';
}
constexpr bool isNameStart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool isNamePart(char c) {
    return isNameStart(c) || isDigit(c);
}

/// Whether C++, Python and plans could take the text as a name; their keywords are not looked for.
constexpr bool isIdentifier(std::string_view text) {
    return !text.empty() && isNameStart(text.front()) && std::ranges::all_of(text, isNamePart);
}

/// The text with '_' for each byte that no name holds. It may be empty or begin with a digit.
inline std::string nameFrom(std::string_view text) {
    std::string name(text);
    std::ranges::replace_if(
        name, [](char c) { return !isNamePart(c); }, '_');
    return name;
}

} // namespace cuda_agent
