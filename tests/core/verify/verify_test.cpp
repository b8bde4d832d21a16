// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/verify/reshape.h"
#include "core/verify/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

// The judge is tried here on candidates that are wrong in one known way each. They run in this
// process because they are this file's own code; real candidates never do.

namespace cuda_agent::verify {
namespace {

constexpr std::int64_t rows = 8, columns = 300;

/// The task: y = x / (1 + |x|) row by row times a weight per column.
float oneElement(float x, float weight) {
    return x / (1.0f + std::fabs(x)) * weight;
}
double oneElementExact(double x, double weight) {
    return x / (1.0 + std::fabs(x)) * weight;
}

float *floats(const device::TensorView &view) {
    return reinterpret_cast<float *>(static_cast<char *>(view.memory->data()) + view.offset);
}
double *doubles(const device::TensorView &view) {
    return reinterpret_cast<double *>(static_cast<char *>(view.memory->data()) + view.offset);
}

using Body = std::function<Result<void>(const plan::CallBuffers &, int call)>;

class FakeCandidate : public plan::CandidateProcess {
  public:
    explicit FakeCandidate(Body body) : body_(std::move(body)) {}
    Result<void> bind(int set, const plan::CallBuffers &buffers) override {
        sets_[set] = buffers;
        return {};
    }
    Result<void> unbind(int set) override {
        sets_.erase(set);
        return {};
    }
    Result<void> call(int set) override { return body_(sets_.at(set), calls_++); }
    Result<std::vector<plan::Sample>> time(const plan::SampleRequest &) override {
        return std::vector<plan::Sample>{};
    }
    sandbox::Record finish() override { return {}; }

  private:
    Body body_;
    std::map<int, plan::CallBuffers> sets_;
    int calls_ = 0;
};

void compute(const plan::CallBuffers &buffers) {
    const float *x = floats(buffers.inputs[0]);
    const float *weight = floats(buffers.parameters.at("weight"));
    float *y = floats(buffers.outputs[0]);
    for (std::int64_t i = 0; i < rows * columns; ++i)
        y[i] = oneElement(x[i], weight[i % columns]);
}

class VerifyTest : public testing::Test {
  protected:
    void SetUp() override {
        setenv("CUDA_AGENT_CACHE", testing::TempDir().c_str(), 1); // nobody else's lease
        device_ = device::openCpu().value();
        const auto matrix = contiguousType(DType::float32, {rows, columns});
        pool_.description.inputs = {{"in0", matrix, 0}};
        pool_.description.outputs = {{"out0", matrix, -1}};
        const auto vector = contiguousType(DType::float32, {columns});
        pool_.parameters.memory.push_back(device_->allocate(vector.spanBytes()).value());
        pool_.parameters.tensors["weight"] = {&pool_.parameters.memory[0], 0, vector};
        for (std::int64_t i = 0; i < columns; ++i)
            floats(pool_.parameters.tensors["weight"])[i] =
                0.5f + static_cast<float>(i) / static_cast<float>(columns);
        for (int i = 1; i <= 5; ++i)
            pool_.random.push_back(makeCase(fmt::format("random {}", i), 1, false));
        pool_.adversarial.push_back(makeCase("scale 64", 64, false));
        pool_.adversarial.push_back(makeCase("NaN", 1, true));
    }

    reference::Case makeCase(const std::string &name, float scale, bool withNan) {
        reference::Case entry;
        entry.name = name;
        const auto matrix = contiguousType(DType::float32, {rows, columns});
        const auto exact = contiguousType(DType::float64, {rows, columns});
        entry.inputs.memory.push_back(device_->allocate(matrix.spanBytes()).value());
        entry.inputs.tensors = {{&entry.inputs.memory[0], 0, matrix}};
        entry.oracleMemory.push_back(device_->allocate(exact.spanBytes()).value());
        entry.oracle = {{&entry.oracleMemory[0], 0, exact}};
        std::normal_distribution<float> normal;
        float *x = floats(entry.inputs.tensors[0]);
        double *oracle = doubles(entry.oracle[0]);
        const float *weight = floats(pool_.parameters.tensors["weight"]);
        reference::ReferenceError error;
        double squared = 0, oracleSquared = 0;
        for (std::int64_t i = 0; i < rows * columns; ++i) {
            x[i] = scale * normal(random_);
            if (withNan && i % 777 == 5)
                x[i] = std::numeric_limits<float>::quiet_NaN();
            oracle[i] = oneElementExact(x[i], weight[i % columns]);
            if (std::isnan(oracle[i]))
                continue;
            const double difference = oneElement(x[i], weight[i % columns]) - oracle[i];
            squared += difference * difference;
            oracleSquared += oracle[i] * oracle[i];
            error.maxError = std::max(error.maxError, std::fabs(difference));
            error.maxOracle = std::max(error.maxOracle, std::fabs(oracle[i]));
        }
        error.errorNorm = std::sqrt(squared);
        error.oracleNorm = std::sqrt(oracleSquared);
        entry.errors = {error};
        return entry;
    }

    Report judge(Body body, Strength strength = Strength::full) {
        FakeCandidate candidate(std::move(body));
        const std::vector<TensorType> outputs{pool_.description.outputs[0].type};
        auto set =
            GuardedSet::create(*device_, pool_.random[0].inputs.tensors, pool_.parameters, outputs);
        EXPECT_TRUE(set);
        EXPECT_TRUE(candidate.bind(0, set->buffers()));
        auto demand = demand_;
        demand.strength = strength;
        auto report = verify(candidate, *set, pool_, *device_, share_, demand);
        EXPECT_TRUE(report);
        return *report;
    }
    std::string failedCheck(Body body) {
        const auto report = judge(std::move(body));
        const auto *failed = report.failed();
        EXPECT_EQ(report.correct, failed == nullptr);
        return failed ? failed->name : "";
    }

    std::unique_ptr<device::Device> device_;
    device::Share share_{device::Info{}};
    Demand demand_;
    Pool pool_;
    std::mt19937 random_{7};
};

TEST_F(VerifyTest, AcceptsAnHonestCandidate) {
    const auto report = judge([](const plan::CallBuffers &buffers, int) -> Result<void> {
        compute(buffers);
        return {};
    });
    EXPECT_TRUE(report.correct);
    EXPECT_TRUE(report.flags.empty());
    EXPECT_EQ(report.checks.size(), 5u);
}

TEST_F(VerifyTest, AcceptsAnotherRounding) {
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  float *y = floats(buffers.outputs[0]);
                  for (std::int64_t i = 0; i < rows * columns; i += 3)
                      y[i] = std::nextafter(y[i], 10.0f);
                  return {};
              }),
              "");
}

TEST_F(VerifyTest, RejectsOneElementOffByOnePercent) {
    const auto report = judge([](const plan::CallBuffers &buffers, int) -> Result<void> {
        compute(buffers);
        // Not a small one: what lies below the largest error of the reference cannot be told.
        floats(buffers.outputs[0])[3 * columns + 4] += 0.01f;
        return {};
    });
    ASSERT_FALSE(report.correct);
    const auto evidence = report.failed()->evidence;
    EXPECT_EQ(report.failed()->name, "random inputs");
    EXPECT_TRUE(report.failed()->isWrongAnswer());
    EXPECT_EQ(evidence.at("index"), Json::array({3, 4}));
    EXPECT_EQ(evidence.at("case"), "random 1");
    EXPECT_GT(evidence.at("error").get<double>(), evidence.at("allowed").get<double>());
}

TEST_F(VerifyTest, RejectsHalfPrecision) {
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  float *y = floats(buffers.outputs[0]);
                  for (std::int64_t i = 0; i < rows * columns; ++i) {
                      std::uint32_t bits;
                      std::memcpy(&bits, &y[i], 4);
                      bits &= 0xffffe000u; // ten bits of mantissa, as TF32
                      std::memcpy(&y[i], &bits, 4);
                  }
                  return {};
              }),
              "random inputs");
}

TEST_F(VerifyTest, RejectsNaNAsAWildcard) {
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  floats(buffers.outputs[0])[17] = std::numeric_limits<float>::quiet_NaN();
                  return {};
              }),
              "random inputs");
}

TEST_F(VerifyTest, RejectsASwallowedNaN) {
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  float *y = floats(buffers.outputs[0]);
                  for (std::int64_t i = 0; i < rows * columns; ++i)
                      if (std::isnan(y[i]))
                          y[i] = 0;
                  return {};
              }),
              "adversarial inputs");
}

TEST_F(VerifyTest, RejectsAMissingElement) {
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  const float poison = floats(buffers.outputs[0])[rows * columns - 1];
                  compute(buffers);
                  floats(buffers.outputs[0])[rows * columns - 1] = poison;
                  return {};
              }),
              "random inputs");
}

TEST_F(VerifyTest, RejectsMemoisation) {
    auto memory = std::make_shared<std::map<const void *, std::vector<float>>>();
    EXPECT_EQ(failedCheck([memory](const plan::CallBuffers &buffers, int) -> Result<void> {
                  auto &kept = (*memory)[floats(buffers.inputs[0])];
                  float *y = floats(buffers.outputs[0]);
                  if (kept.empty()) {
                      compute(buffers);
                      kept.assign(y, y + rows * columns);
                  }
                  std::copy(kept.begin(), kept.end(), y);
                  return {};
              }),
              "random inputs");
}

TEST_F(VerifyTest, RejectsWritesBehindTheEnd) {
    const auto report = judge([](const plan::CallBuffers &buffers, int) -> Result<void> {
        compute(buffers);
        floats(buffers.outputs[0])[rows * columns] = 1;
        return {};
    });
    ASSERT_FALSE(report.correct);
    EXPECT_EQ(report.failed()->name, "guard zones");
    EXPECT_FALSE(report.failed()->isWrongAnswer());
    EXPECT_NE(report.failed()->detail.find("after the end of output 0"), std::string::npos);
}

TEST_F(VerifyTest, RejectsWritesBeforeTheStart) {
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  floats(buffers.inputs[0])[-1] = 1;
                  return {};
              }),
              "guard zones");
}

TEST_F(VerifyTest, RejectsChangedInputsAndParameters) {
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  floats(buffers.inputs[0])[7] += 1;
                  return {};
              }),
              "inputs unchanged");
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  floats(buffers.parameters.at("weight"))[0] += 1;
                  return {};
              }),
              "inputs unchanged");
}

TEST_F(VerifyTest, FlagsWhatIsNotDeterministic) {
    const auto report = judge([](const plan::CallBuffers &buffers, int call) -> Result<void> {
        compute(buffers);
        if (call % 2 == 1) {
            float &y = floats(buffers.outputs[0])[0];
            y = std::nextafter(y, 10.0f);
        }
        return {};
    });
    EXPECT_TRUE(report.correct);
    ASSERT_EQ(report.flags.size(), 1u);
    EXPECT_EQ(report.flags[0], "not bitwise deterministic");
}

TEST_F(VerifyTest, RejectsDriftAfterSomeCalls) {
    EXPECT_NE(failedCheck([](const plan::CallBuffers &buffers, int call) -> Result<void> {
                  compute(buffers);
                  if (call > 5)
                      floats(buffers.outputs[0])[0] += 1;
                  return {};
              }),
              "");
}

TEST_F(VerifyTest, RejectsAlignmentThatIsNotThere) {
    EXPECT_EQ(failedCheck([](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  if (reinterpret_cast<std::uintptr_t>(floats(buffers.inputs[0])) % 16 != 0)
                      floats(buffers.outputs[0])[0] += 1; // as a 16-byte load from there would
                  return {};
              }),
              "misaligned storage");
}

TEST_F(VerifyTest, RejectsResultsThatLiveElsewhere) {
    auto first = std::make_shared<float *>(nullptr);
    EXPECT_EQ(failedCheck([first](const plan::CallBuffers &buffers, int) -> Result<void> {
                  compute(buffers);
                  if (!*first)
                      *first = floats(buffers.outputs[0]);
                  else if (*first != floats(buffers.outputs[0]))
                      (*first)[3] = 0; // a call on other buffers writes into the first ones
                  return {};
              }),
              "no aliasing");
}

TEST_F(VerifyTest, SaysThatACandidateFaulted) {
    const auto report = judge([](const plan::CallBuffers &, int) -> Result<void> {
        return failedError("illegal memory access");
    });
    ASSERT_FALSE(report.correct);
    EXPECT_NE(report.failed()->detail.find("illegal memory access"), std::string::npos);
}

TEST_F(VerifyTest, NeverTurnsMachineTroubleIntoAWrongKernel) {
    FakeCandidate candidate([](const plan::CallBuffers &, int) -> Result<void> {
        return machineError("lost the GPU");
    });
    const std::vector<TensorType> outputs{pool_.description.outputs[0].type};
    auto set =
        GuardedSet::create(*device_, pool_.random[0].inputs.tensors, pool_.parameters, outputs);
    ASSERT_TRUE(candidate.bind(0, set->buffers()));
    auto report = verify(candidate, *set, pool_, *device_, share_, {Strength::training});
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::machine);
}

TEST_F(VerifyTest, DenormalsMayRoundInAnotherOrderButNotVanish) {
    pool_.adversarial.push_back(makeCase("denormals", 1e-40f, false));
    const float smallest = std::numeric_limits<float>::denorm_min();
    const auto moved = [&](float units) {
        return judge([&, units](const plan::CallBuffers &buffers, int) -> Result<void> {
            compute(buffers);
            float *y = floats(buffers.outputs[0]);
            for (std::int64_t i = 0; i < rows * columns; ++i)
                if (std::fabs(y[i]) < std::numeric_limits<float>::min())
                    y[i] += units * smallest;
            return {};
        });
    };
    EXPECT_TRUE(moved(5).correct) << "as a longer sum of such products comes out elsewhere";
    EXPECT_FALSE(moved(300).correct);
    const auto flush = [&](const plan::CallBuffers &buffers, int) -> Result<void> {
        compute(buffers);
        float *y = floats(buffers.outputs[0]);
        for (std::int64_t i = 0; i < rows * columns; ++i)
            if (std::fabs(y[i]) < std::numeric_limits<float>::min())
                y[i] = 0;
        return {};
    };
    const auto flushed = judge(flush);
    EXPECT_FALSE(flushed.correct);
    ASSERT_TRUE(flushed.failed());
    demand_.denormals = false; // as a GPU's atomic additions do
    const auto atomic = judge(flush);
    EXPECT_TRUE(atomic.correct);
    ASSERT_EQ(atomic.flags.size(), 1u);
    EXPECT_NE(atomic.flags[0].find("adds atomically"), std::string::npos);
}

TEST_F(VerifyTest, TheUnderflowFloorIsThatOfTheType) {
    reference::ReferenceError exact;
    for (auto &entry : pool_.random)
        entry.errors[0] = exact; // nothing to be relative to
    EXPECT_DOUBLE_EQ(allowanceFor(exact, pool_, 0, DType::float32).maxError, 8 * 0x1p-149);
    EXPECT_DOUBLE_EQ(allowanceFor(exact, pool_, 0, DType::float64).maxError, 8 * 0x1p-1074);
    EXPECT_DOUBLE_EQ(allowanceFor(exact, pool_, 0, DType::float16).maxError, 2 * 0x1p-24);
    EXPECT_DOUBLE_EQ(allowanceFor(exact, pool_, 0, DType::bfloat16).maxError, 2 * 0x1p-133);
}

/// Adds the case of whole numbers: inputs -1, 0 and 1, weights 1, 2 and 3, all results exact.
void addWholeNumbers(device::Device &device, Pool &pool) {
    reference::Case entry;
    entry.name = "whole numbers";
    entry.exact = true;
    const auto matrix = contiguousType(DType::float32, {rows, columns});
    const auto exact = contiguousType(DType::float64, {rows, columns});
    const auto &weightType = pool.parameters.tensors["weight"].type;
    entry.parameters.emplace();
    entry.parameters->memory.push_back(device.allocate(weightType.spanBytes()).value());
    entry.parameters->tensors["weight"] = {&entry.parameters->memory[0], 0, weightType};
    entry.inputs.memory.push_back(device.allocate(matrix.spanBytes()).value());
    entry.inputs.tensors = {{&entry.inputs.memory[0], 0, matrix}};
    entry.oracleMemory.push_back(device.allocate(exact.spanBytes()).value());
    entry.oracle = {{&entry.oracleMemory[0], 0, exact}};
    float *weight = floats(entry.parameters->tensors["weight"]);
    for (std::int64_t i = 0; i < columns; ++i)
        weight[i] = static_cast<float>(1 + i % 3);
    reference::ReferenceError error;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
        floats(entry.inputs.tensors[0])[i] = static_cast<float>(i % 3 - 1);
        const double value = static_cast<double>(i % 3 - 1) / 2 * weight[i % columns];
        doubles(entry.oracle[0])[i] = value;
        error.oracleNorm = std::hypot(error.oracleNorm, value);
        error.maxOracle = std::max(error.maxOracle, std::fabs(value));
    }
    entry.errors = {error};
    pool.whole = std::move(entry);
}

TEST_F(VerifyTest, WholeNumbersShowWhatRandomOnesHide) {
    addWholeNumbers(*device_, pool_);
    for (auto &entry : pool_.random) // a task with much rounding of its own
        entry.errors[0].maxError = entry.errors[0].errorNorm = 1e-2 * entry.errors[0].oracleNorm;
    const auto named = [](const Report &report) {
        return std::any_of(report.checks.begin(), report.checks.end(), [](const auto &check) {
            return check.name == "whole numbers" && check.passed && !check.skipped;
        });
    };
    const auto honest = judge([](const plan::CallBuffers &buffers, int) -> Result<void> {
        compute(buffers);
        return {};
    });
    EXPECT_TRUE(honest.correct);
    EXPECT_TRUE(named(honest));

    const auto sloppy = judge([](const plan::CallBuffers &buffers, int) -> Result<void> {
        compute(buffers);
        floats(buffers.outputs[0])[columns + 8] *= 1.001f;
        return {};
    });
    ASSERT_TRUE(sloppy.failed());
    EXPECT_EQ(sloppy.failed()->name, "whole numbers");

    // The task's own weights, written into the kernel.
    std::vector<float> known(columns);
    std::copy_n(floats(pool_.parameters.tensors["weight"]), columns, known.begin());
    const auto hardCoded = judge([known](const plan::CallBuffers &buffers, int) -> Result<void> {
        for (std::int64_t i = 0; i < rows * columns; ++i)
            floats(buffers.outputs[0])[i] = oneElement(
                floats(buffers.inputs[0])[i], known[static_cast<std::size_t>(i % columns)]);
        return {};
    });
    ASSERT_TRUE(hardCoded.failed());
    EXPECT_EQ(hardCoded.failed()->name, "whole numbers");
}

TEST_F(VerifyTest, ATaskThatZerosPassIsUnsuitable) {
    EXPECT_EQ(unsuitable(pool_), "");
    for (auto &entry : pool_.random)
        entry.errors[0].oracleNorm = entry.errors[0].maxOracle = 0;
    EXPECT_EQ(unsuitable(pool_), "zeros would pass as output 0");
    for (auto &entry : pool_.random) { // noise, of which the reference has none right
        auto &error = entry.errors[0];
        error.errorNorm = error.oracleNorm = 1e-6;
        error.maxError = error.maxOracle = 1e-7;
    }
    EXPECT_EQ(unsuitable(pool_), "zeros would pass as output 0");
}

TEST_F(VerifyTest, ATaskThatOtherInputsPassIsUnsuitable) {
    const auto change = [&](double norm, double largest) {
        for (std::size_t i = 1; i < pool_.random.size(); ++i) {
            pool_.random[i].errors[0].changeNorm = norm;
            pool_.random[i].errors[0].changeMax = largest;
        }
        return unsuitable(pool_);
    };
    EXPECT_EQ(change(0, 0), "output 0 is the same whatever the inputs are");
    EXPECT_EQ(change(1e-9, 1e-9), "output 0 is the same whatever the inputs are");
    EXPECT_EQ(change(1e-9, 0.5), "") << "one element tells";
    EXPECT_EQ(change(0.5, 0.5), "");
    change(0, 0);
    pool_.random[2].errors[0].changeNorm = pool_.random[2].errors[0].changeMax = 0.1;
    EXPECT_EQ(unsuitable(pool_), "") << "one case tells";
    pool_.description.outputs[0].type = contiguousType(DType::int64, {rows, columns});
    EXPECT_EQ(change(0, 0), "output 0 is the same whatever the inputs are");
    EXPECT_EQ(change(1, 1), "");
}

TEST(OtherSize, IsNearBelowAndNotTheSame) {
    std::mt19937_64 random(7);
    EXPECT_EQ(otherSize(2, 5), 3);
    EXPECT_EQ(otherSize(3, 4), 4);
    for (const std::int64_t size : {4, 5, 17, 64, 1000, 1 << 20}) {
        int multiples = 0;
        for (int i = 0; i < 400; ++i) {
            const auto other = otherSize(size, random());
            EXPECT_LT(other, size);
            EXPECT_GE(other, std::min<std::int64_t>(size / 2, size / 2 / 8 * 8 + 8) / 8 * 8);
            EXPECT_GE(other, 1);
            multiples += other % 8 == 0;
        }
        if (size >= 64) {
            EXPECT_GT(multiples, 150) << size;
            EXPECT_LT(multiples, 300) << size;
        }
    }
}

TEST_F(VerifyTest, ALuckyReferenceDoesNotShrinkTheAllowance) {
    auto lucky = pool_.random[0].errors[0];
    lucky.errorNorm = lucky.maxError = 0;
    const auto allowed = allowanceFor(lucky, pool_, 0, DType::float32);
    EXPECT_GE(allowed.maxError, pool_.random[1].errors[0].maxError * 3);
    EXPECT_GT(allowed.errorNorm, 0);
}

} // namespace
} // namespace cuda_agent::verify
