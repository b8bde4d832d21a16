// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstdint>

namespace cuda_agent {

/// Of positive numbers.
constexpr std::int64_t ceilDivide(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

/// The quotient rounded down, whatever the signs; `b` is not 0, nor -1 with the least `a`.
constexpr std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// The least power of two that is no less; 1 for what is below.
constexpr std::int64_t powerOfTwo(std::int64_t n) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n < 1 ? 1 : n)));
}

} // namespace cuda_agent
