// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace cuda_agent::learn {

// Well-formed UTF-8 (Unicode, table 3-7) byte by byte. What is missing of a character is 0,
// nothing; 1 to 3, so many bytes of any kind; or a second byte of fewer kinds: 4 behind E0, 5
// behind ED, 6 behind F0, 7 behind F4.

/// What is missing behind one more byte; nothing where it may not come.
inline std::optional<std::uint8_t> nextInCharacter(std::uint8_t missing, unsigned char byte) {
    const auto between = [&](unsigned low, unsigned high, std::uint8_t then) {
        return byte >= low && byte <= high ? std::optional(then) : std::nullopt;
    };
    switch (missing) {
    case 1:
        return between(0x80, 0xbf, 0);
    case 2:
        return between(0x80, 0xbf, 1);
    case 3:
        return between(0x80, 0xbf, 2);
    case 4:
        return between(0xa0, 0xbf, 1);
    case 5:
        return between(0x80, 0x9f, 1);
    case 6:
        return between(0x90, 0xbf, 2);
    case 7:
        return between(0x80, 0x8f, 2);
    default:
        break;
    }
    if (byte < 0x80)
        return std::uint8_t{0};
    if (byte < 0xc2 || byte > 0xf4)
        return std::nullopt;
    if (byte < 0xe0)
        return std::uint8_t{1};
    if (byte < 0xf0)
        return std::uint8_t(byte == 0xe0 ? 4 : byte == 0xed ? 5 : 2);
    return std::uint8_t(byte == 0xf0 ? 6 : byte == 0xf4 ? 7 : 3);
}

/// A byte that may come where something is missing.
inline unsigned char anyMissingByte(std::uint8_t missing) {
    return missing == 4 ? 0xa0 : missing == 6 ? 0x90 : 0x80;
}

} // namespace cuda_agent::learn
