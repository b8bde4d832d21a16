// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "fakes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cuda_agent::timing {
namespace {

using reference::Baseline;
using reference::BaselineSamples;

const std::vector<Baseline> both{Baseline::eager, Baseline::compile};

/// A worker whose baselines take scripted times.
class FakeWorker {
  public:
    Result<BaselineSamples> operator()(Baseline baseline, int samples) {
        order.push_back(baseline);
        if (onCall)
            if (auto result = onCall(baseline, order.size()); !result)
                return tl::unexpected(result.error());
        BaselineSamples taken;
        if (baseline != Baseline::eager && !compiled) {
            compiled = true;
            taken.compileSeconds = 40;
        }
        for (int i = 0; i < samples; ++i)
            taken.seconds.push_back(seconds(baseline));
        taken.hostSeconds = taken.compileSeconds + 1e-3;
        for (const double each : taken.seconds)
            taken.hostSeconds += each;
        return taken;
    }
    int calls(Baseline baseline) const {
        return static_cast<int>(std::count(order.begin(), order.end(), baseline));
    }

    std::function<double(Baseline)> seconds = [](Baseline baseline) {
        return baseline == Baseline::eager ? 3e-3 : 2e-3;
    };
    std::function<Result<void>(Baseline, std::size_t)> onCall;
    std::vector<Baseline> order;
    bool compiled = false;
};

class BaselineTimes : public testing::Test {
  protected:
    Result<Baselines> measure(const std::vector<Baseline> &wanted = both,
                              const Protocol &protocol = trainingProtocol(),
                              std::stop_token stop = {}) {
        return measureBaselines(BaselineSampler(std::ref(worker)), device, wanted, 1 << 20,
                                protocol, stop);
    }
    FakeDevice device;
    FakeWorker worker;
};

TEST_F(BaselineTimes, AreMeasuredInTurns) {
    const auto got = measure(both, fullProtocol());
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->estimates.at(Baseline::eager).median, 3e-3);
    EXPECT_EQ(got->estimates.at(Baseline::compile).median, 2e-3);
    EXPECT_GE(got->samples.at(Baseline::eager).size(), 5u);
    EXPECT_TRUE(got->problems.empty());
    EXPECT_TRUE(got->flags.empty());
    EXPECT_EQ(got->yardstickSeconds, 2e-3);
    // Two warm-up calls each, then one after the other.
    ASSERT_GE(worker.order.size(), 8u);
    for (std::size_t i = 4; i < worker.order.size(); ++i)
        EXPECT_EQ(worker.order[i], both[i % 2]) << i;
}

TEST_F(BaselineTimes, CompilingIsNotInTheBudget) {
    worker.seconds = [noise = noisy(1e-3, 0.5)](Baseline) mutable { return noise(); };
    const auto got = measure();
    ASSERT_TRUE(got);
    EXPECT_GE(got->samples.at(Baseline::compile).size(), 30u);
}

TEST_F(BaselineTimes, EachStopsWhenItIsKnownWellEnough) {
    worker.seconds = [noise = noisy(2e-3, 0.6)](Baseline baseline) mutable {
        return baseline == Baseline::eager ? 3e-3 : noise();
    };
    const auto got = measure();
    ASSERT_TRUE(got);
    EXPECT_LT(got->samples.at(Baseline::eager).size(), 10u);
    EXPECT_GE(got->samples.at(Baseline::compile).size(), 30u);
}

TEST_F(BaselineTimes, SlowOnesAreCalledAFewTimesOnly) {
    worker.seconds = [](Baseline) { return 4.0; };
    const auto got = measure();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->samples.at(Baseline::eager).size(), 3u);
    EXPECT_LE(worker.calls(Baseline::eager), 4);
}

TEST_F(BaselineTimes, AFailureIsAProblemOfThatOneAlone) {
    for (const auto kind : {ErrorKind::request, ErrorKind::machine, ErrorKind::failed}) {
        worker = {};
        worker.onCall = [kind](Baseline baseline, std::size_t) -> Result<void> {
            if (baseline == Baseline::compile)
                return tl::unexpected(Error{kind, "Python.h is missing"});
            return {};
        };
        const auto got = measure();
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_EQ(got->estimates.count(Baseline::compile), 0u);
        EXPECT_EQ(got->problems.at(Baseline::compile), "Python.h is missing");
        EXPECT_GE(got->samples.at(Baseline::eager).size(), 5u);
        EXPECT_EQ(worker.calls(Baseline::compile), 1); // not tried again
    }
}

TEST_F(BaselineTimes, AWorkerThatDiesLaterLeavesWhatItGave) {
    bool dead = false;
    worker.onCall = [&](Baseline baseline, std::size_t) -> Result<void> {
        dead = dead || baseline == Baseline::compile;
        if (dead)
            return machineError("timed out after 600 s");
        return {};
    };
    const auto got = measure();
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_GE(got->samples.at(Baseline::eager).size(), 3u); // the reserve
    EXPECT_EQ(got->problems.size(), 2u);
    EXPECT_EQ(got->problems.at(Baseline::compile), "timed out after 600 s");
}

TEST_F(BaselineTimes, NothingAtAllFromADeadWorkerIsAnError) {
    worker.onCall = [](Baseline, std::size_t) -> Result<void> {
        return machineError("the worker ended");
    };
    const auto got = measure();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, ErrorKind::machine);
    EXPECT_EQ(got.error().message, "the worker ended");
}

TEST_F(BaselineTimes, AStopIsAlwaysAnError) {
    worker.onCall = [](Baseline, std::size_t call) -> Result<void> {
        if (call == 6)
            return stoppedError();
        return {};
    };
    auto got = measure();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, ErrorKind::stopped);

    worker = {};
    std::stop_source source;
    worker.onCall = [&](Baseline, std::size_t call) -> Result<void> {
        if (call == 5)
            source.request_stop();
        return {};
    };
    got = measure(both, trainingProtocol(), source.get_token());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, ErrorKind::stopped);
    EXPECT_EQ(worker.order.size(), 5u);
}

TEST_F(BaselineTimes, ImpossibleTimesAreAProblem) {
    for (const double lie : {std::nan(""), 0.0, -1.0}) {
        worker.seconds = [lie](Baseline baseline) {
            return baseline == Baseline::eager ? 1e-3 : lie;
        };
        const auto got = measure();
        ASSERT_TRUE(got);
        EXPECT_NE(got->problems.at(Baseline::compile).find("impossible"), std::string::npos);
    }
}

TEST_F(BaselineTimes, ThrottledRoundsAreDropped) {
    int copies = 0;
    device.yardstick = [&]() -> Result<double> { return ++copies == 3 ? 4e-3 : 2e-3; };
    worker.seconds = [&](Baseline) { return copies == 2 ? 9e-3 : 3e-3; };
    const auto got = measure(both, fullProtocol());
    ASSERT_TRUE(got);
    EXPECT_GE(worker.calls(Baseline::eager), 5); // two to warm up, two throttled, the rest
    EXPECT_EQ(got->estimates.at(Baseline::eager).high, 3e-3);
    EXPECT_TRUE(got->flags.empty());
}

TEST_F(BaselineTimes, OneThatIsWantedTwiceIsMeasuredOnce) {
    const auto got = measure({Baseline::eager, Baseline::eager});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->estimates.size(), 1u);
    const auto none = measure({});
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->estimates.empty());
}

TEST(BaselinesJson, ComesBackAsItWas) {
    Baselines baselines;
    for (const auto &[baseline, scale] :
         {std::pair{Baseline::eager, 1.0}, std::pair{Baseline::compile, 0.5},
          std::pair{Baseline::compileMaxAutotune, 0.25}}) {
        std::vector<double> samples;
        for (int i = 0; i < 12; ++i)
            samples.push_back(scale * (1e-3 + 1e-5 * ((i * 5) % 12)) / 3);
        baselines.estimates[baseline] = estimate(samples);
        baselines.samples[baseline] = samples;
    }
    baselines.problems[Baseline::compileTf32] = "no TF32 here";
    baselines.yardstickSeconds = 7e-4;
    baselines.flags = {"throttled"};
    const Json json = toJson(baselines);
    EXPECT_EQ(json["eager"]["samples"], 12);
    EXPECT_EQ(json["eager"]["seconds"], baselines.estimates[Baseline::eager].median);
    EXPECT_EQ(json["compile_max_autotune"]["raw"].size(), 12u);
    EXPECT_EQ(json["problems"]["compile_tf32"], "no TF32 here");
    const auto back = baselinesFromJson(*parseJson(json.dump(), "baselines"));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->samples, baselines.samples);
    EXPECT_EQ(back->problems, baselines.problems);
    EXPECT_EQ(back->yardstickSeconds, baselines.yardstickSeconds);
    EXPECT_EQ(back->flags, baselines.flags);
    ASSERT_EQ(back->estimates.size(), 3u);
    for (const auto &[baseline, known] : baselines.estimates) {
        EXPECT_EQ(back->estimates.at(baseline).median, known.median);
        EXPECT_EQ(back->estimates.at(baseline).low, known.low);
        EXPECT_EQ(back->estimates.at(baseline).high, known.high);
    }
    EXPECT_EQ(toJson(*back), json);
}

TEST(BaselinesJson, NothingIsAnEmptyObject) {
    EXPECT_EQ(toJson(Baselines()), Json::object());
    EXPECT_TRUE(baselinesFromJson(Json::object()));
}

TEST(BaselinesJson, EstimatesWithoutSamplesAreTaken) {
    const auto got = baselinesFromJson(
        {{"eager", {{"seconds", 2.0}, {"low", 1.5}, {"high", 2.5}, {"samples", 9}}},
         {"from_the_future", 1}});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->estimates.at(Baseline::eager).high, 2.5);
    EXPECT_EQ(got->estimates.at(Baseline::eager).samples, 9);
    EXPECT_TRUE(got->samples.empty());
}

TEST(BaselinesJson, NonsenseIsRefusedByName) {
    const std::pair<Json, const char *> cases[] = {
        {Json::array(), "object"},
        {{{"eager", 3}}, "eager"},
        {{{"eager", {{"seconds", "fast"}}}}, "eager.seconds"},
        {{{"eager", {{"seconds", 1.0}, {"low", -1.0}}}}, "eager.low"},
        {{{"compile", {{"raw", {1.0, "x"}}}}}, "compile.raw"},
        {{{"compile", {{"raw", {1.0, -2.0}}}}}, "compile.raw"},
    };
    for (const auto &[json, word] : cases) {
        const auto got = baselinesFromJson(json);
        ASSERT_FALSE(got) << json;
        EXPECT_EQ(got.error().kind, ErrorKind::request);
        EXPECT_NE(got.error().message.find(word), std::string::npos) << got.error().message;
    }
}

} // namespace
} // namespace cuda_agent::timing
