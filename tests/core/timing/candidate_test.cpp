// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "fakes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cuda_agent::timing {
namespace {

constexpr std::uint64_t taskBytes = 64 << 20;

class Candidate : public testing::Test {
  protected:
    Result<CandidateTimes> measure(const Protocol &protocol = fullProtocol(),
                                   std::stop_token stop = {}) {
        return measureCandidate(candidate, device, {4, 7}, taskBytes, protocol, stop, time.clock());
    }
    CandidateTimes mustMeasure(const Protocol &protocol = fullProtocol()) {
        auto times = measure(protocol);
        EXPECT_TRUE(times) << times.error().message;
        return times ? *times : CandidateTimes();
    }
    /// Yardsticks in order after the warm-up; the last one for ever.
    void script(std::vector<double> yardsticks) {
        yardsticks.insert(yardsticks.begin(), 1.0);
        device.yardstick = [yardsticks, at = std::size_t{0}]() mutable -> Result<double> {
            return yardsticks[std::min(at++, yardsticks.size() - 1)];
        };
    }

    FakeTime time;
    FakeDevice device;
    FakeCandidate candidate{time};
};

TEST_F(Candidate, SteadyCallsNeedTheFewestSamples) {
    const CandidateTimes times = mustMeasure();
    EXPECT_EQ(times.estimate.median, 1e-3);
    EXPECT_EQ(times.estimate.samples, 20);
    EXPECT_EQ(times.samples.size(), 20u);
    EXPECT_TRUE(times.flags.empty()) << times.flags[0];
    EXPECT_NEAR(times.hostSecondsPerCall, 1e-3, 0.1e-3);
    EXPECT_EQ(times.yardstickSeconds, 2e-3);
    EXPECT_EQ(device.copiedBytes, taskBytes);
}

TEST_F(Candidate, SamplesAreColdAndRotateOverTheSets) {
    mustMeasure();
    ASSERT_GE(candidate.requests.size(), 4u);
    for (const auto &request : candidate.requests)
        EXPECT_EQ(request.sets, (std::vector{4, 7}));
    for (std::size_t i = 1; i + 1 < candidate.requests.size(); ++i) {
        EXPECT_TRUE(candidate.requests[i].flushCache);
        EXPECT_GE(candidate.requests[i].warmup, 1);
        EXPECT_EQ(candidate.requests[i].minimumSampleSeconds, 0);
    }
    EXPECT_FALSE(candidate.requests.back().flushCache);
}

TEST_F(Candidate, ShortCallsRepeatWithinASampleOnTheCpu) {
    FakeDevice cpu(device::Kind::cpu);
    candidate.real = [] { return 20e-6; };
    const auto times =
        measureCandidate(candidate, cpu, {0}, taskBytes, trainingProtocol(), {}, time.clock());
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_EQ(candidate.requests[1].minimumSampleSeconds, 5e-3);
    EXPECT_FALSE(candidate.requests[1].flushCache); // PyTorch's samples are not flushed there
    EXPECT_EQ(times->estimate.median, 20e-6);
    EXPECT_TRUE(times->flags.empty()) << times->flags[0];
}

TEST_F(Candidate, NoisyCallsTakeMoreSamplesUpToTheMost) {
    candidate.real = noisy(1e-3, 0.02);
    const auto little = mustMeasure().samples.size();
    candidate.real = noisy(1e-3, 0.5);
    const CandidateTimes much = mustMeasure();
    EXPECT_LT(little, much.samples.size());
    EXPECT_EQ(much.samples.size(), 200u);
    EXPECT_GT(much.estimate.relativeWidth(), 0.02);
    EXPECT_LT(much.estimate.low, 1e-3);
    EXPECT_GT(much.estimate.high, 1e-3);
}

TEST_F(Candidate, TheBudgetEndsIt) {
    candidate.real = noisy(20e-3, 0.5);
    const double start = time.now;
    const CandidateTimes times = mustMeasure(trainingProtocol());
    EXPECT_LT(time.now - start, 0.5 + 0.3); // warm-up and corroboration are outside
    EXPECT_GE(times.samples.size(), 10u);
    EXPECT_LT(times.samples.size(), 30u);
}

TEST_F(Candidate, AVerySlowOneIsCalledAFewTimesOnly) {
    candidate.real = [] { return 5.0; };
    const CandidateTimes times = mustMeasure(trainingProtocol());
    EXPECT_EQ(times.samples.size(), 3u);
    EXPECT_EQ(times.estimate.median, 5.0);
    EXPECT_LE(time.now, 100 + 8 * 5.0 + 1); // each of three batches warms up with one call
    EXPECT_TRUE(times.flags.empty());
}

TEST_F(Candidate, ThrottledRoundsAreTakenAgain) {
    // Rounds of ten: the second one runs on a machine that has become slow.
    const double slow = 1.5;
    script({2e-3, 2e-3, 2e-3 * slow, 2e-3, 2e-3});
    int measured = -1;
    candidate.onRequest = [&](std::size_t) -> Result<void> {
        ++measured;
        return {};
    };
    candidate.real = [&] { return measured == 2 || measured == 3 ? slow * 1e-3 : 1e-3; };
    const CandidateTimes times = mustMeasure();
    EXPECT_EQ(times.estimate.median, 1e-3);
    EXPECT_EQ(times.estimate.high, 1e-3);
    EXPECT_EQ(times.samples.size(), 20u); // the slow ones are not among them
    EXPECT_FALSE(hasFlag(times.flags, "throttled"));
    EXPECT_EQ(candidate.requests.size(), 1u + 4u + 1u);
}

TEST_F(Candidate, AMachineThatBecomesFasterThrottlesWhatWasBefore) {
    script({3e-3, 3e-3, 2e-3, 2e-3, 2e-3});
    int measured = -1;
    candidate.onRequest = [&](std::size_t) -> Result<void> {
        ++measured;
        return {};
    };
    candidate.real = [&] { return measured <= 2 ? 1.5e-3 : 1e-3; };
    const CandidateTimes times = mustMeasure();
    EXPECT_EQ(times.estimate.median, 1e-3);
    EXPECT_EQ(times.estimate.high, 1e-3);
}

TEST_F(Candidate, ASlowMachineThroughoutIsFlaggedAndEnds) {
    // One fast moment at the start, then slow for ever.
    script({1e-3, 3e-3});
    candidate.real = noisy(3e-3, 0.02);
    const double start = time.now;
    const CandidateTimes times = mustMeasure();
    EXPECT_TRUE(hasFlag(times.flags, "throttled"));
    EXPECT_GE(times.samples.size(), 20u); // better than none
    EXPECT_NEAR(times.estimate.median, 3e-3, 0.1e-3);
    EXPECT_LT(time.now - start, 2 * 3.0 + 1);
}

TEST_F(Candidate, WithoutAYardstickItSaysSo) {
    device.yardstick = []() -> Result<double> { return machineError("no memory for the copy"); };
    const CandidateTimes times = mustMeasure();
    EXPECT_EQ(times.samples.size(), 20u);
    EXPECT_EQ(times.yardstickSeconds, 0);
    ASSERT_EQ(times.flags.size(), 1u);
    EXPECT_NE(times.flags[0].find("no memory for the copy"), std::string::npos);
}

TEST_F(Candidate, ClaimsBeyondTheHostClockAreFlagged) {
    candidate.claim = [](double seconds, bool) { return 3 * seconds; };
    EXPECT_TRUE(hasFlag(mustMeasure().flags, "host clock disagrees"));
}

TEST_F(Candidate, ClaimsFarBelowTheHostClockAreFlagged) {
    for (const double call : {200e-6, 1e-3, 10e-3, 0.3}) {
        candidate.real = [call] { return call; };
        candidate.claim = [](double seconds, bool) { return 0.3 * seconds; };
        EXPECT_TRUE(hasFlag(mustMeasure().flags, "host clock disagrees")) << call;
        // Honest only where the engine looks closely.
        candidate.claim = [](double seconds, bool flushed) {
            return flushed ? 0.3 * seconds : seconds;
        };
        EXPECT_TRUE(hasFlag(mustMeasure().flags, "host clock disagrees")) << call;
    }
}

/// Another program takes a core between the samples and what is compared with them.
TEST_F(Candidate, AMachineThatBecomesSlowerAccusesNobody) {
    candidate.real = [&] { return candidate.requests.size() < 4 ? 1e-3 : 5e-3; };
    const CandidateTimes times = mustMeasure();
    EXPECT_TRUE(times.flags.empty()) << times.flags[0];
    EXPECT_EQ(times.estimate.median, 5e-3);
    EXPECT_NEAR(times.hostSecondsPerCall, 5e-3, 0.5e-3);
}

TEST_F(Candidate, OneThatTellsTheTruthWhenLookedAtIsBelievedOnlyThen) {
    bool seen = false;
    candidate.claim = [&](double seconds, bool flushed) {
        seen = seen || !flushed;
        return seen ? seconds : 0.3 * seconds;
    };
    const CandidateTimes times = mustMeasure();
    EXPECT_TRUE(times.flags.empty()) << times.flags[0];
    EXPECT_EQ(times.estimate.median, 1e-3);
    EXPECT_EQ(times.estimate.high, 1e-3);
}

TEST_F(Candidate, HonestOverheadIsNotFlagged) {
    for (const auto kind : {device::Kind::cuda, device::Kind::cpu})
        for (const double call : {2e-6, 5e-6, 20e-6, 100e-6, 500e-6, 1e-3, 50e-3}) {
            FakeDevice either(kind);
            FakeTime local;
            FakeCandidate slowHost(local);
            slowHost.real = [call] { return call; };
            slowHost.messageSeconds = 1.5e-3;
            slowHost.realLaunchSeconds = 40e-6;
            slowHost.flushSeconds = 5e-3;
            const auto times = measureCandidate(slowHost, either, {0}, 1 << 20, trainingProtocol(),
                                                {}, local.clock());
            ASSERT_TRUE(times) << times.error().message;
            EXPECT_TRUE(times->flags.empty()) << call << ": " << times->flags[0];
        }
}

/// A small kernel that Python launches on a busy machine; figures of an H200.
TEST_F(Candidate, CallsMayTakeTheHostWhatTheProcessIsAllowed) {
    candidate.real = [] { return 6e-6; };
    candidate.realOverhead = 78e-6;
    EXPECT_TRUE(hasFlag(mustMeasure().flags, "host clock disagrees"));
    candidate.allowedOverhead = 100e-6;
    EXPECT_TRUE(hasFlag(mustMeasure().flags, "host clock disagrees")) << "nothing recorded it";
    Protocol protocol = fullProtocol();
    protocol.recordedSeconds = 3.6e-6;
    EXPECT_TRUE(mustMeasure(protocol).flags.empty());
    for (const double recorded : {0.0, 60e-6}) { // kernels that hide, and one on another stream
        protocol.recordedSeconds = recorded;
        EXPECT_TRUE(hasFlag(mustMeasure(protocol).flags, "host clock disagrees")) << recorded;
    }
    // Work of 150 us that the process does not own to, and that hid from the recorder.
    protocol.recordedSeconds = 3e-6;
    candidate.real = [] { return 156e-6; };
    candidate.claim = [](double, bool) { return 3e-6; };
    candidate.realOverhead = 0;
    EXPECT_TRUE(hasFlag(mustMeasure(protocol).flags, "host clock disagrees"));
}

TEST_F(Candidate, FasterThanTheMemoryAllowsIsFlagged) {
    // 1 GiB at 4 TB/s takes 268 us.
    const std::uint64_t bytes = 1 << 30;
    for (const auto &[seconds, flagged] : {std::pair{150e-6, true}, std::pair{260e-6, false}}) {
        candidate.real = [seconds = seconds] { return seconds; };
        const auto times =
            measureCandidate(candidate, device, {0}, bytes, fullProtocol(), {}, time.clock());
        ASSERT_TRUE(times);
        EXPECT_EQ(hasFlag(times->flags, "faster than the limit"), flagged) << seconds;
    }
    candidate.real = [] { return 2e-6; }; // 64 MiB, but they stay in the cache
    EXPECT_FALSE(hasFlag(mustMeasure().flags, "faster than the limit"));
}

TEST_F(Candidate, AFaultIsPassedOn) {
    for (std::size_t request : {1u, 2u, 3u, 4u}) {
        candidate.requests.clear();
        candidate.onRequest = [request](std::size_t number) -> Result<void> {
            if (number == request)
                return failedError("the kernel faulted");
            return {};
        };
        const auto times = measure();
        ASSERT_FALSE(times) << request;
        EXPECT_EQ(times.error().kind, ErrorKind::failed);
        EXPECT_EQ(times.error().message, "the kernel faulted");
    }
}

TEST_F(Candidate, ImpossibleNumbersAreRefused) {
    for (const double lie : {std::nan(""), 0.0, -1e-3, std::numeric_limits<double>::infinity()}) {
        candidate.claim = [lie](double, bool) { return lie; };
        const auto times = measure();
        ASSERT_FALSE(times) << lie;
        EXPECT_EQ(times.error().kind, ErrorKind::failed);
    }
}

class WrongCount : public FakeCandidate {
  public:
    using FakeCandidate::FakeCandidate;
    Result<std::vector<plan::Sample>> time(const plan::SampleRequest &request) override {
        auto samples = FakeCandidate::time(request);
        samples->resize(samples->size() + extra, {1e-3, 1});
        return samples;
    }
    std::size_t extra = 1;
};

TEST_F(Candidate, AnotherNumberOfSamplesThanAskedForIsRefused) {
    WrongCount wrong(time);
    const auto times =
        measureCandidate(wrong, device, {0}, taskBytes, fullProtocol(), {}, time.clock());
    ASSERT_FALSE(times);
    EXPECT_EQ(times.error().kind, ErrorKind::failed);
}

TEST_F(Candidate, StopsBeforeAndBetweenRounds) {
    std::stop_source source;
    candidate.onRequest = [&](std::size_t number) -> Result<void> {
        if (number == 2)
            source.request_stop();
        return {};
    };
    auto times = measure(fullProtocol(), source.get_token());
    ASSERT_FALSE(times);
    EXPECT_EQ(times.error().kind, ErrorKind::stopped);
    EXPECT_EQ(candidate.requests.size(), 2u);
    candidate.requests.clear();
    times = measure(fullProtocol(), source.get_token());
    ASSERT_FALSE(times);
    EXPECT_EQ(times.error().kind, ErrorKind::stopped);
    EXPECT_TRUE(candidate.requests.empty());
}

TEST_F(Candidate, NeedsASet) {
    const auto times =
        measureCandidate(candidate, device, {}, taskBytes, fullProtocol(), {}, time.clock());
    ASSERT_FALSE(times);
    EXPECT_EQ(times.error().kind, ErrorKind::request);
}

TEST(Protocols, AreTheDocumentedOnes) {
    const Protocol training = trainingProtocol();
    EXPECT_EQ(training.targetRelativeWidth, 0.05);
    EXPECT_EQ(training.minimumSamples, 5);
    EXPECT_EQ(training.maximumSamples, 30);
    EXPECT_EQ(training.budgetSeconds, 0.5);
    const Protocol full = fullProtocol();
    EXPECT_EQ(full.targetRelativeWidth, 0.02);
    EXPECT_EQ(full.minimumSamples, 20);
    EXPECT_EQ(full.maximumSamples, 200);
    EXPECT_EQ(full.budgetSeconds, 3.0);
}

} // namespace
} // namespace cuda_agent::timing
