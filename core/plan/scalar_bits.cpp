// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/scalar_bits.h"

#include <limits>

namespace cuda_agent::plan {

namespace {

template <typename Integer>
ProgramScalar integerBits(double value) {
    using Limits = std::numeric_limits<Integer>;
    Integer integer = 0;
    if (value >= static_cast<double>(Limits::max()))
        integer = Limits::max();
    else if (value <= static_cast<double>(Limits::min()))
        integer = Limits::min();
    else if (!std::isnan(value))
        integer = static_cast<Integer>(value);
    const auto bits = static_cast<std::uint64_t>(integer);
    constexpr int unused = 64 - 8 * static_cast<int>(sizeof(Integer));
    return {bits << unused >> unused, sizeof(Integer)};
}

} // namespace

ProgramScalar elementBits(DType type, double value) {
    switch (type) {
    case DType::float16:
        return {float16Bits(static_cast<float>(value)), 2};
    case DType::bfloat16:
        return {bfloat16Bits(static_cast<float>(value)), 2};
    case DType::float32:
        return {std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4};
    case DType::float64:
        return {std::bit_cast<std::uint64_t>(value), 8};
    case DType::int8:
        return integerBits<std::int8_t>(value);
    case DType::uint8:
        return integerBits<std::uint8_t>(value);
    case DType::int16:
        return integerBits<std::int16_t>(value);
    case DType::int32:
        return integerBits<std::int32_t>(value);
    case DType::int64:
        return integerBits<std::int64_t>(value);
    case DType::boolean:
        break;
    }
    return {value != 0 ? 1u : 0u, 1};
}

} // namespace cuda_agent::plan
