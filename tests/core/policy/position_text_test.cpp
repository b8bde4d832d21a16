// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/position_text.h"

#include "core/policy/planner/group_text.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// Where in their tensors kernels are told to read and write.

namespace cuda_agent::policy::graphs {
namespace {

/// Of the only kernel of a task.
std::string positionsOf(const task::Description &task) {
    const Fused fused = fuse(lowered(task), {});
    const auto groups = groupsOf(fused, false);
    EXPECT_EQ(groups.size(), 1u);
    return describePositions(fused.program, groups.at(0));
}

std::string nameOf(const Json &result) {
    return result.at("node");
}

TEST(PositionText, EachDimensionHasItsLoop) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5, 6})), y = g.input(f32({5, 1}));
    const TensorType type = f32({4, 6, 5});
    const Json turned = g.op("permute.default", type, x, Json{0, 2, 1});
    const Json other = g.op("permute.default", f32({1, 5}), y, Json{1, 0});
    EXPECT_EQ(positionsOf(g.returning({g.op("add.Tensor", type, turned, other)})),
              "in0[r0, r2, r1]; in1[r2, 0]; out0[r0, r1, r2]");
}

TEST(PositionText, DimensionsThatOneLoopWalksHaveOnePlace) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5, 6})), y = g.input(f32({4, 1, 1}));
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", f32({4, 5, 6}), x)})),
              "in0[i, _, _]; out0[i, _, _]");
    EXPECT_EQ(positionsOf(g.returning({g.op("mul.Tensor", f32({4, 5, 6}), x, y)})),
              "in0[r0, r1, _]; in1[r0, 0, 0]; out0[r0, r1, _]");
}

TEST(PositionText, ADimensionThatSeveralLoopsWalkIsTheirSum) {
    GraphWriter g;
    const Json x = g.input(f32({4, 12, 5}));
    const Json cut = g.op("view.default", f32({4, 3, 4, 5}), x, Json{4, 3, 4, 5});
    const Json turned = g.op("permute.default", f32({4, 4, 3, 5}), cut, Json{0, 2, 1, 3});
    const Json copied = g.op("clone.default", f32({4, 4, 3, 5}), turned);
    const Json shuffled = g.op("view.default", f32({4, 12, 5}), copied, Json{4, 12, 5});
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", f32({4, 12, 5}), shuffled)})),
              "in0[r0, r1 + r2 * 4, r3]; out0[r0, r1 * 3 + r2, r3]");
}

TEST(PositionText, TilesHaveTheirOwnLoops) {
    GraphWriter g;
    const Json x = g.input(f32({4, 6, 64, 128}));
    const TensorType type = f32({4, 128, 6, 64});
    const Json turned = g.op("permute.default", type, x, Json{0, 3, 1, 2});
    const Fused fused = fuse(lowered(g.returning({g.op("exp.default", type, turned)})), {});
    EXPECT_EQ(describePositions(fused.program, groupsOf(fused, true).at(0)),
              "in0[row, y, _, x]; out0[row, x, y, _]");
}

TEST(PositionText, PartsBeginBehindTheFirstPlaceAndWhatIsTurnedAroundAtTheLast) {
    GraphWriter g;
    const Json x = g.input(f32({4, 40, 16}));
    const TensorType type = f32({4, 38, 16});
    const Json first = g.op("slice.Tensor", type, x, 1, 0, 38);
    const Json second = g.op("slice.Tensor", type, x, 1, 1, 39);
    const Json last = g.op("slice.Tensor", type, x, 1, 2, 40);
    const Json sum = g.op("add.Tensor", type, g.op("sub.Tensor", type, second, first), last);
    EXPECT_EQ(positionsOf(g.returning({sum})),
              "in0_x = in0[r0, r1 + 2 * 16, _]; in0_x2 = in0[r0, r1 + 16, _]; "
              "in0_x3 = in0[r0, r1, _]; out0[r0, r1, _]");
    const Json flipped = g.op("flip.default", f32({4, 40, 16}), x, Json{1});
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", f32({4, 40, 16}), flipped)})),
              "in0[r0, 40 - 1 - r1, r2]; out0[r0, r1, r2]");
}

TEST(PositionText, WindowsStepAlongTheDimensionsThatTheyLieIn) {
    GraphWriter g;
    const Json x = g.input(f32({4, 8, 61, 64}));
    const TensorType type = f32({4, 8, 19, 20});
    const Json pooled = g.node("aten.max_pool2d_with_indices.default", {type, i64({4, 8, 19, 20})},
                               {x, Json{3, 3}, Json{3, 3}, Json{0, 0}, Json{2, 2}}, Json::object());
    EXPECT_EQ(positionsOf(g.returning({g.item(pooled, 0, type)})),
              "in0[k0, _, k1 * 3 + r0 * 2, k2 * 3 + r1 * 2]; out0[k0, _, k1, k2]");
}

TEST(PositionText, ABorderSaysWhereAndWhatIsElsewhere) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5, 6}));
    const TensorType type = f32({4, 8, 6});
    const Json padded = g.op("constant_pad_nd.default", type, x, Json{0, 0, 1, 2}, 1.0);
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", type, padded)})),
              nameOf(padded) +
                  " = in0[r0, r1 - 1, r2] where r1 >= 1 and r1 < 6, else 1; out0[r0, r1, r2]");
}

TEST(PositionText, WhereABorderEndsIsWhatItIsMadeOf) {
    GraphWriter g;
    const Json x = g.input(f32({4, 40, 60}));
    const TensorType type = f32({4, 45, 70});
    const Json padded = g.op("constant_pad_nd.default", type, x, Json{0, 10, 3, 2}, 0.0);
    const auto task = g.returning({g.op("exp.default", type, padded)});
    EXPECT_EQ(positionsOf(task), nameOf(padded) +
                                     " = in0[row, r0 - 3, r1] where r0 >= 3 and r0 < (40 + 3) and "
                                     "r1 < 60, else 0; out0[row, r0, r1]");
    const Fused fused = fuse(lowered(task), {});
    EXPECT_EQ(borderTexts(fused.program, groupsOf(fused, false).at(0)),
              (std::map<std::int64_t, std::string>{{43, "(40 + 3)"}}));
}

TEST(PositionText, PartsAreToldOneAfterTheOther) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5})), y = g.input(f32({4, 3}));
    const TensorType type = f32({4, 8});
    const Json both = g.op("cat.default", type, Json::array({x, y}), 1);
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", type, both)})),
              "in0[r0, r1] where r1 < 5, else 0; in1[r0, r1 - 5] where r1 >= 5, else 0; "
              "out0[r0, r1]");
}

TEST(PositionText, PositionsAreFormulasOrTheNamesOfWhatComputesThem) {
    GraphWriter g;
    const Json x = g.input(f32({4, 3})), i = g.input(i64({4, 1}));
    const Json twice = g.op("repeat.default", f32({4, 6}), x, Json{1, 2});
    const Json part = g.op("slice.Tensor", f32({4, 4}), twice, 1, 1, 5);
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", f32({4, 4}), part)})),
              nameOf(part) + " = in0[r0, (r1 + 1) % 3]; out0[r0, r1]");
    const Json picked = g.op("gather.default", f32({4, 1}), x, 1, i);
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", f32({4, 1}), picked)})),
              nameOf(picked) + " = in0[i, clamp(in1, 0, 2)]; in1[i, 0]; out0[i, 0]");
}

TEST(PositionText, RangesOfTheTaskAreLoops) {
    GraphWriter g;
    const Json x = g.input(f32({4, 8}));
    const Json range = g.op("arange.default", f32({12}), 12);
    const Json scaled = g.op("mul.Tensor", f32({12}), range, 0.7);
    const Json place =
        g.node("aten._to_copy.default", {i64({12})}, Json::array({scaled}), {{"dtype", "int64"}});
    const Json picked = g.op("index.Tensor", f32({4, 12}), x, Json::array({nullptr, place}));
    const auto task = g.returning({g.op("exp.default", f32({4, 12}), picked)});
    EXPECT_EQ(positionsOf(task), nameOf(picked) + " = in0[r0, " + nameOf(place) + "]; " +
                                     nameOf(range) + " = r1; out0[r0, r1]");
    const Fused fused = fuse(lowered(task), {});
    const auto work = describeGroup(fused.program, groupsOf(fused, false).at(0));
    EXPECT_NE(work.find(nameOf(place) + "(" + nameOf(scaled) + ")"), work.npos) << work;
    EXPECT_EQ(work.find("; " + nameOf(range) + ","), work.npos) << work;
}

TEST(PositionText, WhatBeginsAFewPlacesBeforeTheEndSaysSo) {
    GraphWriter g;
    const Json x = g.input(f32({4, 40}));
    const Json last = g.op("slice.Tensor", f32({4, 2}), x, 1, 38, 40);
    const Json first = g.op("slice.Tensor", f32({4, 1}), x, 1, 37, 38);
    const auto task = g.returning({g.op("mul.Tensor", f32({4, 2}), last, first)});
    EXPECT_EQ(positionsOf(task),
              "in0_x = in0[r0, r1 + 40 - 2]; in0_x2 = in0[r0, 40 - 3]; out0[r0, r1]");
    const Fused fused = fuse(lowered(task), {});
    const auto text = describeAccesses(fused.program, groupsOf(fused, false).at(0));
    EXPECT_TRUE(text.starts_with("in0_x_row = in0 + (40 - 2): 40, 1 by 2; "
                                 "in0_x2_row = in0 + (40 - 3): 40, 0"))
        << text;
}

TEST(PositionText, APartBehindOthersBeginsWhereTheseEnd) {
    GraphWriter g;
    const Json x = g.input(f32({4, 48, 6})), y = g.input(f32({4, 2, 6})),
               z = g.input(f32({4, 3, 6}));
    const TensorType type = f32({4, 53, 6});
    const Json all = g.op("cat.default", type, Json::array({x, y, z}), 1);
    const auto task = g.returning({g.op("exp.default", type, all)});
    EXPECT_EQ(positionsOf(task),
              "in0[r0, r1, r2] where r1 < 48, else 0; in1[r0, r1 - 48, r2] "
              "where r1 >= 48 and r1 < (2 + 48), else 0; "
              "in2[r0, r1 - (2 + 48), r2] where r1 >= (2 + 48), else 0; out0[r0, r1, r2]");
    const Fused fused = fuse(lowered(task), {});
    const auto text = describeAccesses(fused.program, groupsOf(fused, false).at(0));
    EXPECT_NE(text.find("; in2 + -((2 + 48) * 6): (3 * 6), 6, 1"), text.npos) << text;
}

TEST(PositionText, LongFormulasHaveANameThatOthersTake) {
    GraphWriter g;
    const Json x = g.input(f32({4, 30, 40}));
    const TensorType type = f32({4, 30, 60});
    const Json wide = g.op("upsample_linear1d.default", type, x, Json{60}, false, nullptr);
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", type, wide)})),
              "p0 = clampmin((r1 + 0.5) * 0.6666667 - 0.5, 0); in0_x = in0[r0, _, p0]; "
              "in0_x2 = in0[r0, _, iminimum(p0 + 1, 39)]; out0[r0, _, r1]");
}

TEST(PositionText, KernelsCallWhatIsReadAsItIsTold) {
    // The operators stand in the other order: what is read first is told last.
    GraphWriter g;
    const Json x = g.input(f32({64, 128, 256}));
    const TensorType type = f32({64, 127, 256});
    const Json first = g.op("slice.Tensor", type, x, 1, 0, 127);
    const Json second = g.op("slice.Tensor", type, x, 1, 1, 128);
    const Json sines = g.op("sin.default", type, first);
    const auto task = g.returning({g.op("sub.Tensor", type, second, sines)});
    const Fused fused = fuse(lowered(task), {});
    const auto groups = groupsOf(fused, false);
    EXPECT_TRUE(describePositions(fused.program, groups.at(0))
                    .starts_with("in0_x = in0[row, i + 256, _]; in0_x2 = in0[row, i, _]"))
        << describePositions(fused.program, groups.at(0));
    Schedule schedule;
    schedule.parts = 0;
    schedule.unroll = 1;
    schedule.vector = 4;
    const auto files = makeCandidate(fused, groups, {schedule}, "name", {});
    const std::string &source = files.files.at("kernels/planner.cu");
    EXPECT_NE(source.find(" = sinf(in0_x2"), source.npos) << source;
    EXPECT_NE(source.find("*in0_x_row = in0 + row * 32768 + 256;"), source.npos) << source;
    const auto begin = source.find("loadVector(in0_x, in0_x_row + ");
    EXPECT_LT(begin, source.find("loadVector(in0_x2, in0_x2_row + ")) << source;
}

TEST(PositionText, KernelsAskForAPlaceInOneLine) {
    GraphWriter g;
    const Json x = g.input(f32({64, 30, 40}));
    const TensorType type = f32({64, 34, 46});
    const Json padded = g.op("constant_pad_nd.default", type, x, Json{3, 3, 2, 2}, 9.0);
    const Fused fused = fuse(lowered(g.returning({g.op("sin.default", type, padded)})), {});
    Schedule schedule;
    schedule.parts = 0;
    const auto files = makeCandidate(fused, groupsOf(fused, false), {schedule}, "name", {});
    const std::string &source = files.files.at("kernels/planner.cu");
    EXPECT_NE(source.find("const bool t0 = r0 >= 2 && r0 < 32 && r1 >= 3 && r1 < 43;"), source.npos)
        << source;
    EXPECT_NE(source.find("constexpr int parts = cdiv(1564, 256);"), source.npos) << source;
}

TEST(CountText, SaysThatAScheduleHoldsARow) {
    GraphWriter g;
    const Json x = g.input(f32({64, 30, 15}));
    const Fused fused = fuse(lowered(g.returning({g.op("sum.dim_IntList", f32({64}),
                                                       g.op("sin.default", f32({64, 30, 15}), x),
                                                       Json::array({1, 2}))})),
                             {});
    const auto groups = groupsOf(fused, false);
    const auto counts = [&](const char *schedule) {
        return describeCounts(fused.program, groups.at(0), *Schedule::fromText(schedule));
    };
    EXPECT_EQ(counts("row-t128-m32-v1-u15-staged"), "held = cdiv(30 * 15, 32)");
    EXPECT_EQ(counts("row-t128-m32-v2-u8-staged"), "held = cdiv(30 * 15, 32 * 2)");
    EXPECT_EQ(counts("row-t512-v1-u1-staged"), "30 * 15 < 512");
    EXPECT_EQ(counts("column-t256-y9-v1-u50-staged"), "held = 30 * 15 / 9");
    EXPECT_EQ(counts("row-t128-m1-v2-u225-staged"), "held = 30 * 15 / 2");
    EXPECT_EQ(counts("column-t256-v1-u450-staged"), "held = 30 * 15");
    EXPECT_EQ(counts("row-t256-v4-u2"), "");
}

TEST(CountText, SaysWhatGoesAlongAndAcrossTiles) {
    GraphWriter g;
    const Json x = g.input(f32({4, 547, 128}));
    const Json turned = g.op("permute.default", f32({4, 128, 547}), x, Json{0, 2, 1});
    const Fused fused =
        fuse(lowered(g.returning({g.op("exp.default", f32({4, 128, 547}), turned)})), {});
    EXPECT_EQ(describeCounts(fused.program, groupsOf(fused, true).at(0),
                             *Schedule::fromText("tile-t512-x32-a128-v4")),
              "y < 547 by 128, x < 128 by 32");
}

TEST(ApartText, SaysWhatARunsWidthIsTooWideFor) {
    GraphWriter g;
    const Json x = g.input(f32({64, 752}));
    const Json padded = g.op("constant_pad_nd.default", f32({64, 760}), x, Json{4, 4});
    const Fused fused =
        fuse(lowered(g.returning({g.op("exp.default", f32({64, 760}), padded)})), {});
    const auto groups = groupsOf(fused, false);
    const auto apart = [&](const char *schedule) {
        return describeApart(fused.program, groups.at(0), *Schedule::fromText(schedule));
    };
    EXPECT_EQ(apart("row-t128-v8-u1-p0"), "n1 one by one");
    EXPECT_EQ(apart("row-t128-v4-u1-p0"), "") << "borders lie between runs of four";
    EXPECT_EQ(apart("row-t128-v1-u1-p0"), "");
}

} // namespace
} // namespace cuda_agent::policy::graphs
