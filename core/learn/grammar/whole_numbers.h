// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cuda_agent::learn {

// A whole number between two others, digit by digit, without leading zeros. What stands of it is 0
// for nothing, or nine times how many digits, three times how they compare with as many of the
// least number's (0 below, 1 the same, 2 above), and likewise with those of the most.

namespace whole_numbers {
inline constexpr std::uint16_t zero = 0xffff; ///< "0" stands, which nothing may follow

struct Stands {
    std::size_t digits;
    unsigned least, most;
};
inline Stands standing(std::uint16_t at) {
    return {at / 9u, at / 3u % 3u, at % 3u};
}
/// Whether numbers of `digits` that begin so lie between the two, some of them.
inline bool fits(const Stands &stands, std::size_t digits, std::string_view least,
                 std::string_view most) {
    return (digits > least.size() || (digits == least.size() && stands.least != 0)) &&
           (digits < most.size() || (digits == most.size() && stands.most != 2));
}
inline unsigned compared(unsigned before, std::string_view with, std::size_t place, char digit) {
    if (before != 1)
        return before;
    if (place >= with.size())
        return 2;
    return digit < with[place] ? 0u : digit > with[place] ? 2u : 1u;
}
} // namespace whole_numbers

/// Whether what stands is a number between `least` and `most`, which are its digits.
inline bool isWholeNumber(std::uint16_t at, std::string_view least, std::string_view most) {
    using namespace whole_numbers;
    const auto stands = standing(at);
    return at == zero || (at != 0 && fits(stands, stands.digits, least, most));
}

/// What stands behind one more digit; nothing where no number begins so.
inline std::optional<std::uint16_t> nextDigit(std::uint16_t at, unsigned char digit,
                                              std::string_view least, std::string_view most) {
    using namespace whole_numbers;
    if (at == zero)
        return std::nullopt;
    if (at == 0 && digit == '0')
        return least == "0" ? std::optional(zero) : std::nullopt;
    auto stands = at == 0 ? Stands{0, 1, 1} : standing(at);
    const auto byte = static_cast<char>(digit);
    stands.least = compared(stands.least, least, stands.digits, byte);
    stands.most = compared(stands.most, most, stands.digits, byte);
    ++stands.digits;
    for (auto length = stands.digits; length <= most.size(); ++length)
        if (fits(stands, length, least, most))
            return static_cast<std::uint16_t>(9 * stands.digits + 3 * stands.least + stands.most);
    return std::nullopt;
}

} // namespace cuda_agent::learn
