// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/candidate.h"
#include "core/policy/planner/resampling.h"
#include "core/policy/planner/runs.h"
#include "core/policy/planner/schedule_space.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// Positions that are computed or given: which elements are read, that none outside a buffer is, and
// what fuses.

namespace cuda_agent::policy::graphs {
namespace {

Numbers outputOf(const task::Description &task, Memory memory) {
    const Program program = lowered(task);
    return evaluate(fuse(program, {}), std::move(memory))["out0"];
}

TensorType i32(Shape shape) {
    return contiguousType(DType::int32, std::move(shape));
}

TEST(LoweringIndexing, AnEmbeddingReadsRowsOfItsTableInOneKernelWithWhatFollows) {
    GraphWriter g;
    const Json table = g.parameter("w", f32({5, 2})), at = g.input(i64({3}));
    const Json rows = g.op("embedding.default", f32({3, 2}), table, at);
    const auto task = g.returning({g.op("neg.default", f32({3, 2}), rows)});
    const Fused fused = fuse(lowered(task), {});
    EXPECT_EQ(fused.units.size(), 1u);
    EXPECT_EQ(textOf(fused.program),
              "out0[i, j] = neg(p_w[iminimum(imaximum(in0[i], 0), 4), j])\n");
    EXPECT_EQ(outputOf(task, {{"in0", {4, 0, 4}}, {"p_w", positions(10)}}),
              (Numbers{-8, -9, -0.0, -1, -8, -9}));
}

TEST(LoweringIndexing, PositionsOutsideAreTakenAtTheBorder) {
    GraphWriter g;
    const Json x = g.input(f32({4})), at = g.input(i64({3}));
    const auto select = g.returning({g.op("index_select.default", f32({3}), x, 0, at)});
    // The evaluation fails where an element outside a buffer is read.
    EXPECT_EQ(outputOf(select, {{"in0", positions(4)}, {"in1", {-7, 2, 4000000000.0}}}),
              (Numbers{0, 2, 3}));
}

TEST(LoweringIndexing, IndexTensorsTakeThePlaceOfTheirDimensionsAndCountFromTheEnd) {
    GraphWriter g;
    const Json x = g.input(f32({2, 4, 2})), at = g.input(i32({3}));
    const auto task =
        g.returning({g.op("index.Tensor", f32({2, 3, 2}), x, Json::array({nullptr, at}))});
    EXPECT_EQ(outputOf(task, {{"in0", positions(16)}, {"in1", {-1, 0, 2}}}),
              (Numbers{6, 7, 0, 1, 4, 5, 14, 15, 8, 9, 12, 13}));
}

TEST(LoweringIndexing, SeveralIndexTensorsAreBroadcastAndComeFirstWhenApart) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3, 2})), a = g.input(i64({2, 1})), b = g.input(i64({2}));
    const auto task =
        g.returning({g.op("index.Tensor", f32({2, 2, 3}), x, Json::array({a, nullptr, b}))});
    EXPECT_EQ(outputOf(task, {{"in0", positions(12)}, {"in1", {1, 0}}, {"in2", {0, 1}}}),
              (Numbers{6, 8, 10, 7, 9, 11, 0, 2, 4, 1, 3, 5}));
}

TEST(LoweringIndexing, GatherFollowsTheOtherDimensionsAndOnlyAsFarAsTheIndexGoes) {
    GraphWriter g;
    const Json x = g.input(f32({3, 4})), at = g.input(i64({2, 2}));
    const auto task = g.returning({g.op("gather.default", f32({2, 2}), x, 1, at)});
    EXPECT_EQ(outputOf(task, {{"in0", positions(12)}, {"in1", {3, 0, 1, 1}}}),
              (Numbers{3, 0, 5, 5}));
}

TEST(LoweringIndexing, WhatIsPickedIsComputedWhereItIsPicked) {
    GraphWriter g;
    const Json x = g.input(f32({4, 2})), at = g.input(i64({2}));
    const Json twice = g.op("mul.Tensor", f32({4, 2}), x, x);
    const auto task = g.returning({g.op("index.Tensor", f32({2, 2}), twice, Json::array({at}))});
    EXPECT_EQ(fuse(lowered(task), {}).units.size(), 1u);
    EXPECT_EQ(outputOf(task, {{"in0", positions(8)}, {"in1", {3, 1}}}), (Numbers{36, 49, 4, 9}));
}

TEST(LoweringIndexing, ResultsOfReductionsArePickedFromMemory) {
    GraphWriter g;
    const Json x = g.input(f32({3, 2})), at = g.input(i64({2}));
    const Json sums = g.op("sum.dim_IntList", f32({3}), x, Json{1});
    const auto task = g.returning({g.op("index.Tensor", f32({2}), sums, Json::array({at}))});
    EXPECT_EQ(fuse(lowered(task), {}).units.size(), 2u);
    EXPECT_EQ(outputOf(task, {{"in0", positions(6)}, {"in1", {2, 0}}}), (Numbers{9, 1}));
}

TEST(LoweringIndexing, RunningSumsArePickedFromMemoryWhereThePositionChangesAlongThem) {
    GraphWriter g;
    const Json x = g.input(f32({3, 2})), at = g.input(i64({3, 2}));
    const Json sums = g.op("cumsum.default", f32({3, 2}), x, 0);
    const auto task = g.returning({g.op("gather.default", f32({3, 2}), sums, 1, at)});
    EXPECT_EQ(fuse(lowered(task), {}).units.size(), 2u);
    EXPECT_EQ(outputOf(task, {{"in0", positions(6)}, {"in1", {1, 0, 0, 0, 1, 1}}}),
              (Numbers{1, 0, 2, 2, 9, 9}));
}

TEST(LoweringIndexing, OfRunningSumsOfWholeRowsOthersAreSummed) {
    GraphWriter g;
    const Json x = g.input(f32({3, 2})), at = g.input(i64({2}));
    const Json sums = g.op("cumsum.default", f32({3, 2}), x, 1);
    const auto task = g.returning({g.op("index.Tensor", f32({2, 2}), sums, Json::array({at}))});
    EXPECT_EQ(fuse(lowered(task), {}).units.size(), 1u);
    EXPECT_EQ(outputOf(task, {{"in0", positions(6)}, {"in1", {2, 0}}}), (Numbers{4, 9, 0, 1}));
}

TEST(LoweringIndexing, APartOfANormalisedRowNeedsNoCopyOfTheRow) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3}));
    const Json sums = g.op("sum.dim_IntList", f32({2, 1}), x, Json{1}, true);
    const Json share = g.op("div.Tensor", f32({2, 3}), x, sums);
    const auto task = g.returning({g.op("slice.Tensor", f32({2, 2}), share, 1, 1, 3)});
    for (const BufferInfo &buffer : lowered(task).buffers)
        EXPECT_NE(buffer.role, BufferRole::scratch);
    EXPECT_EQ(outputOf(task, {{"in0", {1, 1, 2, 2, 4, 2}}}), (Numbers{0.25, 0.5, 0.5, 0.25}));
}

TEST(LoweringIndexing, SizesUnderPicksAreRequired) {
    GraphWriter g;
    const Json x = g.input(f32({2, 4, 2})), at = g.input(i64({3}));
    const Program program =
        lowered(g.returning({g.op("index.Tensor", f32({2, 3, 2}), x, Json::array({nullptr, at}))}));
    EXPECT_EQ(program.requirements, std::vector<std::string>{"in0.shape[1] == 4"});
}

TEST(LoweringIndexing, SizesOfWhatIsSlicedAreRequired) {
    GraphWriter g;
    const Json x = g.input(f32({2, 4, 2}));
    const Program program =
        lowered(g.returning({g.op("slice.Tensor", f32({2, 3, 2}), x, 1, 0, 3)}));
    EXPECT_EQ(program.requirements, std::vector<std::string>{"in0.shape[1] == 4"});
}

TEST(LoweringIndexing, MasksAreRefused) {
    GraphWriter g;
    const Json x = g.input(f32({4})), mask = g.input(truth({4}));
    EXPECT_NE(problemOf(g.returning({g.op("index.Tensor", f32({2}), x, Json::array({mask}))}))
                  .find("index of bool"),
              std::string::npos);
}

TEST(LoweringIndexing, RowsOfATableAreReadInVectorsAndElementsOfARowAreNot) {
    const auto widest = [](bool rows) {
        GraphWriter g;
        const Json x = g.input(f32({64, 64})), at = g.input(i64({64}));
        const Fused fused = fuse(lowered(g.returning({g.op("index_select.default", f32({64, 64}), x,
                                                           rows ? 0 : 1, at)})),
                                 {});
        const auto groups = groupsOf(fused);
        int load = -1;
        for (const auto &[id, access] : groups.at(0).nest.accesses) {
            const Value &value = fused.program.values[id];
            if (value.kind == Kind::load && value.picks() > 0)
                load = id;
        }
        return widestRun(fused.program, groups.at(0).nest, load);
    };
    EXPECT_EQ(widest(true), 8);
    EXPECT_EQ(widest(false), 0);
}

TEST(LoweringIndexing, RemaindersOfPlacesAskForNoSign) {
    // A row of four that goes on around both ends, as circular padding reads it.
    GraphWriter g;
    const Json x = g.input(f32({2, 4}));
    const Json places =
        g.node("aten.arange.start_step", {i64({7})}, Json::array({-2, 5}), Json::object());
    const Json around = g.op("remainder.Scalar", i64({7}), places, 4);
    const Json wide = g.node("aten.index.Tensor", {f32({2, 7})},
                             Json::array({x, Json::array({nullptr, around})}), Json::object());
    const auto task = g.returning({wide});
    EXPECT_EQ(outputOf(task, {{"in0", positions(8)}}),
              (Numbers{2, 3, 0, 1, 2, 3, 0, 6, 7, 4, 5, 6, 7, 4}));
    EXPECT_EQ(textOf(lowered(task)).find("where"), std::string::npos) << textOf(lowered(task));
}

TEST(LoweringIndexing, RemaindersOfPositionsAreThoseOfPython) {
    const auto of = [](const std::string &op, int by) {
        GraphWriter g;
        const Json x = g.input(i64({4}));
        const Json rest = op == "div" ? g.node("aten.div.Tensor_mode", {i64({4})},
                                               Json::array({x, by}), {{"rounding_mode", "floor"}})
                                      : g.op(op + ".Scalar", i64({4}), x, by);
        return outputOf(g.returning({rest}), {{"in0", {-4, -3, 2, 3}}});
    };
    EXPECT_EQ(of("remainder", 3), (Numbers{2, 0, 2, 0}));
    EXPECT_EQ(of("remainder", -3), (Numbers{-1, 0, -1, 0}));
    EXPECT_EQ(of("fmod", 3), (Numbers{-1, 0, 2, 0}));
    EXPECT_EQ(of("div", 3), (Numbers{-2, -1, 0, 1}));
    GraphWriter g;
    const Json x = g.input(i64({4}));
    EXPECT_NE(
        problemOf(g.returning({g.op("remainder.Scalar", i64({4}), x, 0)})).find("other than 0"),
        std::string::npos);
}

// --- resizing ----------------------------------------------------------------------------------

TEST(LoweringResampling, AWholeNumberOfTimesIsAView) {
    GraphWriter g;
    const Json x = g.input(f32({1, 2, 2}));
    const auto task = g.returning(
        {g.op("upsample_nearest1d.vec", f32({1, 2, 4}), x, nullptr, Json::array({2.0}))});
    EXPECT_EQ(textOf(lowered(task)), "out0[0, i, (j k)] = in0[0, i, j]\n");
    EXPECT_EQ(outputOf(task, {{"in0", {1, 2, 3, 4}}}), (Numbers{1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(LoweringResampling, AnOddNumberOfTimesIsWrittenInVectors) {
    GraphWriter g;
    const Json x = g.input(f32({1, 2, 4}));
    const auto task = g.returning(
        {g.op("upsample_nearest1d.vec", f32({1, 2, 12}), x, nullptr, Json::array({3.0}))});
    EXPECT_EQ(outputOf(task, {{"in0", positions(8)}}),
              (Numbers{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7}));
    const Fused fused = fuse(lowered(task), {});
    EXPECT_EQ(widestVector(fused.program, groupsOf(fused).at(0)), 4);
}

TEST(LoweringResampling, WhatTakesLongIsNotComputedForEachRepetition) {
    const auto units = [](const char *op) {
        GraphWriter g;
        const Json y = g.op(op, f32({1, 1, 2, 2}), g.input(f32({1, 1, 2, 2})));
        return fuse(lowered(g.returning({g.op("upsample_nearest2d.vec", f32({1, 1, 4, 4}), y,
                                              nullptr, Json::array({2.0, 2.0}))})),
                    {})
            .units.size();
    };
    EXPECT_EQ(units("silu.default"), 1u);
    EXPECT_EQ(units("lgamma.default"), 2u);
}

TEST(LoweringResampling, OtherSizesPickTheNeighbourOfPyTorch) {
    GraphWriter g;
    const Json x = g.input(f32({1, 1, 5}));
    const auto task = g.returning(
        {g.op("upsample_nearest1d.default", f32({1, 1, 7}), x, Json::array({7}), nullptr)});
    EXPECT_EQ(outputOf(task, {{"in0", positions(5)}}), (Numbers{0, 0, 1, 2, 2, 3, 4}));
}

TEST(LoweringResampling, ExactNeighboursAreThoseOfTheMiddle) {
    GraphWriter g;
    const Json x = g.input(f32({1, 1, 5}));
    const auto resized = [&](std::int64_t size) {
        return outputOf(g.returning({g.op("_upsample_nearest_exact1d.default", f32({1, 1, size}), x,
                                          Json::array({size}), nullptr)}),
                        {{"in0", positions(5)}});
    };
    EXPECT_EQ(resized(7), (Numbers{0, 1, 1, 2, 3, 3, 4}));
    EXPECT_EQ(resized(10), (Numbers{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
    const Json grad = g.input(f32({1, 1, 7}));
    EXPECT_EQ(
        outputOf(g.returning({g.op("_upsample_nearest_exact1d_backward.default", f32({1, 1, 5}),
                                   grad, Json::array({7}), Json::array({1, 1, 5}), nullptr)}),
                 {{"in1", {1, 2, 3, 4, 5, 6, 7}}}),
        (Numbers{1, 5, 4, 11, 7}));
}

TEST(LoweringResampling, NearestNeighboursAreWholeNumbersWhereRoundingAgrees) {
    const auto places = [](std::int64_t in, std::int64_t out, double factor, bool exact) {
        const auto found = nearestPlaces(in, out, factor, exact);
        return found ? fmt::format("(i * {} + {}) / {}", found->times, found->plus, found->by)
                     : std::string();
    };
    EXPECT_EQ(places(8, 24, 3, false), "(i * 1 + 0) / 3");
    EXPECT_EQ(places(8, 24, 0, true), "(i * 1 + 0) / 3");
    EXPECT_EQ(places(48, 72, 1.5, false), "(i * 2 + 0) / 3");
    EXPECT_EQ(places(8, 12, 1.5, true), "(i * 2 + 1) / 3");
    EXPECT_EQ(places(8, 4, 0.5, false), "(i * 2 + 0) / 1");
    EXPECT_EQ(places(8, 4, 0.5, true), "(i * 2 + 1) / 1");
    EXPECT_EQ(places(2, 82, 0, false), "") << "41 times 2/82 is less than 1 in float";
    EXPECT_EQ(places(100, 123, 1.2345, false), "") << "1.2345 is no ratio of small numbers";
}

TEST(LoweringResampling, LinearWeighsTwoNeighboursADimension) {
    const auto resized = [](bool corners) {
        GraphWriter g;
        const Json x = g.input(f32({1, 1, 2, 2}));
        return outputOf(g.returning({g.op("upsample_bilinear2d.vec", f32({1, 1, 3, 3}), x,
                                          Json::array({3, 3}), corners, nullptr)}),
                        {{"in0", {0, 1, 2, 3}}});
    };
    EXPECT_EQ(resized(true), (Numbers{0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3}));
    const Numbers got = resized(false), want{0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3};
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(got[i], want[i], 1e-6) << i;
}

TEST(LoweringResampling, CubicWeighsFourNeighboursADimension) {
    const auto resized = [](bool corners) {
        GraphWriter g;
        const Json x = g.input(f32({1, 1, 2, 3}));
        return outputOf(g.returning({g.op("upsample_bicubic2d.vec", f32({1, 1, 3, 4}), x,
                                          Json::array({3, 4}), corners, nullptr)}),
                        {{"in0", {0, 1, 2, 3, 4, 5}}});
    };
    // As torch.nn.functional.interpolate() has it.
    const Numbers aligned{0,       0.57407, 1.42593, 2,       1.5,     2.07407,
                          2.92593, 3.5,     3,       3.57407, 4.42592, 5};
    const Numbers centred{-0.33219, 0.26937, 1.2098,  1.81136, 1.42822, 2.02979,
                          2.97021,  3.57178, 3.18864, 3.7902,  4.73063, 5.33219};
    const Numbers corners = resized(true), centres = resized(false);
    for (std::size_t i = 0; i < aligned.size(); ++i) {
        EXPECT_NEAR(corners[i], aligned[i], 2e-5) << i;
        EXPECT_NEAR(centres[i], centred[i], 2e-5) << i;
    }
}

TEST(LoweringResampling, VolumesWeighEightNeighbours) {
    GraphWriter g;
    const Json x = g.input(f32({1, 1, 2, 2, 2}));
    const auto got = outputOf(g.returning({g.op("upsample_trilinear3d.vec", f32({1, 1, 3, 3, 3}), x,
                                                Json::array({3, 3, 3}), true, nullptr)}),
                              {{"in0", positions(8)}});
    for (std::size_t i = 0; i < 27; ++i) // 4, 2 and 1 apart
        EXPECT_EQ(got[i], 2.0 * (i / 9) + (i / 3 % 3) + 0.5 * (i % 3)) << i;
}

TEST(LoweringResampling, WhatIsCostlyIsNotComputedForEachNeighbour) {
    const auto units = [](const char *op) {
        GraphWriter g;
        const Json x = g.input(f32({1, 1, 2, 2}));
        const Json y = g.op(op, f32({1, 1, 2, 2}), x);
        return fuse(lowered(g.returning({g.op("upsample_bilinear2d.vec", f32({1, 1, 4, 4}), y,
                                              nullptr, false, Json::array({2.0, 2.0}))})),
                    {})
            .units.size();
    };
    EXPECT_EQ(units("relu.default"), 1u);
    EXPECT_EQ(units("erf.default"), 2u);
}

TEST(LoweringResampling, TheGradientOfRepetitionsIsTheirSum) {
    GraphWriter g;
    const Json grad = g.input(f32({1, 1, 4}));
    const auto task = g.returning({g.op("upsample_nearest1d_backward.default", f32({1, 1, 2}), grad,
                                        Json::array({4}), Json::array({1, 1, 2}), nullptr)});
    EXPECT_EQ(outputOf(task, {{"in0", {1, 2, 3, 4}}}), (Numbers{3, 7}));
    // The sum of an uneven number of them is added up in memory: sources 0, 0, 1, 2.
    const Json odd = g.op("upsample_nearest1d_backward.default", f32({1, 1, 3}), grad,
                          Json::array({4}), Json::array({1, 1, 3}), nullptr);
    EXPECT_EQ(
        outputOf(g.returning({g.op("neg.default", f32({1, 1, 3}), odd)}), {{"in0", {1, 2, 3, 4}}}),
        (Numbers{-3, -3, -4}));
}

TEST(LoweringResampling, TheGradientOfWeightedSumsIsAddedByTheWeights) {
    const auto gradient = [](std::int64_t out, bool corners, Numbers grad) {
        GraphWriter g;
        const Json x =
            g.op("upsample_linear1d_backward.default", f32({1, 1, 2}), g.input(f32({1, 1, out})),
                 Json::array({out}), Json::array({1, 1, 2}), corners, nullptr);
        return outputOf(g.returning({g.op("neg.default", f32({1, 1, 2}), x)}),
                        {{"in0", std::move(grad)}});
    };
    // Outputs lie at -1/4 (taken at 0), 1/4, 3/4 and 5/4 (taken at 1).
    EXPECT_EQ(gradient(4, false, {1, 2, 3, 4}), (Numbers{-3.25, -6.75}));
    EXPECT_EQ(gradient(3, true, {1, 2, 4}), (Numbers{-2, -5}));
}

// --- adding at positions -------------------------------------------------------------------------

TEST(LoweringScatter, RowsThatAreNamedTwiceAddUp) {
    GraphWriter g;
    const Json grad = g.input(f32({3, 2})), at = g.input(i64({3}));
    const Json zero = g.op("full.default", f32({4, 2}), Json{4, 2}, 0);
    const auto task =
        g.returning({g.op("index_put.default", f32({4, 2}), zero, Json::array({at}), grad, true)});
    EXPECT_EQ(fuse(lowered(task), {}).units.size(), 1u);
    EXPECT_EQ(textOf(lowered(task)).substr(0, 4), "out0");
    Memory memory{{"in0", {1, 2, 10, 20, 100, 200}}, {"in1", {3, -4, 3}}};
    EXPECT_EQ(evaluate(fuse(lowered(task), {}), memory)["out0"],
              (Numbers{10, 20, 0, 0, 0, 0, 101, 202}));
}

TEST(LoweringScatter, IndicesBetweenOtherDimensionsAndABaseThatIsNotZero) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3})), at = g.input(i64({2, 2})), by = g.input(f32({1}));
    const auto task = g.returning(
        {g.op("index_put.default", f32({2, 3}), x, Json::array({nullptr, at}), by, true)});
    EXPECT_EQ(outputOf(task, {{"in0", positions(6)}, {"in1", {0, 2, 2, 2}}, {"in2", {10}}}),
              (Numbers{10, 1, 32, 13, 4, 35}));
}

TEST(LoweringScatter, TwoIndicesAndElementsAlongADimension) {
    GraphWriter g;
    const Json a = g.input(i64({2})), b = g.input(i64({2})), by = g.input(f32({2}));
    const Json zero = g.op("full.default", f32({2, 3}), Json{2, 3}, 0);
    const Json both = g.op("index_put.default", f32({2, 3}), zero, Json::array({a, b}), by, true);
    EXPECT_EQ(outputOf(g.returning({g.op("neg.default", f32({2, 3}), both)}),
                       {{"in0", {1, 0}}, {"in1", {2, 1}}, {"in2", {5, 7}}}),
              (Numbers{-0.0, -7, -0.0, -0.0, -0.0, -5}));

    GraphWriter h;
    const Json at = h.input(i64({2, 2})), from = h.input(f32({2, 3}));
    const Json base = h.op("full.default", f32({2, 3}), Json{2, 3}, 1);
    const Json added = h.op("scatter_add.default", f32({2, 3}), base, 1, at, from);
    EXPECT_EQ(outputOf(h.returning({added}), {{"in0", {2, 2, 0, 1}}, {"in1", positions(6)}}),
              (Numbers{1, 1, 2, 4, 5, 1}));
}

/// The maximum of each row is computed per row, as the positions are; what crosses to the adding
/// kernel is the maximum, not its place.
TEST(LoweringScatter, AddsWhatAReductionHasLeft) {
    GraphWriter g;
    const Json x = g.input(f32({4, 3})), at = g.input(i64({4}));
    const Json most = g.op("amax.default", f32({4}), x, Json{1});
    const Json zero = g.op("full.default", f32({2}), Json{2}, 0);
    const auto task =
        g.returning({g.op("index_put.default", f32({2}), zero, Json::array({at}), most, true)});
    EXPECT_EQ(outputOf(task, {{"in0", positions(12)}, {"in1", {1, 0, 1, 1}}}), (Numbers{5, 21}));
    const Fused fused = fuse(lowered(task), {});
    for (const Unit &unit : fused.units)
        for (const Store &store : unit.group->stores)
            EXPECT_EQ(fused.program.values[store.value].op == "place", store.adds());
}

TEST(LoweringScatter, OnlySumsThatAtomicsKnow) {
    GraphWriter g;
    const Json x = g.input(f32({4})), at = g.input(i64({2})), by = g.input(f32({2}));
    EXPECT_NE(
        problemOf(g.returning({g.op("index_put.default", f32({4}), x, Json::array({at}), by)}))
            .find("without accumulate"),
        std::string::npos);
    GraphWriter h;
    const Json y = h.input(i64({4})), there = h.input(i64({2})), with = h.input(i64({2}));
    EXPECT_NE(problemOf(h.returning({h.op("scatter_add.default", i64({4}), y, 0, there, with)}))
                  .find("of int64"),
              std::string::npos);
}

} // namespace
} // namespace cuda_agent::policy::graphs
