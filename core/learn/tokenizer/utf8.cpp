// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/utf8.h"

#include <cstdint>
#include <cstring>

namespace cuda_agent::learn {

namespace {

unsigned at(std::string_view text, std::size_t index) {
    return static_cast<unsigned char>(text[index]);
}

/// The character of the `length` bytes (1 to 4) at the start of `text`.
char32_t decoded(std::string_view text, std::size_t length) {
    if (length == 1)
        return at(text, 0);
    char32_t character = at(text, 0) & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i)
        character = character << 6 | (at(text, i) & 0x3fU);
    return character;
}

bool isSpace(char32_t c) {
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

} // namespace

std::size_t characterLength(std::string_view text) {
    if (text.empty())
        return 0;
    const unsigned first = at(text, 0);
    if (first < 0x80)
        return 1;
    // RFC 3629, section 4: what the second byte may be depends on the first.
    std::size_t length = 0;
    unsigned low = 0x80;
    unsigned high = 0xbf;
    if (first >= 0xc2 && first <= 0xdf)
        length = 2;
    else if (first >= 0xe0 && first <= 0xef) {
        length = 3;
        if (first == 0xe0)
            low = 0xa0;
        else if (first == 0xed)
            high = 0x9f;
    } else if (first >= 0xf0 && first <= 0xf4) {
        length = 4;
        if (first == 0xf0)
            low = 0x90;
        else if (first == 0xf4)
            high = 0x8f;
    } else
        return 0;
    if (text.size() < length || at(text, 1) < low || at(text, 1) > high)
        return 0;
    for (std::size_t i = 2; i < length; ++i)
        if ((at(text, i) & 0xc0U) != 0x80)
            return 0;
    return length;
}

Run firstRun(std::string_view text) {
    const bool characters = characterLength(text) > 0;
    std::size_t end = 0;
    while (end < text.size()) {
        std::uint64_t eight = 0; // mostly ASCII: eight bytes at a time
        while (characters && text.size() - end >= 8) {
            std::memcpy(&eight, text.data() + end, 8);
            if (eight & 0x8080808080808080U)
                break;
            end += 8;
        }
        if (end == text.size())
            break;
        const auto length = characterLength(text.substr(end));
        if ((length > 0) != characters)
            break;
        end += characters ? length : 1;
    }
    return {text.substr(0, end), characters};
}

std::size_t leadingSpace(std::string_view text) {
    std::size_t end = 0;
    while (const auto length = characterLength(text.substr(end))) {
        if (!isSpace(decoded(text.substr(end), length)))
            break;
        end += length;
    }
    return end;
}

std::size_t trailingSpace(std::string_view text) {
    std::size_t start = text.size();
    while (start > 0) {
        std::size_t length = 1; // back to the first byte of the character
        while (length < 4 && length < start && (at(text, start - length) & 0xc0U) == 0x80)
            ++length;
        const auto character = text.substr(start - length, length);
        if (characterLength(character) != length || !isSpace(decoded(character, length)))
            break;
        start -= length;
    }
    return text.size() - start;
}

} // namespace cuda_agent::learn
