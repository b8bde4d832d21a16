// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cpu_kernels.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace cuda_agent::device {

namespace {

constexpr std::int64_t chunk = 1 << 15; ///< elements; fixed, so that sums do not depend on threads

double fromHalf(std::uint16_t bits) {
    // Exponent and mantissa moved into place are 2^112 too small, subnormals included.
    const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
    float value = std::bit_cast<float>(magnitude) * 0x1p112f;
    if ((bits & 0x7c00u) == 0x7c00u)
        value = std::bit_cast<float>(magnitude | 0x7f800000u);
    return (bits & 0x8000u) != 0 ? -value : value;
}

double fromBfloat(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

enum class Class { finite, nan, plusInfinity, minusInfinity };

Class classOf(double value) {
    if (std::isfinite(value))
        return Class::finite;
    if (std::isnan(value))
        return Class::nan;
    return value > 0 ? Class::plusInfinity : Class::minusInfinity;
}

/// What one chunk adds. `maxError` is negative while no finite element was seen.
struct Part {
    ErrorStats stats;
    double mismatchExpected = 0;
    double mismatchGot = 0;
    double errorExpected = 0;
    double errorGot = 0;

    Part() { stats.maxError = -1; }
    void mismatch(std::int64_t index, double expected, double got) {
        if (stats.firstMismatch >= 0)
            return;
        stats.firstMismatch = index;
        mismatchExpected = expected;
        mismatchGot = got;
    }
    void error(std::int64_t index, double expected, double got, double size) {
        if (!(size > stats.maxError))
            return;
        stats.maxError = size;
        stats.maxErrorIndex = index;
        errorExpected = expected;
        errorGot = got;
    }
};

void addFloating(Part &part, std::int64_t index, double got, const void *oracle) {
    std::uint64_t bits;
    std::memcpy(&bits, static_cast<const std::uint64_t *>(oracle) + index, sizeof bits);
    if (bits == unconstrainedBits) {
        ++part.stats.unconstrained;
        return;
    }
    const double expected = std::bit_cast<double>(bits);
    const auto kind = classOf(expected);
    if (kind != classOf(got)) {
        ++part.stats.nonFiniteMismatches;
        part.mismatch(index, expected, got);
        return;
    }
    if (kind != Class::finite)
        return;
    const double difference = got - expected;
    part.stats.errorSquared += difference * difference;
    part.stats.oracleSquared += expected * expected;
    part.stats.maxOracle = std::max(part.stats.maxOracle, std::abs(expected));
    part.error(index, expected, got, std::abs(difference));
}

void addInteger(Part &part, std::int64_t index, std::int64_t got, const void *oracle) {
    std::int64_t expected;
    std::memcpy(&expected, static_cast<const std::int64_t *>(oracle) + index, sizeof expected);
    if (expected == std::numeric_limits<std::int64_t>::min()) {
        ++part.stats.unconstrained;
        return;
    }
    const auto wanted = static_cast<double>(expected);
    const auto value = static_cast<double>(got);
    if (expected != got) {
        ++part.stats.integerMismatches;
        part.mismatch(index, wanted, value);
    }
    part.stats.maxOracle = std::max(part.stats.maxOracle, std::abs(wanted));
    part.error(index, wanted, value, std::abs(value - wanted));
}

template <typename T, typename Value>
Value load(const std::byte *base, std::int64_t element, Value (*convert)(T)) {
    T bits;
    std::memcpy(&bits, base + element * static_cast<std::int64_t>(sizeof(T)), sizeof bits);
    return convert(bits);
}

/// Adds elements [first, last) in row-major order; `add` gets (flat index, element offset).
template <typename Add>
void forElements(const Shape &shape, const Shape &strides, std::int64_t first, std::int64_t last,
                 Add add) {
    const auto inner = shape.back();
    const auto step = strides.back();
    for (std::int64_t index = first; index < last;) {
        std::int64_t rest = index / inner;
        const std::int64_t column = index % inner;
        std::int64_t offset = column * step;
        for (std::size_t i = shape.size() - 1; i-- > 0;) {
            offset += rest % shape[i] * strides[i];
            rest /= shape[i];
        }
        const auto run = std::min(inner - column, last - index);
        for (std::int64_t i = 0; i < run; ++i)
            add(index + i, offset + i * step);
        index += run;
    }
}

void merge(Part &total, const Part &part) {
    auto &to = total.stats;
    const auto &from = part.stats;
    to.unconstrained += from.unconstrained;
    to.nonFiniteMismatches += from.nonFiniteMismatches;
    to.integerMismatches += from.integerMismatches;
    to.errorSquared += from.errorSquared;
    to.oracleSquared += from.oracleSquared;
    to.maxOracle = std::max(to.maxOracle, from.maxOracle);
    if (from.firstMismatch >= 0)
        total.mismatch(from.firstMismatch, part.mismatchExpected, part.mismatchGot);
    if (from.maxErrorIndex >= 0)
        total.error(from.maxErrorIndex, part.errorExpected, part.errorGot, from.maxError);
}

template <typename AddChunk>
ErrorStats overChunks(Crew &crew, std::int64_t elements, AddChunk addChunk) {
    std::vector<Part> parts(static_cast<std::size_t>((elements + chunk - 1) / chunk));
    crew.run(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
        addChunk(parts[static_cast<std::size_t>(i)], i * chunk,
                 std::min(elements, (i + 1) * chunk));
    });
    Part total;
    for (const auto &part : parts)
        merge(total, part);
    auto stats = total.stats;
    stats.elements = elements;
    if (stats.maxErrorIndex < 0)
        stats.maxError = 0;
    const bool mismatch = stats.firstMismatch >= 0;
    stats.expected = mismatch ? total.mismatchExpected : total.errorExpected;
    stats.got = mismatch ? total.mismatchGot : total.errorGot;
    return stats;
}

} // namespace

ErrorStats compareTensors(Crew &crew, const void *candidate, DType dtype, const Shape &shape,
                          const Shape &strides, const void *oracle) {
    std::int64_t elements = 1;
    for (const auto size : shape)
        elements *= size;
    const auto *base = static_cast<const std::byte *>(candidate);
    const auto floating = [&]<typename T>(double (*convert)(T)) {
        return overChunks(crew, elements, [&](Part &part, std::int64_t first, std::int64_t last) {
            forElements(shape, strides, first, last, [&](std::int64_t index, std::int64_t element) {
                addFloating(part, index, load<T, double>(base, element, convert), oracle);
            });
        });
    };
    const auto integer = [&]<typename T>(T) {
        return overChunks(crew, elements, [&](Part &part, std::int64_t first, std::int64_t last) {
            forElements(shape, strides, first, last, [&](std::int64_t index, std::int64_t element) {
                constexpr auto convert = +[](T value) { return static_cast<std::int64_t>(value); };
                addInteger(part, index, load<T, std::int64_t>(base, element, convert), oracle);
            });
        });
    };
    switch (dtype) {
    case DType::float16:
        return floating(&fromHalf);
    case DType::bfloat16:
        return floating(&fromBfloat);
    case DType::float32:
        return floating(+[](float value) { return static_cast<double>(value); });
    case DType::float64:
        return floating(+[](double value) { return value; });
    case DType::int8:
        return integer(std::int8_t());
    case DType::uint8:
    case DType::boolean: // a byte other than 0 and 1 is no boolean and matches neither
        return integer(std::uint8_t());
    case DType::int16:
        return integer(std::int16_t());
    case DType::int32:
        return integer(std::int32_t());
    case DType::int64:
        return integer(std::int64_t());
    }
    return {};
}

} // namespace cuda_agent::device
