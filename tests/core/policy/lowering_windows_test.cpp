// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/candidate.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// Pooling and depthwise convolution as reductions over windows, running sums as scans: what they
// mean, and which loops the kernels get.

namespace cuda_agent::policy::graphs {
namespace {

Numbers outputOf(const task::Description &task, const Numbers &input) {
    const Program program = lowered(task);
    Memory memory;
    for (const BufferInfo &buffer : program.buffers) {
        if (buffer.role == BufferRole::input)
            memory[buffer.name] = input;
        if (buffer.role == BufferRole::parameter)
            memory[buffer.name] = scattered(
                static_cast<std::size_t>(contiguousType(buffer.dtype, buffer.shape).elements()));
    }
    const Fused fused = fuse(program, {});
    return evaluate(fused, memory)["out0"];
}

TEST(LoweringWindows, MaxPoolingLooksAtWindowsAndNotBeyondTheBorder) {
    GraphWriter g;
    const Json x = g.input(f32({1, 5}));
    const Json pool = g.node("aten.max_pool1d_with_indices.default", {f32({1, 3}), i64({1, 3})},
                             Json::array({x, Json{3}, Json{2}, Json{1}}), Json::object());
    const Json values = g.item(pool, 0, f32({1, 3})), places = g.item(pool, 1, i64({1, 3}));
    EXPECT_EQ(outputOf(g.returning({values}), {-5, -1, -3, -2, -4}), (Numbers{-1, -1, -2}));
    EXPECT_EQ(outputOf(g.returning({places}), {-5, -1, -3, -2, -4}), (Numbers{1, 1, 3}));
}

TEST(LoweringWindows, AverageWindowsCountWhatTheOperatorSays) {
    const auto averages = [](bool ceil, bool countPadding, Json divisor, std::int64_t outputs) {
        GraphWriter g;
        const Json x = g.input(f32({1, 4}));
        return outputOf(
            g.returning({g.op("avg_pool1d.default", f32({1, outputs}), x, Json{3}, Json{2}, Json{1},
                              ceil, countPadding, std::move(divisor))}),
            {1, 2, 4, 8});
    };
    EXPECT_EQ(averages(false, true, nullptr, 2), (Numbers{1, 14.0 / 3}));
    EXPECT_EQ(averages(false, false, nullptr, 2), (Numbers{1.5, 14.0 / 3}));
    EXPECT_EQ(averages(true, true, nullptr, 3), (Numbers{1, 14.0 / 3, 4})) << "8 and a border";
    EXPECT_EQ(averages(true, false, nullptr, 3), (Numbers{1.5, 14.0 / 3, 8}));
    EXPECT_EQ(averages(false, true, 2, 2), (Numbers{1.5, 7}));
}

TEST(LoweringWindows, DepthwiseConvolutionIsASumOverWindowsOfItsOwnFilter) {
    GraphWriter g;
    const Json x = g.input(f32({1, 2, 4})), w = g.parameter("w", f32({4, 1, 2}));
    const auto task = g.returning({g.op("convolution.default", f32({1, 4, 3}), x, w, nullptr,
                                        Json{1}, Json{0}, Json{1}, false, Json{0}, 2)});
    EXPECT_TRUE(lowered(task).library.empty());
    const Numbers weight = scattered(8), out = outputOf(task, positions(8));
    for (std::size_t o = 0; o < 4; ++o) {
        for (std::size_t i = 0; i < 3; ++i) {
            const double first = static_cast<double>(o / 2 * 4 + i);
            EXPECT_DOUBLE_EQ(out[o * 3 + i],
                             first * weight[2 * o] + (first + 1) * weight[2 * o + 1]);
        }
    }
}

TEST(LoweringWindows, AdaptiveWindowsThatDifferInSize) {
    GraphWriter g;
    const Json x = g.input(f32({1, 5})), grad = g.input(f32({1, 3}));
    const auto averages =
        g.returning({g.op("adaptive_avg_pool1d.default", f32({1, 3}), x, Json{3})});
    EXPECT_EQ(evaluate(fuse(lowered(averages), {}),
                       {{"in0", {1, 2, 4, 8, 16}}, {"in1", {0, 0, 0}}})["out0"],
              (Numbers{1.5, 14.0 / 3, 12}));
    const auto back =
        g.returning({g.op("_adaptive_avg_pool1d_backward.default", f32({1, 5}), grad, x)});
    EXPECT_EQ(
        evaluate(fuse(lowered(back), {}), {{"in0", positions(5)}, {"in1", {2, 6, 8}}})["out0"],
        (Numbers{1, 3, 2, 6, 4}));
}

TEST(LoweringWindows, AdaptiveMaximaAreThoseOfTiles) {
    GraphWriter g;
    const Json x = g.input(f32({1, 4}));
    const Json pool = g.node("aten.adaptive_max_pool1d.default", {f32({1, 2}), i64({1, 2})},
                             Json::array({x, Json{2}}), Json::object());
    EXPECT_EQ(outputOf(g.returning({g.item(pool, 0, f32({1, 2}))}), {1, 5, 7, 2}), (Numbers{5, 7}));
    EXPECT_EQ(outputOf(g.returning({g.item(pool, 1, i64({1, 2}))}), {1, 5, 7, 2}), (Numbers{1, 2}));
}

TEST(LoweringWindows, SizesUnderWindowsAreRequired) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3, 8}));
    const Program program =
        lowered(g.returning({g.op("avg_pool1d.default", f32({2, 3, 4}), x, Json{2})}));
    EXPECT_EQ(program.requirements, std::vector<std::string>{"in0.shape[2] == 8"});
}

TEST(LoweringWindows, OverlappingWindowsGoSideBySideAndTightOnesAreRows) {
    const auto column = [](Json size, Json stride, std::int64_t outputs) {
        GraphWriter g;
        const Json x = g.input(f32({2, 33}));
        const Fused fused =
            fuse(lowered(g.returning({g.op("avg_pool1d.default", f32({2, outputs}), x,
                                           std::move(size), std::move(stride))})),
                 {});
        return groupsOf(fused).at(0).nest.column();
    };
    EXPECT_TRUE(column(Json{3}, Json{1}, 31));
    EXPECT_FALSE(column(Json{3}, Json{3}, 11));
}

// --- backward --------------------------------------------------------------------------------

/// The gradient of a pool of one dimension, from `in` to the gradient's size.
Numbers averageGradient(std::int64_t in, const Numbers &grad, Json size, Json stride, Json padding,
                        bool countPadding) {
    GraphWriter g;
    const auto out = static_cast<std::int64_t>(grad.size());
    const Json given = g.input(f32({1, out})), x = g.input(f32({1, in}));
    const auto task =
        g.returning({g.op("avg_pool1d_backward.default", f32({1, in}), given, x, std::move(size),
                          std::move(stride), std::move(padding), false, countPadding, nullptr)});
    const Program program = lowered(task);
    EXPECT_NE(std::find(program.requirements.begin(), program.requirements.end(),
                        fmt::format("in1.shape[1] == {}", in)),
              program.requirements.end());
    return evaluate(fuse(program, {}),
                    {{"in0", grad}, {"in1", scattered(static_cast<std::size_t>(in))}})["out0"];
}

TEST(LoweringPoolBackward, TilesShareTheirGradient) {
    EXPECT_EQ(averageGradient(4, {2, 6}, 2, 2, 0, true), (Numbers{1, 1, 3, 3}));
}

TEST(LoweringPoolBackward, WhatNoWindowReadGetsNothing) {
    EXPECT_EQ(averageGradient(5, {2, 6}, 2, 2, 0, true), (Numbers{1, 1, 3, 3, 0}));
    EXPECT_EQ(averageGradient(7, {2, 6}, 2, 3, 0, true), (Numbers{1, 1, 0, 3, 3, 0, 0}));
}

TEST(LoweringPoolBackward, OverlappingWindowsAddUp) {
    EXPECT_EQ(averageGradient(4, {3, 6}, 3, 2, 1, true), (Numbers{1, 3, 2, 2}));
    EXPECT_EQ(averageGradient(4, {3, 6}, 3, 2, 1, false), (Numbers{1.5, 3.5, 2, 2}));
    EXPECT_EQ(averageGradient(4, {3, 6, 9}, 2, 1, 0, true), (Numbers{1.5, 4.5, 7.5, 4.5}));
}

TEST(LoweringPoolBackward, TheLargestElementOfEachWindowGetsItsGradient) {
    const auto gradient = [](std::int64_t in, const Numbers &x, const Numbers &grad, Json size,
                             Json stride, Json padding, Json dilation) {
        GraphWriter g;
        const auto out = static_cast<std::int64_t>(grad.size());
        const Json given = g.input(f32({1, out})), values = g.input(f32({1, in}));
        const Json pool =
            g.node("aten.max_pool1d_with_indices.default", {f32({1, out}), i64({1, out})},
                   Json::array({values, size, stride, padding, dilation}), Json::object());
        const Json places = g.item(pool, 1, i64({1, out}));
        const auto task =
            g.returning({g.op("max_pool1d_with_indices_backward.default", f32({1, in}), given,
                              values, size, stride, padding, dilation, false, places)});
        return evaluate(fuse(lowered(task), {}), {{"in0", grad}, {"in1", x}})["out0"];
    };
    EXPECT_EQ(gradient(4, {1, 2, 4, 3}, {10, 20}, 2, 2, 0, 1), (Numbers{0, 10, 20, 0}));
    EXPECT_EQ(gradient(4, {1, 5, 4, 3}, {10, 20, 30}, 2, 1, 0, 1), (Numbers{0, 30, 30, 0}));
    EXPECT_EQ(gradient(5, {1, 2, 9, 3, 4}, {10, 20, 30}, 3, 2, 1, 1), (Numbers{0, 10, 20, 0, 30}));
    EXPECT_EQ(gradient(4, {1, 5, 4, 3}, {10, 20}, 2, 1, 0, 2), (Numbers{0, 20, 10, 0}));
}

TEST(LoweringScans, ARunningSumOfWhatIsTurnedAroundRunsFromTheEnd) {
    GraphWriter g;
    const Json x = g.input(f32({2, 4}));
    const Json turned = g.op("flip.default", f32({2, 4}), x, Json{1});
    const Json sums = g.op("cumsum.default", f32({2, 4}), turned, 1);
    const auto task = g.returning({g.op("flip.default", f32({2, 4}), sums, Json{1})});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = sum[back from j](in0[i, j])\n");
    EXPECT_EQ(outputOf(task, {1, 2, 3, 4, 5, 6, 7, 8}), (Numbers{10, 9, 7, 4, 26, 21, 15, 8}));
}

TEST(LoweringScans, ScansOfOneDirectionShareAKernelWithWhatFollows) {
    GraphWriter g;
    const TensorType type = f32({2, 4});
    const Json x = g.input(type);
    const Json sums = g.op("cumsum.default", type, x, 1);
    const Json products = g.op("cumprod.default", type, x, 1);
    const Json back =
        g.op("flip.default", type,
             g.op("cumsum.default", type, g.op("flip.default", type, x, Json{1}), 1), Json{1});
    const auto task =
        g.returning({g.op("mul.Tensor", type, sums, products), g.op("neg.default", type, back)});
    const Fused fused = fuse(lowered(task), {});
    ASSERT_EQ(fused.units.size(), 2u);
    EXPECT_EQ(fused.units[0].group->scans.size(), 2u);
    EXPECT_EQ(fused.units[1].group->scans.size(), 1u);
    EXPECT_EQ(evaluate(fused, {{"in0", {1, 2, 3, 4, 1, 1, 2, 2}}})["out0"],
              (Numbers{1, 6, 36, 240, 1, 2, 8, 24}));
}

TEST(LoweringScans, WhatReadsAnotherPartOfAScanReadsItFromMemory) {
    GraphWriter g;
    const Json x = g.input(f32({2, 4}));
    const Json sums = g.op("cumsum.default", f32({2, 4}), x, 1);
    const auto task = g.returning({g.op("slice.Tensor", f32({2, 2}), sums, 1, 1, 3)});
    EXPECT_EQ(outputOf(task, {1, 2, 3, 4, 5, 6, 7, 8}), (Numbers{3, 6, 11, 18}));
}

} // namespace
} // namespace cuda_agent::policy::graphs
