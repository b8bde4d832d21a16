// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/byte_alphabet.h"

#include <array>

namespace cuda_agent::learn {

namespace {

struct Alphabet {
    std::array<unsigned, 256> character{}; ///< code point by byte, below 0x144
    std::array<int, 0x144> byte{};         ///< and back; -1: stands for none
    Alphabet() {
        byte.fill(-1);
        unsigned next = 0x100;
        for (unsigned i = 0; i < 256; ++i) {
            const bool itself =
                (i >= 0x21 && i <= 0x7e) || (i >= 0xa1 && i <= 0xac) || (i >= 0xae && i <= 0xff);
            character[i] = itself ? i : next++;
            byte[character[i]] = static_cast<int>(i);
        }
    }
};

const Alphabet &alphabet() {
    static const Alphabet made;
    return made;
}

} // namespace

std::string spelled(std::string_view bytes) {
    std::string spelling;
    spelling.reserve(bytes.size() + bytes.size() / 4);
    for (const char byte : bytes) {
        const unsigned character = alphabet().character[static_cast<unsigned char>(byte)];
        if (character >= 0x80)
            spelling += static_cast<char>(0xc0U | character >> 6);
        spelling += static_cast<char>(character >= 0x80 ? 0x80U | (character & 0x3fU) : character);
    }
    return spelling;
}

std::optional<std::string> unspelled(std::string_view spelling) {
    std::string bytes;
    for (std::size_t i = 0; i < spelling.size(); ++i) {
        unsigned character = static_cast<unsigned char>(spelling[i]);
        if (character >= 0x80) { // all others of the alphabet take two bytes
            if (character < 0xc2 || character > 0xdf || i + 1 == spelling.size())
                return std::nullopt;
            const unsigned second = static_cast<unsigned char>(spelling[++i]);
            if ((second & 0xc0U) != 0x80)
                return std::nullopt;
            character = (character & 0x1fU) << 6 | (second & 0x3fU);
        }
        if (character >= alphabet().byte.size() || alphabet().byte[character] < 0)
            return std::nullopt;
        bytes += static_cast<char>(alphabet().byte[character]);
    }
    return bytes;
}

} // namespace cuda_agent::learn
