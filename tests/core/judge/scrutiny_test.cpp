// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/scrutiny.h"

#include "core/judge/candidate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

// What is asked of a candidate that was right and quick, with candidates that are functions and a
// clock that moves only when they work.

namespace cuda_agent::judge {
namespace {

constexpr std::int64_t elements = 1000;

float *floats(const device::TensorView &view) {
    return reinterpret_cast<float *>(static_cast<char *>(view.memory->data()) + view.offset);
}

/// y = 2 x + 1 from two places that launch: the product, then the sum.
class Fake : public plan::CandidateProcess {
  public:
    double now = 100;
    double work = 0.02;
    std::optional<double> claims; ///< for a timed call; `work` where it tells the truth
    bool canLeaveOut = true;
    bool fallsBack = false; ///< right without its kernels
    bool decoy = false;     ///< a third place that changes nothing
    bool faults = false;    ///< a call without kernels fails
    std::function<void(const plan::CallBuffers &, bool whole)> answer; ///< whole: by `call`
    plan::CallBuffers buffers;

    void compute() const {
        const float *x = floats(buffers.inputs[0]);
        float *y = floats(buffers.outputs[0]);
        for (std::int64_t i = 0; i < elements; ++i)
            y[i] = 2 * x[i] + 1;
    }
    Result<void> bind(int, const plan::CallBuffers &given) override {
        buffers = given;
        return {};
    }
    Result<void> unbind(int) override { return {}; }
    Result<void> call(int) override {
        compute();
        now += work;
        return {};
    }
    Result<void> publish(int) override {
        now += 1e-4;
        return {};
    }
    Result<plan::KnockOut> callWithout(int, int place) override {
        if (!canLeaveOut)
            return plan::KnockOut{};
        if (faults)
            return failedError("SIGSEGV");
        if (fallsBack || place == 2)
            compute();
        plan::KnockOut out{true, {"k.cu:1", "k.cu:2"}};
        if (decoy)
            out.places.emplace_back("k.cu:3");
        return out;
    }
    Result<std::vector<plan::Sample>> time(const plan::SampleRequest &request) override {
        EXPECT_EQ(request.warmup, 0);
        now += 1e-4;
        if (answer) {
            answer(buffers, false);
        } else {
            compute();
            now += work;
        }
        return std::vector<plan::Sample>{{claims.value_or(work), 1}};
    }
    sandbox::Record finish() override { return {}; }
};

class Scrutiny : public testing::Test {
  protected:
    void SetUp() override {
        device_ = device::openCpu().value();
        const auto row = contiguousType(DType::float32, {elements});
        const auto exact = contiguousType(DType::float64, {elements});
        pool_.description.inputs = {{"in0", row, 0}};
        pool_.description.outputs = {{"out0", row, -1}};
        for (int i = 0; i < 3; ++i) {
            reference::Case entry;
            entry.name = fmt::format("random {}", i + 1);
            entry.inputs.memory.push_back(device_->allocate(row.spanBytes()).value());
            entry.inputs.tensors = {{&entry.inputs.memory[0], 0, row}};
            entry.oracleMemory.push_back(device_->allocate(exact.spanBytes()).value());
            entry.oracle = {{&entry.oracleMemory[0], 0, exact}};
            std::normal_distribution<float> normal;
            double squared = 0, largest = 0;
            for (std::int64_t k = 0; k < elements; ++k) {
                const float x = normal(random_);
                floats(entry.inputs.tensors[0])[k] = x;
                const double y = 2.0 * x + 1;
                std::memcpy(static_cast<char *>(entry.oracleMemory[0].data()) + 8 * k, &y, 8);
                squared += y * y;
                largest = std::max(largest, std::fabs(y));
            }
            reference::ReferenceError error;
            error.oracleNorm = std::sqrt(squared);
            error.errorNorm = 1e-7 * error.oracleNorm;
            error.maxOracle = largest;
            error.maxError = 1e-7 * largest;
            entry.errors = {error};
            pool_.random.push_back(std::move(entry));
        }
        set_ =
            verify::GuardedSet::create(*device_, pool_.random[0].inputs.tensors, {}, {row}).value();
        ASSERT_TRUE(fake_.bind(0, set_->buffers()));
        times_.estimate = {0.02, 0.019, 0.021, 5};
        times_.samples = {0.02, 0.02};
    }

    verify::Check look() {
        auto check = lookAtFreshInputs(fake_, *set_, pool_, *device_, times_, {},
                                       [this] { return fake_.now; });
        EXPECT_TRUE(check) << (check ? "" : check.error().message);
        return check ? *check : verify::Check{};
    }
    Contribution knocked(bool others = false) {
        auto result = knockOut(fake_, *set_, pool_, *device_, others, {});
        EXPECT_TRUE(result) << (result ? "" : result.error().message);
        return result ? *result : Contribution{};
    }

    std::unique_ptr<device::Device> device_;
    verify::Pool pool_;
    std::optional<verify::GuardedSet> set_;
    Fake fake_;
    timing::CandidateTimes times_;
    std::mt19937_64 random_{7};
};

TEST_F(Scrutiny, AnHonestCandidateTakesAsLongOnNewInputs) {
    const auto check = look();
    EXPECT_TRUE(check.passed) << check.detail;
    EXPECT_FALSE(check.skipped);
    EXPECT_TRUE(times_.flags.empty());
    EXPECT_NEAR(check.evidence.at("fresh_seconds").get<double>(), 0.0201, 1e-4);
}

TEST_F(Scrutiny, RememberedAnswersAreFoundUnderAnyKey) {
    std::map<std::string, std::string> kept;
    fake_.answer = [&](const plan::CallBuffers &buffers, bool) {
        const std::string key(reinterpret_cast<const char *>(floats(buffers.inputs[0])),
                              4 * elements);
        auto &answer = kept[key];
        if (answer.empty()) {
            fake_.compute();
            fake_.now += fake_.work;
            answer.assign(reinterpret_cast<const char *>(floats(buffers.outputs[0])), 4 * elements);
        }
        std::memcpy(floats(buffers.outputs[0]), answer.data(), answer.size());
    };
    const auto check = look();
    EXPECT_FALSE(check.passed);
    EXPECT_NE(check.detail.find("remembers"), std::string::npos) << check.detail;
}

// A message takes longer than the call: what the process says of itself is closer to the truth.
TEST_F(Scrutiny, ShortCallsThatRememberAreFoundByWhatTheyClaim) {
    std::string last;
    times_.estimate = {5e-4, 5e-4, 5e-4, 5};
    fake_.answer = [&](const plan::CallBuffers &buffers, bool) {
        const std::string key(reinterpret_cast<const char *>(floats(buffers.inputs[0])),
                              4 * elements);
        fake_.claims = key == last ? 1e-4 : 5e-4;
        last = key;
        fake_.compute();
        fake_.now += 5e-3 + *fake_.claims;
    };
    const auto check = look();
    EXPECT_FALSE(check.passed);
    EXPECT_NE(check.detail.find("takes 0.5 ms, on inputs that it has just seen 0.1 ms"),
              std::string::npos)
        << check.detail;
}

TEST_F(Scrutiny, NoiseIsNoProof) {
    int calls = 0;
    fake_.answer = [&](const plan::CallBuffers &, bool) {
        fake_.compute();
        fake_.now += fake_.work * (++calls % 3 == 0 ? 4 : 1); // now and then another program
    };
    EXPECT_TRUE(look().passed);
}

TEST_F(Scrutiny, OutputsMustBeThereWhenTheCallIsAnswered) {
    fake_.answer = [](const plan::CallBuffers &, bool) {}; // a thread does it later
    const auto check = look();
    EXPECT_FALSE(check.passed);
    EXPECT_NE(check.detail.find("wrong when a timed call is answered"), std::string::npos);
    EXPECT_FALSE(check.evidence.is_null());
}

TEST_F(Scrutiny, AFalseClockIsFoundInTheCallItself) {
    times_.estimate = {9e-3, 9e-3, 9e-3, 5};
    fake_.claims = 9e-3;
    EXPECT_TRUE(look().passed);
    EXPECT_EQ(times_.flags, std::vector<std::string>{"host clock disagrees"});
}

TEST_F(Scrutiny, TheEngineDecidesWhereClaimsAreTooSmall) {
    times_.estimate = {1e-6, 1e-6, 1e-6, 5}; // in a row, and the truth about a single call
    times_.samples = {1e-6};
    EXPECT_TRUE(look().passed);
    ASSERT_EQ(times_.flags, std::vector<std::string>{"host clock disagrees"});
    letEngineDecide(times_);
    EXPECT_NEAR(times_.estimate.median, 0.02, 1e-3);
    EXPECT_NEAR(times_.samples[0], 0.02, 1e-3);
    EXPECT_EQ(times_.flags.back(), "the engine's clock decides");
    const auto once = times_.estimate.median;
    letEngineDecide(times_);
    EXPECT_DOUBLE_EQ(times_.estimate.median, once);
}

TEST_F(Scrutiny, ColdSingleCallsAreNoContradiction) {
    times_.estimate = {8e-3, 8e-3, 8e-3, 5}; // warm in a row, 20 ms alone
    EXPECT_TRUE(look().passed);
    EXPECT_TRUE(times_.flags.empty());
}

TEST_F(Scrutiny, FaultsAreTheCandidates) {
    struct Gone : Fake {
        Result<std::vector<plan::Sample>> time(const plan::SampleRequest &) override {
            return failedError("the candidate's process ended");
        }
    } gone;
    ASSERT_TRUE(gone.bind(0, set_->buffers()));
    auto check = lookAtFreshInputs(gone, *set_, pool_, *device_, times_, {});
    ASSERT_TRUE(check);
    EXPECT_FALSE(check->passed);
    EXPECT_NE(check->detail.find("ended"), std::string::npos);
}

TEST_F(Scrutiny, KernelsThatDoTheWorkAreMissed) {
    const auto result = knocked();
    EXPECT_TRUE(result.check.passed) << result.check.detail;
    EXPECT_FALSE(result.check.skipped);
    EXPECT_TRUE(result.flags.empty());
}

TEST_F(Scrutiny, WorkDoneElsewhereIsFound) {
    fake_.fallsBack = true;
    const auto result = knocked();
    EXPECT_FALSE(result.check.passed);
    EXPECT_NE(result.check.detail.find("none of its own kernels"), std::string::npos);
    // A plan's library steps may do it: then it is a flag for each launch.
    const auto plan = knocked(true);
    EXPECT_TRUE(plan.check.passed);
    EXPECT_EQ(plan.flags.size(), 2u);
}

TEST_F(Scrutiny, ADecoyIsAFlag) {
    fake_.decoy = true;
    const auto result = knocked();
    EXPECT_TRUE(result.check.passed);
    ASSERT_EQ(result.flags.size(), 1u);
    EXPECT_EQ(result.flags[0], "a launch changes nothing in the outputs: k.cu:3");
}

TEST_F(Scrutiny, CallsThatFailWithoutKernelsProveThem) {
    fake_.faults = true;
    EXPECT_TRUE(knocked().check.passed);
}

TEST_F(Scrutiny, WhereNothingCanBeLeftOutTheCheckSaysSo) {
    fake_.canLeaveOut = false;
    const auto result = knocked();
    EXPECT_TRUE(result.check.passed);
    EXPECT_TRUE(result.check.skipped);
}

TEST(Sources, AreHeldAgainstTheRules) {
    modules::Compiled built;
    std::vector<std::string> flags;
    EXPECT_FALSE(checkSources(built, modules::Rules::published, flags));
    built.suspicions = {{"model_new.py:1: it imports os", true}};
    const auto refused = checkSources(built, modules::Rules::published, flags);
    ASSERT_TRUE(refused);
    EXPECT_FALSE(refused->passed);
    EXPECT_NE(refused->detail.find("it imports os"), std::string::npos);
    EXPECT_FALSE(checkSources(built, modules::Rules::kernelbench, flags));
    EXPECT_TRUE(flags.empty());
    built.suspicions.push_back({"model_new.py:2: it imports ctypes", false});
    EXPECT_FALSE(checkSources(built, modules::Rules::kernelbench, flags));
    EXPECT_EQ(flags.size(), 1u);
}

TEST(Candidates, ThatAddAtomicallyAreKnown) {
    const auto adds = [](const std::string &kernel) {
        plan::Candidate candidate;
        candidate.files["kernels/k.cu"] = kernel;
        return addsAtomically(Candidate(std::move(candidate)));
    };
    EXPECT_TRUE(adds("if (t == 0) atomicAdd(y, s);"));
    EXPECT_TRUE(adds("asm(\"red.global.add.f32 [%0], %1;\" :: \"l\"(y), \"f\"(s));"));
    EXPECT_FALSE(adds("y[t] = s; // atomics are not needed"));
}

} // namespace
} // namespace cuda_agent::judge
