// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timing/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace cuda_agent::timing {
namespace {

std::vector<double> draw(std::mt19937 &random, int count, double center, double spread) {
    std::lognormal_distribution<double> distribution(std::log(center), spread);
    std::vector<double> samples(static_cast<std::size_t>(count));
    for (double &sample : samples)
        sample = distribution(random);
    return samples;
}

TEST(Median, OfNoneOneEvenAndOdd) {
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(median(std::vector{7.0}), 7);
    EXPECT_EQ(median(std::vector{9.0, 1.0}), 5);
    EXPECT_EQ(median(std::vector{9.0, 1.0, 2.0}), 2);
}

TEST(Estimate, OfNoSamplesIsZero) {
    const Estimate none = estimate({});
    EXPECT_EQ(none.samples, 0);
    EXPECT_EQ(none.median, 0);
    EXPECT_EQ(none.relativeWidth(), 0);
}

TEST(Estimate, OfOneOrEqualSamplesIsExact) {
    for (const auto &samples : {std::vector{3.5}, std::vector<double>(40, 3.5)}) {
        const Estimate got = estimate(samples);
        EXPECT_EQ(got.median, 3.5);
        EXPECT_EQ(got.low, 3.5);
        EXPECT_EQ(got.high, 3.5);
        EXPECT_EQ(got.samples, static_cast<int>(samples.size()));
    }
}

TEST(Estimate, OfTwoSpansBoth) {
    // A resample of two holds the smaller one twice in a quarter of the cases.
    const Estimate got = estimate(std::vector{2.0, 1.0});
    EXPECT_EQ(got.median, 1.5);
    EXPECT_EQ(got.low, 1.0);
    EXPECT_EQ(got.high, 2.0);
}

TEST(Estimate, MatchesTheExactBootstrapDistribution) {
    // For 19 distinct values the median of a resample is at most the k-th smallest with the
    // probability that at least 10 of 19 draws are among the k smallest:
    // 0.0130 (k = 5), 0.0458 (k = 6), so the 2.5 % quantile is the sixth value, and the 97.5 %
    // one the fourteenth by symmetry.
    std::vector<double> samples(19);
    for (int i = 0; i < 19; ++i)
        samples[static_cast<std::size_t>(i)] = 1 + (i * 7) % 19;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Estimate got = estimate(samples, seed);
        EXPECT_EQ(got.median, 10);
        EXPECT_EQ(got.low, 6) << seed;
        EXPECT_EQ(got.high, 14) << seed;
    }
}

TEST(Estimate, IsTheSameForTheSameSeed) {
    std::mt19937 random(3);
    const auto samples = draw(random, 30, 1, 0.2);
    EXPECT_EQ(estimate(samples, 5).low, estimate(samples, 5).low);
    EXPECT_EQ(estimate(samples, 5).high, estimate(samples, 5).high);
}

TEST(Estimate, CoversTheTrueMedian) {
    std::mt19937 random(17);
    constexpr int experiments = 500;
    int covered = 0;
    for (int i = 0; i < experiments; ++i) {
        const Estimate got = estimate(draw(random, 25, 2.0, 0.1));
        covered += got.low <= 2.0 && 2.0 <= got.high;
        EXPECT_LE(got.low, got.median);
        EXPECT_LE(got.median, got.high);
    }
    // 95 % nominal; the standard error of the count is 1 %.
    EXPECT_GT(covered, experiments * 91 / 100);
    EXPECT_LT(covered, experiments * 99 / 100);
}

TEST(Estimate, NarrowsWithMoreSamples) {
    std::mt19937 random(2);
    const double few = estimate(draw(random, 20, 1, 0.1)).relativeWidth();
    const double many = estimate(draw(random, 2000, 1, 0.1)).relativeWidth();
    EXPECT_LT(many, few / 3);
}

TEST(DifferenceOf, FindsARealOneAndNoOther) {
    std::mt19937 random(23);
    constexpr int experiments = 300;
    int found = 0;
    int imagined = 0;
    int covered = 0;
    for (int i = 0; i < experiments; ++i) {
        const auto a = draw(random, 30, 0.95, 0.02);
        const auto b = draw(random, 30, 1.0, 0.02);
        const auto c = draw(random, 30, 1.0, 0.02);
        const Difference real = difference(a, b);
        found += real.significant() && real.relative < 0;
        covered += real.low <= -0.05 && -0.05 <= real.high;
        imagined += difference(b, c).significant();
    }
    EXPECT_GT(found, experiments * 99 / 100);
    EXPECT_GT(covered, experiments * 90 / 100);
    EXPECT_LT(imagined, experiments * 9 / 100);
}

TEST(DifferenceOf, NothingIsZero) {
    const Difference none = difference({}, std::vector{1.0});
    EXPECT_EQ(none.relative, 0);
    EXPECT_FALSE(none.significant());
}

} // namespace
} // namespace cuda_agent::timing
