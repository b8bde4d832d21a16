// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// Schedules of maps on a GPU in which a thread has more than a vector of one row in hand.

namespace cuda_agent::policy::graphs {
namespace {

TEST(MapSchedules, RowsThatReadTheSameAreTakenTogether) {
    const auto differences = [](std::int64_t rows) {
        GraphWriter g;
        const TensorType type = f32({64, rows, 2048});
        const Json x = g.input(f32({64, rows + 1, 2048}));
        const Json before = g.op("slice.Tensor", type, x, 1, 0, rows);
        const Json behind = g.op("slice.Tensor", type, x, 1, 1, rows + 1);
        const Json change = g.op("sub.Tensor", type, behind, before);
        return spaceOf(g.returning({g.op("mul.Tensor", type, change, g.input(f32({2048})))}),
                       task::Numerics::standard);
    };
    const auto space = differences(255);
    const std::string first = space.allSingleChanges().at(0);
    EXPECT_EQ(first, "0|row-t128-h5-v4-u1-p0");
    const std::string kernels = kernelsOf(space, first);
    EXPECT_NE(kernels.find("in0_x_row + i + h * 2048"), kernels.npos) << kernels;
    const auto schedule = Schedule::fromText(first.substr(2));
    ASSERT_TRUE(schedule) << schedule.error().message;
    EXPECT_EQ(schedule->text(), first.substr(2));
    EXPECT_EQ(differences(251).allSingleChanges().at(0), "0|row-t128-v4-u2-p0") << "a prime";
}

TEST(MapSchedules, RowsOfWhichMuchIsComputedOnceAreTakenTogether) {
    const auto first = [](std::int64_t batch, const std::string &operation) {
        GraphWriter g;
        const TensorType type = f16({batch, 256, 1024});
        const Json x = g.input(type);
        const Json each = g.op(operation, f16({256, 1024}), g.input(f16({256, 1024})));
        return spaceOf(g.returning({g.op("mul.Tensor", type, x, each)}), task::Numerics::standard);
    };
    const auto logarithms = first(64, "log.default");
    EXPECT_EQ(logarithms.allSingleChanges().at(0), "0|row-t128-h4-v8-u1-p0");
    const auto kernels = kernelsOf(logarithms, "0|row-t128-h4-v8-u1-p0");
    EXPECT_NE(kernels.find("const long long k0 = row * 4;"), kernels.npos) << kernels;
    EXPECT_NE(kernels.find("storeVector(out0_row + i + h * 262144, "), kernels.npos) << kernels;
    const auto files = logarithms.write("0|row-t128-h4-v8-u1-p0", {});
    ASSERT_TRUE(files);
    const Json requirements = Json::parse(files->files.at("plan.json")).at("requires");
    EXPECT_NE(requirements.dump().find("(in0.shape[0]) % 4 == 0"), std::string::npos)
        << "the batch is open: " << requirements.dump();

    EXPECT_EQ(first(66, "log.default").allSingleChanges().at(0), "0|row-t128-h3-v8-u1-p0");
    EXPECT_EQ(first(67, "log.default").allSingleChanges().at(0), "0|row-t128-v8-u1-p0")
        << "a prime";
    EXPECT_EQ(first(64, "neg.default").allSingleChanges().at(0), "0|row-t128-v8-u1-p0")
        << "hides behind what is read";
}

TEST(MapSchedules, VectorsGoOverTheEndsOfOddLoops) {
    // Lines of 45 elements after padding, in a tensor that is one even walk.
    const auto padded = [](const auto &type, std::int64_t width) {
        GraphWriter g;
        const Json x = g.input(type({512, 8, 40, 40}));
        const Json wide = g.op("constant_pad_nd.default", type({512, 8, 42, width}), x,
                               Json::array({3, width - 43, 1, 1}), 1.0);
        return spaceOf(g.returning({g.op("relu.default", type({512, 8, 42, width}), wide)}),
                       task::Numerics::standard);
    };
    const auto half = padded(f16, 45);
    const std::string first = half.allSingleChanges().at(0);
    EXPECT_NE(first.find("-v4-"), first.npos) << first;
    const std::string kernels = kernelsOf(half, first);
    EXPECT_NE(kernels.find("= (unsigned)(i + e) % 45u;"), kernels.npos) << kernels;
    EXPECT_NE(kernels.find("storeVector(out0 + i, out0_y)"), kernels.npos) << kernels;
    EXPECT_NE(kernels.find("[r0 * 1600 + r1 * 40 + r2]"), kernels.npos)
        << "each element by itself: " << kernels;

    const auto plain = padded(f16, 48);
    EXPECT_EQ(kernelsOf(plain, plain.allSingleChanges().at(0)).find("(i + e) %"), kernels.npos)
        << "a multiple of vectors";
}

} // namespace
} // namespace cuda_agent::policy::graphs
