// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/program.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace cuda_agent::plan {

/// Round to nearest even; NaN stays a quiet NaN.
inline std::uint16_t bfloat16Bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Round to nearest even; too large becomes infinity; NaN stays a quiet NaN.
inline std::uint16_t float16Bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    const float magnitude = std::fabs(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 65520.0f) // halfway from the largest half to the next power
        return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x1p-14f) // subnormal: a multiple of 2^-24
        return static_cast<std::uint16_t>(
            sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24f)));
    const std::uint32_t rebased = (bits & 0x7fffffffu) - (112u << 23);
    return static_cast<std::uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

/// One element of that type; integers are rounded towards zero and saturate.
ProgramScalar elementBits(DType type, double value);

} // namespace cuda_agent::plan
