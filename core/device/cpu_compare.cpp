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

void addFloating(Part &part, std::int64_t index, double got, double expected) {
    if (std::bit_cast<std::uint64_t>(expected) == unconstrainedBits) {
        ++part.stats.unconstrained;
        return;
    }
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

void addInteger(Part &part, std::int64_t index, std::int64_t got, std::int64_t expected) {
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

/// Elements looked at together.
constexpr std::int64_t group = 256;
/// Two elements: a width that every x86-64 and aarch64 processor has, so that comparisons, too, are
/// one instruction.
typedef double Pair __attribute__((vector_size(16)));
typedef std::int64_t Bits __attribute__((vector_size(16)));

/// Sums over a chunk, one of four independent lanes of pairs, which hide the latency of adding.
struct Lane {
    Pair errorSquared{};
    Pair oracleSquared{};
    Pair maxOracle{};
    Pair maxError{}; ///< of the group at hand
    Bits strange{};  ///< not zero when a value of the group is not finite

    void add(const double *got, const double *expected) {
        Pair a, b;
        std::memcpy(&a, got, sizeof a);
        std::memcpy(&b, expected, sizeof b);
        const Bits magnitude = Bits{} + std::numeric_limits<std::int64_t>::max();
        const Pair difference = a - b;
        const Pair error = (Pair)((Bits)difference & magnitude);
        const Pair oracle = (Pair)((Bits)b & magnitude);
        // x - x is +0 for a finite x, else NaN.
        strange |= (Bits)(a - a) | (Bits)(b - b);
        errorSquared += difference * difference;
        oracleSquared += b * b;
        maxError = error > maxError ? error : maxError;
        maxOracle = oracle > maxOracle ? oracle : maxOracle;
    }
    double largestError() const { return std::max(maxError[0], maxError[1]); }
};

struct LaneSums {
    Lane lanes[4];

    void addTo(ErrorStats &stats) const {
        for (const auto &lane : lanes) {
            stats.errorSquared += lane.errorSquared[0] + lane.errorSquared[1];
            stats.oracleSquared += lane.oracleSquared[0] + lane.oracleSquared[1];
            stats.maxOracle = std::max({stats.maxOracle, lane.maxOracle[0], lane.maxOracle[1]});
        }
    }
};

/// One group without branches. False when a value is not finite: then nothing was added.
bool addFiniteGroup(Part &part, LaneSums &sums, std::int64_t index, const double *got,
                    const double *expected) {
    // Four variables, since an array of them would live in memory.
    Lane a = sums.lanes[0], b = sums.lanes[1], c = sums.lanes[2], d = sums.lanes[3];
    a.maxError = b.maxError = c.maxError = d.maxError = Pair{};
    for (std::int64_t i = 0; i < group; i += 8) {
        a.add(got + i, expected + i);
        b.add(got + i + 2, expected + i + 2);
        c.add(got + i + 4, expected + i + 4);
        d.add(got + i + 6, expected + i + 6);
    }
    const Bits strange = a.strange | b.strange | c.strange | d.strange;
    if ((strange[0] | strange[1]) != 0)
        return false;
    const double size =
        std::max({a.largestError(), b.largestError(), c.largestError(), d.largestError()});
    sums = {{a, b, c, d}};
    if (size > part.stats.maxError) {
        std::int64_t i = 0;
        while (std::abs(got[i] - expected[i]) != size)
            ++i;
        part.error(index + i, expected[i], got[i], size);
    }
    return true;
}

/// Calls `add(flat index, element offset, count, step)` for the pieces of [first, last) in
/// row-major order that lie along the innermost dimension.
template <typename Add>
void forRuns(const Shape &shape, const Shape &strides, std::int64_t first, std::int64_t last,
             Add add) {
    const auto inner = shape.back();
    for (std::int64_t index = first; index < last;) {
        std::int64_t rest = index / inner;
        const std::int64_t column = index % inner;
        std::int64_t offset = column * strides.back();
        for (std::size_t i = shape.size() - 1; i-- > 0;) {
            offset += rest % shape[i] * strides[i];
            rest /= shape[i];
        }
        const auto run = std::min(inner - column, last - index);
        add(index, offset, run, strides.back());
        index += run;
    }
}

/// Copies converted elements out of memory that may change meanwhile; each is read once.
template <typename T, typename Value, typename Convert>
void gather(Value *values, const std::byte *base, std::int64_t offset, std::int64_t step,
            std::int64_t count, Convert convert) {
    base += offset * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) {
        T bits;
        std::memcpy(&bits, base + i * step * static_cast<std::int64_t>(sizeof(T)), sizeof bits);
        values[i] = convert(bits);
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

ErrorStats finished(const std::vector<Part> &parts, std::int64_t elements) {
    Part sum;
    for (const auto &part : parts)
        merge(sum, part);
    auto stats = sum.stats;
    stats.elements = elements;
    if (stats.maxErrorIndex < 0)
        stats.maxError = 0;
    const bool mismatch = stats.firstMismatch >= 0;
    stats.expected = mismatch ? sum.mismatchExpected : sum.errorExpected;
    stats.got = mismatch ? sum.mismatchGot : sum.errorGot;
    return stats;
}

/// Everything about the two tensors but their types.
struct Sides {
    Crew &crew;
    const std::byte *candidate;
    const Shape &shape;
    const Shape &strides;
    const std::byte *oracle;
    std::int64_t elements;
};

/// Runs `addGroup(part, sums, flat index, got, expected, count)` over everything; Wide is the
/// oracle's element type.
template <typename T, typename Wide, typename Convert, typename AddGroup>
ErrorStats overGroups(const Sides &sides, Convert convert, AddGroup addGroup) {
    std::vector<Part> parts(static_cast<std::size_t>((sides.elements + chunk - 1) / chunk));
    sides.crew.run(static_cast<std::int64_t>(parts.size()), [&](std::int64_t i) {
        Part part;
        LaneSums sums;
        const auto last = std::min(sides.elements, (i + 1) * chunk);
        forRuns(sides.shape, sides.strides, i * chunk, last,
                [&](std::int64_t index, std::int64_t offset, std::int64_t run, std::int64_t step) {
                    for (std::int64_t at = 0; at < run; at += group) {
                        Wide got[group], expected[group];
                        const auto count = std::min(group, run - at);
                        gather<T>(got, sides.candidate, offset + at * step, step, count, convert);
                        std::memcpy(expected, sides.oracle + (index + at) * 8,
                                    static_cast<std::size_t>(count) * 8);
                        addGroup(part, sums, index + at, got, expected, count);
                    }
                });
        sums.addTo(part.stats);
        parts[static_cast<std::size_t>(i)] = part;
    });
    return finished(parts, sides.elements);
}

template <typename T, typename Convert>
ErrorStats compareFloating(const Sides &sides, Convert convert) {
    return overGroups<T, double>(sides, convert,
                                 [](Part &part, LaneSums &sums, std::int64_t index,
                                    const double *got, const double *expected, std::int64_t count) {
                                     if (count == group &&
                                         addFiniteGroup(part, sums, index, got, expected))
                                         return;
                                     for (std::int64_t i = 0; i < count; ++i)
                                         addFloating(part, index + i, got[i], expected[i]);
                                 });
}

template <typename T>
ErrorStats compareInteger(const Sides &sides) {
    return overGroups<T, std::int64_t>(
        sides, [](T value) { return static_cast<std::int64_t>(value); },
        [](Part &part, LaneSums &, std::int64_t index, const std::int64_t *got,
           const std::int64_t *expected, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i)
                addInteger(part, index + i, got[i], expected[i]);
        });
}

} // namespace

ErrorStats compareTensors(Crew &crew, const void *candidate, DType dtype, const Shape &shape,
                          const Shape &strides, const void *oracle) {
    std::int64_t elements = 1;
    for (const auto size : shape)
        elements *= size;
    const Sides sides{crew,    static_cast<const std::byte *>(candidate), shape,
                      strides, static_cast<const std::byte *>(oracle),    elements};
    switch (dtype) {
    case DType::float16:
        return compareFloating<std::uint16_t>(sides, fromHalf);
    case DType::bfloat16:
        return compareFloating<std::uint16_t>(sides, fromBfloat);
    case DType::float32:
        return compareFloating<float>(sides, [](float value) -> double { return value; });
    case DType::float64:
        return compareFloating<double>(sides, [](double value) { return value; });
    case DType::int8:
        return compareInteger<std::int8_t>(sides);
    case DType::uint8:
    case DType::boolean: // a byte other than 0 and 1 is no boolean and matches neither
        return compareInteger<std::uint8_t>(sides);
    case DType::int16:
        return compareInteger<std::int16_t>(sides);
    case DType::int32:
        return compareInteger<std::int32_t>(sides);
    case DType::int64:
        return compareInteger<std::int64_t>(sides);
    }
    return {};
}

} // namespace cuda_agent::device
