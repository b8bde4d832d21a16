// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/device.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Compare : public testing::Test {
  protected:
    void SetUp() override {
        auto opened = openCpu();
        ASSERT_TRUE(opened);
        device_ = std::move(*opened);
    }

    template <typename T>
    Memory store(const std::vector<T> &values, std::uint64_t offset = 0) {
        auto memory = device_->allocate(offset + values.size() * sizeof(T));
        EXPECT_TRUE(memory);
        EXPECT_TRUE(device_->write(*memory, offset, values.data(), values.size() * sizeof(T)));
        return std::move(*memory);
    }

    template <typename T, typename O>
    ErrorStats compare(const std::vector<T> &got, DType dtype, const std::vector<O> &oracle) {
        const auto shape = Shape{static_cast<std::int64_t>(oracle.size())};
        const auto a = store(got);
        const auto b = store(oracle);
        const auto wide = std::is_same_v<O, double> ? DType::float64 : DType::int64;
        auto stats = device_->compare({&a, 0, contiguousType(dtype, shape)},
                                      {&b, 0, contiguousType(wide, shape)});
        EXPECT_TRUE(stats) << stats.error().message;
        return stats.value_or(ErrorStats());
    }

    std::unique_ptr<Device> device_;
};

TEST_F(Compare, SumsErrorsOfFiniteElements) {
    const auto stats =
        compare<float>({1.5f, -2.0f, 4.0f}, DType::float32, std::vector<double>{1.0, -2.0, 4.25});
    EXPECT_EQ(stats.elements, 3);
    EXPECT_DOUBLE_EQ(stats.errorSquared, 0.25 + 0.0625);
    EXPECT_DOUBLE_EQ(stats.oracleSquared, 1 + 4 + 4.25 * 4.25);
    EXPECT_DOUBLE_EQ(stats.maxError, 0.5);
    EXPECT_EQ(stats.maxErrorIndex, 0);
    EXPECT_DOUBLE_EQ(stats.maxOracle, 4.25);
    EXPECT_EQ(stats.firstMismatch, -1);
    EXPECT_DOUBLE_EQ(stats.expected, 1.0);
    EXPECT_DOUBLE_EQ(stats.got, 1.5);
}

TEST_F(Compare, NonFiniteValuesMustMatchByClass) {
    const std::vector<double> classes{1.0, nan, infinity, -infinity};
    for (std::size_t i = 0; i < classes.size(); ++i)
        for (std::size_t j = 0; j < classes.size(); ++j) {
            const auto stats = compare<float>({0.0f, static_cast<float>(classes[i])},
                                              DType::float32, std::vector<double>{0.0, classes[j]});
            EXPECT_EQ(stats.nonFiniteMismatches, i == j ? 0 : 1) << i << " " << j;
            EXPECT_EQ(stats.firstMismatch, i == j ? -1 : 1);
            EXPECT_EQ(stats.errorSquared, 0);
        }
}

TEST_F(Compare, UnconstrainedPlacesAcceptAnything) {
    const double open = std::bit_cast<double>(unconstrainedBits);
    auto stats = compare<float>({static_cast<float>(nan), 7.0f, 1.0f}, DType::float32,
                                std::vector<double>{open, open, 1.0});
    EXPECT_EQ(stats.unconstrained, 2);
    EXPECT_EQ(stats.nonFiniteMismatches, 0);
    EXPECT_EQ(stats.maxError, 0);
    EXPECT_EQ(stats.maxErrorIndex, 2);
    stats = compare<std::int64_t>({5, 6}, DType::int64, std::vector<std::int64_t>{INT64_MIN, 6});
    EXPECT_EQ(stats.unconstrained, 1);
    EXPECT_EQ(stats.integerMismatches, 0);
}

TEST_F(Compare, AnotherNanPayloadIsAnOrdinaryNan) {
    const double payload = std::bit_cast<double>(unconstrainedBits + 1);
    EXPECT_EQ(
        compare<float>({1.0f}, DType::float32, std::vector<double>{payload}).nonFiniteMismatches,
        1);
}

TEST_F(Compare, OverflowingErrorIsInfiniteNotLost) {
    const auto stats = compare<double>({1e300}, DType::float64, std::vector<double>{-1e300});
    EXPECT_TRUE(std::isinf(stats.errorSquared));
    EXPECT_DOUBLE_EQ(stats.maxError, 2e300);
}

TEST_F(Compare, ReadsEveryHalf) {
    // The 65536 patterns against values computed from the definition.
    std::vector<std::uint16_t> bits(65536);
    std::vector<double> oracle(65536);
    for (std::uint32_t i = 0; i < 65536; ++i) {
        bits[i] = static_cast<std::uint16_t>(i);
        const int exponent = (i >> 10) & 31;
        const int mantissa = i & 1023;
        double value = exponent == 0    ? std::ldexp(mantissa, -24)
                       : exponent == 31 ? (mantissa ? nan : infinity)
                                        : std::ldexp(1024 + mantissa, exponent - 25);
        oracle[i] = i & 0x8000 ? -value : value;
    }
    auto stats = compare(bits, DType::float16, oracle);
    EXPECT_EQ(stats.nonFiniteMismatches, 0);
    EXPECT_EQ(stats.maxError, 0);
    oracle[1] = 0; // the smallest subnormal must not read as zero
    EXPECT_DOUBLE_EQ(compare(bits, DType::float16, oracle).maxError, 0x1p-24);
}

TEST_F(Compare, ReadsBfloat16) {
    const auto stats =
        compare<std::uint16_t>({0x3f80, 0xc040, 0x7f80, 0x7fc0, 0x0001}, DType::bfloat16,
                               std::vector<double>{1, -3, infinity, nan, 0x1p-133});
    EXPECT_EQ(stats.nonFiniteMismatches, 0);
    EXPECT_EQ(stats.maxError, 0);
}

TEST_F(Compare, IntegersMustBeEqual) {
    const auto check = [&]<typename T>(T, DType dtype) {
        const T low = std::numeric_limits<T>::lowest();
        const auto near = static_cast<std::int64_t>(low) + 1;
        const auto stats = compare<T>({static_cast<T>(near), static_cast<T>(3), static_cast<T>(4)},
                                      dtype, std::vector<std::int64_t>{near, 3, 5});
        EXPECT_EQ(stats.integerMismatches, 1) << nameOf(dtype);
        EXPECT_EQ(stats.firstMismatch, 2);
        EXPECT_EQ(stats.expected, 5);
        EXPECT_EQ(stats.got, 4);
    };
    check(std::int8_t(), DType::int8);
    check(std::uint8_t(), DType::uint8);
    check(std::int16_t(), DType::int16);
    check(std::int32_t(), DType::int32);
    check(std::int64_t(), DType::int64);
}

TEST_F(Compare, AByteThatIsNoBooleanMatchesNothing) {
    const auto stats =
        compare<std::uint8_t>({0, 1, 2, 2}, DType::boolean, std::vector<std::int64_t>{0, 1, 1, 0});
    EXPECT_EQ(stats.integerMismatches, 2);
    EXPECT_EQ(stats.firstMismatch, 2);
}

TEST_F(Compare, FollowsStridesOfTheCandidate) {
    // A transposed 3 x 2 view over rows of 4, starting one element in.
    const auto got = store<float>({9, 1, 2, 3, 9, 4, 5, 6, 9}, 0);
    const auto oracle = store<double>({1, 4, 2, 5, 3, 6.5});
    TensorType type{DType::float32, {3, 2}, {1, 4}};
    const auto stats =
        device_->compare({&got, 4, type}, {&oracle, 0, contiguousType(DType::float64, {3, 2})});
    ASSERT_TRUE(stats);
    EXPECT_DOUBLE_EQ(stats->maxError, 0.5);
    EXPECT_EQ(stats->maxErrorIndex, 5);
}

TEST_F(Compare, RefusesViewsOutsideTheirMemory) {
    const auto got = store<float>({1, 2, 3, 4});
    const auto oracle = store<double>({1, 2, 3, 4});
    const auto wide = contiguousType(DType::float64, {4});
    const auto refused = [&](TensorView view) {
        return !device_->compare(view, {&oracle, 0, wide}).has_value();
    };
    EXPECT_FALSE(refused({&got, 0, contiguousType(DType::float32, {4})}));
    EXPECT_TRUE(refused({&got, 4, contiguousType(DType::float32, {4})}));
    EXPECT_TRUE(refused({&got, 0, {DType::float32, {4}, {2}}}));
    EXPECT_TRUE(refused({&got, 0, {DType::float32, {4}, {-1}}}));
    EXPECT_TRUE(refused({&got, 0, {DType::float32, {4}, {INT64_MAX}}}));
    EXPECT_TRUE(refused({&got, 0, contiguousType(DType::float32, {2, 2})}));
    EXPECT_TRUE(refused({&got, 0, contiguousType(DType::int32, {4})}));
    EXPECT_TRUE(refused({&got, 1, contiguousType(DType::int8, {4})}));
}

TEST_F(Compare, LargeTensorsGiveTheSmallestIndexAndTheSameSumsEachTime) {
    std::vector<float> got(3'000'001);
    std::vector<double> oracle(got.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        oracle[i] = std::sin(static_cast<double>(i));
        got[i] = static_cast<float>(oracle[i]);
    }
    got[2'999'999] = static_cast<float>(nan);
    got[1'234'567] = static_cast<float>(nan);
    got[2'000'000] += 1;
    const auto first = compare(got, DType::float32, oracle);
    EXPECT_EQ(first.nonFiniteMismatches, 2);
    EXPECT_EQ(first.firstMismatch, 1'234'567);
    EXPECT_EQ(first.maxErrorIndex, 2'000'000);
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(compare(got, DType::float32, oracle).errorSquared, first.errorSquared);
}

TEST_F(Compare, EmptyTensorsAgree) {
    const auto got = store<float>({1});
    const auto stats = device_->compare({&got, 0, contiguousType(DType::float32, {0, 3})},
                                        {&got, 0, contiguousType(DType::float64, {0, 3})});
    ASSERT_TRUE(stats);
    EXPECT_EQ(stats->elements, 0);
    EXPECT_EQ(stats->maxErrorIndex, -1);
}

} // namespace
