// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/reference/worker_fixture.h"

#include <cmath>

namespace cuda_agent::reference {
namespace {

/// The worker with device memory; skipped where there is no GPU.
class ReferenceOnCuda : public WorkerTest {
  protected:
    void SetUp() override {
        WorkerTest::SetUp();
        auto cuda = device::openCuda();
        if (!cuda)
            GTEST_SKIP() << cuda.error().message;
        device_ = std::move(*cuda);
    }
    template <typename T>
    std::vector<T> fetch(const device::TensorView &view) {
        std::vector<T> result(static_cast<std::size_t>(view.type.elements()));
        const auto done =
            device_->read(*view.memory, view.offset, result.data(), result.size() * sizeof(T));
        EXPECT_TRUE(done) << done.error().message;
        return result;
    }
};

TEST_F(ReferenceOnCuda, caseAgreesWithSoftmaxByHand) {
    auto worker = start("softmax");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->graphProblem, "");
    const auto made = worker->makeCase({"random", 11});
    ASSERT_TRUE(made) << made.error().message;
    const auto x = fetch<float>(made->inputs.tensors.at(0));
    const auto oracle = fetch<double>(made->oracle.at(0));
    for (std::size_t row = 0; row < 16; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < 33; ++i)
            sum += std::exp(static_cast<double>(x[row * 33 + i]));
        for (std::size_t i = 0; i < 33; ++i)
            EXPECT_NEAR(oracle[row * 33 + i], std::exp(static_cast<double>(x[row * 33 + i])) / sum,
                        1e-14);
    }
    EXPECT_GT(made->errors.at(0).errorNorm, 0);
    EXPECT_LT(made->errors.at(0).errorNorm, 1e-6 * made->errors.at(0).oracleNorm);
    EXPECT_TRUE(worker->makeCase({"nan", 11, 1, "nan"}));
    EXPECT_TRUE(worker->finish().clean());
    // The memory outlives the process that made it.
    EXPECT_EQ(fetch<double>(made->oracle.at(0)), oracle);
}

TEST_F(ReferenceOnCuda, parametersShareOneMemory) {
    auto worker = start("linear_norm");
    ASSERT_TRUE(worker);
    const auto parameters = worker->parameters();
    ASSERT_TRUE(parameters) << parameters.error().message;
    EXPECT_EQ(parameters->memory.size(), 1u);
    EXPECT_EQ(fetch<float>(parameters->tensors.at("norm.running_var")), std::vector<float>(8, 1));
}

TEST_F(ReferenceOnCuda, timesEveryBaseline) {
    auto worker = start("softmax", {"rows=8192", "columns=4096"});
    ASSERT_TRUE(worker);
    for (const auto baseline : {Baseline::eager, Baseline::compile, Baseline::eagerTf32,
                                Baseline::compileTf32, Baseline::compileMaxAutotune}) {
        const auto times = worker->time(baseline, 3, 30, 0);
        ASSERT_TRUE(times) << nameOf(baseline) << ": " << times.error().message;
        // 268 MB cross the memory: no card does it in 10 us, none takes 100 ms.
        for (const double seconds : times->seconds)
            EXPECT_TRUE(seconds > 1e-5 && seconds < 0.1) << nameOf(baseline) << ' ' << seconds;
    }
    EXPECT_TRUE(worker->release());
}

TEST_F(ReferenceOnCuda, aDeviceAssertionCostsOneProcessOnly) {
    auto worker = start("probabilities");
    ASSERT_TRUE(worker);
    const auto scaled = worker->makeCase({"scale 64", 1, 64, "none"});
    ASSERT_TRUE(scaled) << scaled.error().message;
    EXPECT_NE(scaled->skipped, "");
    const auto plain = worker->makeCase({"random", 1});
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_EQ(plain->skipped, "");
}

} // namespace
} // namespace cuda_agent::reference
