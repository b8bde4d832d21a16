// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/cpu_library.h"
#include "core/plan/scalar_bits.h"

#include <cstring>

namespace cuda_agent::plan::runner {

namespace {

float halfToFloat(std::uint16_t half) {
    const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
    const std::uint32_t exponent = (half >> 10) & 31u;
    const std::uint32_t mantissa = half & 0x3ffu;
    if (exponent == 0) { // zero or subnormal: mantissa * 2^-24
        const float value = static_cast<float>(mantissa) * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    const std::uint32_t bits = exponent == 31 ? sign | 0x7f800000u | (mantissa << 13)
                                              : sign | ((exponent + 112u) << 23) | (mantissa << 13);
    return std::bit_cast<float>(bits);
}

} // namespace

void toFloat(const std::byte *from, DType type, float *to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint16_t bits;
        std::memcpy(&bits, from + 2 * i, 2);
        to[i] = type == DType::bfloat16 ? std::bit_cast<float>(std::uint32_t{bits} << 16)
                                        : halfToFloat(bits);
    }
}

void fromFloat(const float *from, std::byte *to, DType type, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint16_t bits =
            type == DType::bfloat16 ? bfloat16Bits(from[i]) : float16Bits(from[i]);
        std::memcpy(to + 2 * i, &bits, 2);
    }
}

} // namespace cuda_agent::plan::runner
