// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "fakes.h"

#include <gtest/gtest.h>

namespace cuda_agent::timing {
namespace {

constexpr std::uint64_t taskBytes = 64 << 20;

class Ab : public testing::Test {
  protected:
    Result<AbResult> measure(const Protocol &protocol = fullProtocol(), std::stop_token stop = {}) {
        return measureAb(a, b, device, {0}, taskBytes, protocol, stop, time.clock());
    }

    FakeTime time;
    FakeDevice device;
    FakeCandidate a{time};
    FakeCandidate b{time};
};

TEST_F(Ab, FindsADifferenceThatDriftWouldHide) {
    // The machine slows down steadily, by half within the measurement, which no yardstick of a
    // copy shows; a is 3 % faster.
    const auto drift = [this] { return 1 + (time.now - 100) / 2; };
    auto noiseA = noisy(0.97e-3, 0.01, 1);
    auto noiseB = noisy(1e-3, 0.01, 2);
    a.real = [&] { return noiseA() * drift(); };
    b.real = [&] { return noiseB() * drift(); };
    const auto result = measure();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_NEAR(result->difference.relative, -0.03, 0.01);
    EXPECT_TRUE(result->difference.significant());
    EXPECT_LT(result->difference.high, 0);
    EXPECT_LT(result->difference.high - result->difference.low, 0.03);
    EXPECT_GE(result->rounds, 6);
    EXPECT_GT(result->a.samples.size(), 10u);
    EXPECT_EQ(result->a.samples.size(), result->b.samples.size());
    EXPECT_LT(result->a.estimate.median, result->b.estimate.median);
    EXPECT_GT(result->a.hostSecondsPerCall, 0);
}

TEST_F(Ab, EqualOnesDoNotDiffer) {
    int imagined = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        a.real = noisy(1e-3, 0.05, 2 * seed);
        b.real = noisy(1e-3, 0.05, 2 * seed + 1);
        const auto result = measure();
        ASSERT_TRUE(result);
        imagined += result->difference.significant();
        EXPECT_LE(result->difference.low, result->difference.relative);
        EXPECT_LE(result->difference.relative, result->difference.high);
    }
    EXPECT_LE(imagined, 6); // 95 % intervals
}

TEST_F(Ab, TheOrderWithinARoundIsABBA) {
    std::string order;
    a.onRequest = [&](std::size_t) -> Result<void> {
        order += 'a';
        return {};
    };
    b.onRequest = [&](std::size_t) -> Result<void> {
        order += 'b';
        return {};
    };
    ASSERT_TRUE(measure());
    EXPECT_EQ(order.substr(0, 10), "ababbaabba"); // one warm-up each first
}

TEST_F(Ab, ThrottledRoundsDoNotCount) {
    // While the machine is slow, a suffers more than b.
    int copies = 0;
    const auto slow = [&] { return copies % 4 == 2; };
    device.yardstick = [&]() -> Result<double> {
        ++copies;
        return slow() || copies % 4 == 3 ? 4e-3 : 2e-3;
    };
    a.real = [&] { return slow() ? 3e-3 : 1e-3; };
    b.real = [&] { return slow() ? 1.5e-3 : 1e-3; };
    Protocol protocol = fullProtocol();
    protocol.targetRelativeWidth = 1e-9;
    const auto result = measure(protocol);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->difference.relative, 0);
    EXPECT_EQ(result->difference.low, 0);
    EXPECT_EQ(result->difference.high, 0);
}

TEST_F(Ab, ManyDifferencesEndAtTheBudget) {
    a.real = noisy(5e-3, 0.6, 1);
    b.real = noisy(5e-3, 0.6, 2);
    Protocol protocol = fullProtocol();
    protocol.maximumSamples = 1'000'000;
    protocol.budgetSeconds = 1;
    // Few samples a batch, although the most is far away.
    const double start = time.now;
    const auto result = measure(protocol);
    ASSERT_TRUE(result);
    EXPECT_LT(time.now - start, 20);
}

TEST_F(Ab, AFaultOfEitherIsPassedOn) {
    for (FakeCandidate *which : {&a, &b}) {
        a.onRequest = b.onRequest = nullptr;
        which->requests.clear();
        which->onRequest = [](std::size_t number) -> Result<void> {
            if (number == 3)
                return failedError("it hung");
            return {};
        };
        const auto result = measure();
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().kind, ErrorKind::failed);
    }
}

TEST_F(Ab, CanBeStopped) {
    std::stop_source source;
    b.onRequest = [&](std::size_t number) -> Result<void> {
        if (number == 4)
            source.request_stop();
        return {};
    };
    const auto result = measure(fullProtocol(), source.get_token());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::stopped);
    EXPECT_EQ(b.requests.size(), 4u);
}

TEST_F(Ab, LiesAreFlaggedOnTheSideThatLies) {
    b.claim = [](double seconds, bool) { return seconds / 5; };
    const auto result = measure();
    ASSERT_TRUE(result);
    EXPECT_FALSE(hasFlag(result->a.flags, "host clock disagrees"));
    EXPECT_TRUE(hasFlag(result->b.flags, "host clock disagrees"));
}

TEST_F(Ab, AMachineThatBecomesSlowerAccusesNobody) {
    // Another program takes a core between the rounds and what is compared with them.
    a.real = [&] { return a.requests.size() < 14 ? 1e-3 : 5e-3; };
    b.real = [&] { return a.requests.size() < 14 ? 2e-3 : 10e-3; };
    const auto result = measure();
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->a.flags.empty()) << result->a.flags[0];
    EXPECT_TRUE(result->b.flags.empty()) << result->b.flags[0];
    EXPECT_EQ(result->a.estimate.median, 5e-3);
    EXPECT_NEAR(result->difference.relative, -0.5, 1e-9);
}

TEST(Compare, UsesTheSamplesOfBoth) {
    CandidateTimes a;
    CandidateTimes b;
    a.samples = {0.9, 0.91, 0.92, 0.9, 0.91};
    b.samples = {1.0, 1.01, 1.02, 1.0, 1.01};
    const Difference got = compare(a, b);
    EXPECT_NEAR(got.relative, 0.91 / 1.01 - 1, 1e-12);
    EXPECT_TRUE(got.significant());
    EXPECT_LT(got.high, 0);
}

} // namespace
} // namespace cuda_agent::timing
