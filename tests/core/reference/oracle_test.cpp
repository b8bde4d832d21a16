// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/reference/worker_fixture.h"

#include <bit>
#include <cmath>
#include <limits>

namespace cuda_agent::reference {
namespace {

class Oracle : public WorkerTest {};

bool isUnconstrained(double value) {
    return std::bit_cast<std::uint64_t>(value) == device::unconstrainedBits;
}

TEST_F(Oracle, agreesWithSoftmaxByHand) {
    auto worker = start("softmax");
    ASSERT_TRUE(worker);
    const auto made = worker->makeCase({"random", 11});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->name, "random");
    const auto x = values(made->inputs.tensors.at(0));
    const auto oracle = values(made->oracle.at(0));
    ASSERT_EQ(oracle.size(), x.size());
    double norm = 0;
    double top = 0;
    for (std::size_t row = 0; row < 16; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < 33; ++i)
            sum += std::exp(x[row * 33 + i]);
        for (std::size_t i = 0; i < 33; ++i) {
            const double expected = std::exp(x[row * 33 + i]) / sum;
            EXPECT_NEAR(oracle[row * 33 + i], expected, 1e-15);
            norm += expected * expected;
            top = std::max(top, expected);
        }
    }
    const auto &error = made->errors.at(0);
    EXPECT_NEAR(error.oracleNorm, std::sqrt(norm), 1e-12);
    EXPECT_NEAR(error.maxOracle, top, 1e-15);
    // Single precision: wrong, but by little.
    EXPECT_GT(error.errorNorm, 1e-10 * error.oracleNorm);
    EXPECT_LT(error.errorNorm, 1e-6 * error.oracleNorm);
    EXPECT_LE(error.maxError, error.errorNorm);
    EXPECT_GT(error.sensitivityNorm, 1e-9 * error.oracleNorm);
    EXPECT_LT(error.sensitivityNorm, 1e-6 * error.oracleNorm);
    const auto quick = worker->makeCase({"random", 11, 1, "none", false});
    ASSERT_TRUE(quick);
    EXPECT_EQ(quick->errors.at(0).sensitivityNorm, 0);
    EXPECT_EQ(quick->errors.at(0).errorNorm, error.errorNorm);
}

TEST_F(Oracle, infinitiesOfAFusedBackwardPassBindNobody) {
    auto worker = start("layer_norm_backward");
    ASSERT_TRUE(worker);
    const auto made = worker->makeCase({"Inf", 11, 1, "inf"});
    ASSERT_TRUE(made) << made.error().message;
    const auto oracle = values(made->oracle.at(0));
    const auto free = std::count_if(oracle.begin(), oracle.end(), isUnconstrained);
    // Rows with an infinite gradient come out as NaN or infinite, by the formula; others are bound.
    EXPECT_GT(free, 0);
    EXPECT_LT(free, std::ssize(oracle) / 2);
    const auto plain = worker->makeCase({"random", 11});
    ASSERT_TRUE(plain);
    const auto all = values(plain->oracle.at(0));
    EXPECT_EQ(std::count_if(all.begin(), all.end(), isUnconstrained), 0);
}

TEST_F(Oracle, integerOutputsAreExact) {
    auto worker = start("two_outputs");
    ASSERT_TRUE(worker);
    const auto task = worker->describe();
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_FALSE(task->singleOutput);
    const auto made = worker->makeCase({"random", 4});
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->oracle.size(), 2u);
    EXPECT_EQ(made->oracle[1].type.dtype, DType::int64);
    const auto x = values(made->inputs.tensors.at(0));
    const auto largest = values(made->oracle[1]);
    for (std::size_t row = 0; row < 5; ++row) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(row * 9);
        EXPECT_EQ(largest[row], std::max_element(first, first + 9) - first);
    }
    EXPECT_EQ(made->errors.at(1).oracleNorm, 0);
}

TEST_F(Oracle, whereOnlySinglePrecisionOverflowsAnythingIsAccepted) {
    auto worker = start("overflow");
    ASSERT_TRUE(worker);
    const auto made = worker->makeCase({"random", 4});
    ASSERT_TRUE(made) << made.error().message;
    const auto oracle = values(made->oracle.at(0));
    EXPECT_EQ(oracle[0], 1);
    EXPECT_DOUBLE_EQ(oracle[1], std::exp(1.0));
    EXPECT_TRUE(isUnconstrained(oracle[2]));
    EXPECT_NEAR(oracle[3], std::exp(-200.0), 1e-100);
    EXPECT_TRUE(std::isnan(oracle[4]) && !isUnconstrained(oracle[4]));
    EXPECT_EQ(oracle[5], std::numeric_limits<double>::infinity());
    EXPECT_DOUBLE_EQ(made->errors.at(0).maxOracle, std::exp(1.0));
    EXPECT_LT(made->errors.at(0).sensitivityMax, 1e-6);
}

TEST_F(Oracle, isInDoubleEvenWhereTheModelInsistsOnFloat) {
    auto worker = start("hard_coded_float");
    ASSERT_TRUE(worker);
    const auto made = worker->makeCase({"random", 4});
    ASSERT_TRUE(made) << made.error().message;
    const auto x = values(made->inputs.tensors.at(0));
    const auto oracle = values(made->oracle.at(0));
    for (std::size_t row = 0; row < 6; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < 50; ++i)
            sum += x[row * 50 + i]; // three columns of a third each
        EXPECT_NEAR(oracle[row], sum, 1e-13);
    }
    EXPECT_GT(made->errors.at(0).errorNorm, 0);
}

TEST_F(Oracle, attributesThatAreNoBuffersAreRaisedToo) {
    auto worker = start("linear_norm");
    ASSERT_TRUE(worker);
    const auto made = worker->makeCase({"random", 4});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_LT(made->errors.at(0).errorNorm, 1e-5);
    EXPECT_GT(made->errors.at(0).oracleNorm, 1);
}

TEST_F(Oracle, inputsAreThoseBeforeAnInPlaceForward) {
    auto worker = start("in_place");
    ASSERT_TRUE(worker);
    const auto made = worker->makeCase({"random", 4});
    ASSERT_TRUE(made) << made.error().message;
    const auto x = values(made->inputs.tensors.at(0));
    const auto oracle = values(made->oracle.at(0));
    for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(oracle[i], 2 * x[i] + 1, 1e-15);
    EXPECT_LT(made->errors.at(0).maxError, 1e-6);
    EXPECT_LT(made->errors.at(0).sensitivityMax, 1e-6);
    const auto task = worker->describe();
    ASSERT_TRUE(task);
    EXPECT_NE(task->graphProblem.find("changes its input"), std::string::npos)
        << task->graphProblem;
}

TEST_F(Oracle, transforms) {
    auto worker = start("softmax");
    ASSERT_TRUE(worker);
    const auto inputs = [&](const char *transform, double scale = 1) {
        const auto made = worker->makeCase({transform, 9, scale, transform, false});
        EXPECT_TRUE(made) << made.error().message;
        EXPECT_EQ(made->skipped, "");
        return values(made->inputs.tensors.at(0));
    };
    const auto plain = inputs("none");
    const auto scaled = inputs("none", 64);
    for (std::size_t i = 0; i < plain.size(); ++i)
        EXPECT_EQ(scaled[i], plain[i] * 64);
    const auto count = [](const std::vector<double> &list, auto test) {
        return std::count_if(list.begin(), list.end(), test);
    };
    EXPECT_EQ(count(inputs("nan"), [](double v) { return std::isnan(v); }), 1);
    const auto infinite = inputs("inf");
    EXPECT_EQ(count(infinite, [](double v) { return std::isinf(v) && v > 0; }), 1);
    EXPECT_EQ(count(infinite, [](double v) { return std::isinf(v) && v < 0; }), 1);
    for (const double value : inputs("denormal"))
        EXPECT_LE(std::abs(value), 1.001e-39);
    const auto saturated = inputs("saturate");
    EXPECT_NEAR(
        std::abs(*std::max_element(saturated.begin(), saturated.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); })),
        1e30, 1e24);
}

TEST_F(Oracle, whatTheTaskRefusesIsSkipped) {
    auto worker = start("probabilities");
    ASSERT_TRUE(worker);
    EXPECT_EQ(worker->makeCase({"random", 1}).value().skipped, "");
    const auto scaled = worker->makeCase({"scale 64", 1, 64, "none"});
    ASSERT_TRUE(scaled) << scaled.error().message;
    EXPECT_NE(scaled->skipped.find("between 0 and 1"), std::string::npos) << scaled->skipped;
    EXPECT_NE(scaled->skipped.find("probabilities.py:"), std::string::npos) << scaled->skipped;
    EXPECT_TRUE(scaled->oracle.empty());
    EXPECT_EQ(worker->makeCase({"random", 1}).value().skipped, "");
    EXPECT_FALSE(worker->makeCase({"x", 1, 1, "sideways"}));
}

} // namespace
} // namespace cuda_agent::reference
