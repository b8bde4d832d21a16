// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/policy/planner_graphs.h"

#include <cmath>
#include <gtest/gtest.h>

// Views and parts: which elements of the inputs an output holds. Inputs hold their own positions,
// so that an expected result is the list of positions that PyTorch's definition of the operator
// names.

namespace cuda_agent::policy::graphs {
namespace {

/// The first output of a task of one input that holds its positions.
Numbers picked(const task::Description &task) {
    const Program program = lowered(task);
    Memory memory;
    for (const task::Port &port : task.inputs)
        memory[port.name] = positions(static_cast<std::size_t>(port.type.elements()));
    memory = evaluate(program, memory);
    for (const BufferInfo &buffer : program.buffers) {
        if (buffer.role == BufferRole::output && buffer.index == 0) {
            EXPECT_EQ(buffer.shape, task.outputs[0].type.shape);
            return memory[buffer.name];
        }
    }
    ADD_FAILURE() << "no output";
    return {};
}

/// Positions start, start + step, ...
Numbers walk(double start, double step, int count) {
    Numbers numbers;
    for (int i = 0; i < count; ++i)
        numbers.push_back(start + step * i);
    return numbers;
}

Numbers joined(std::initializer_list<Numbers> lists) {
    Numbers all;
    for (const Numbers &list : lists)
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

constexpr std::int64_t toEnd = std::numeric_limits<std::int64_t>::max();

TEST(LoweringViews, TransposedIsReadInPlace) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3}));
    const auto task = g.returning({g.op("permute.default", f32({3, 2}), x, Json{1, 0})});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = in0[j, i]\n");
    EXPECT_EQ(picked(task), (Numbers{0, 3, 1, 4, 2, 5}));
}

TEST(LoweringViews, AnInputIsReadInTheOrderInWhichItLies) {
    GraphWriter g;
    const Json x = g.input(TensorType{DType::float32, {2, 3}, {1, 2}}), y = g.input(f32({2, 3}));
    const auto task = g.returning({g.op("add.Tensor", f32({2, 3}), x, y)});
    const Program program = lowered(task);
    EXPECT_EQ(textOf(program), "out0[i, j] = add(in0[j, i], in1[i, j])\n");
    EXPECT_EQ(program.buffers[0].order, (std::vector<int>{1, 0}));
    EXPECT_EQ(program.buffers[0].shape, (Shape{3, 2}));
    EXPECT_EQ(program.buffers[0].expressions,
              (std::vector<std::string>{"in0.shape[1]", "in0.shape[0]"}))
        << "sizes are the task's";
    EXPECT_TRUE(program.buffers[1].order.empty());
}

TEST(LoweringViews, AnOutputIsWrittenInTheOrderInWhichMostOfItsInputsLie) {
    const auto written = [](const Shape &shape, int rowMajorOnes) {
        GraphWriter g;
        const TensorType across{DType::float32, shape, {1, shape[0]}};
        Json sum = g.op("exp.default", across, g.input(across));
        for (int i = 0; i < rowMajorOnes; ++i)
            sum = g.op("add.Tensor", across, sum, g.input(f32(shape)));
        const Json scale = g.input(f32({shape[1]}));
        const auto task = g.returning({g.op("mul.Tensor", across, sum, scale)});
        const Program program = lowered(task);
        return program.buffers[program.stores[0].buffer];
    };
    const BufferInfo out = written({20, 30}, 0);
    EXPECT_EQ(out.order, (std::vector<int>{1, 0})) << "as PyTorch leaves it";
    EXPECT_EQ(out.shape, (Shape{30, 20}));
    EXPECT_TRUE(written({20, 30}, 1).order.empty()) << "as many lie row-major, in longer runs";
    EXPECT_EQ(written({30, 20}, 1).order, (std::vector<int>{1, 0}));
    EXPECT_TRUE(written({30, 20}, 2).order.empty());
}

TEST(LoweringViews, WhatIsWrittenAnywayIsNotTurned) {
    GraphWriter g;
    const Json x = g.input(f32({40, 30})), y = g.input(f32({30, 20}));
    const Json product = g.op("mm.default", f32({40, 20}), x, y);
    const TensorType across{DType::float32, {20, 40}, {1, 20}};
    const auto task = g.returning({g.op("permute.default", across, product, Json{1, 0})});
    const Program program = lowered(task);
    EXPECT_TRUE(program.stores.empty()) << textOf(program);
    const auto out = std::ranges::find(program.buffers, "out0", &BufferInfo::name);
    ASSERT_NE(out, program.buffers.end());
    EXPECT_EQ(out->order, (std::vector<int>{1, 0}));
    EXPECT_EQ(program.library.at(0).step.at("c"), "out0");
}

TEST(LoweringViews, StridesThatNameElementsAsTheyLieAreAShape) {
    const auto strided = [&](const Shape &size, const Shape &strides, std::int64_t offset) {
        GraphWriter h;
        const Json in = h.input(f32({2, 6}));
        return h.returning({h.op("as_strided.default", f32(size), in, size, strides, offset)});
    };
    // As adaptive pooling writes its layout: dimensions of one element have any stride.
    EXPECT_EQ(picked(strided({4, 3, 1, 1}, {3, 1, 7, 7}, 0)), walk(0, 1, 12));
    EXPECT_NE(problemOf(strided({6, 2}, {1, 6}, 0)).find("another order"), std::string::npos);
    EXPECT_NE(problemOf(strided({2, 5}, {6, 1}, 1)).find("another order"), std::string::npos);
}

TEST(LoweringViews, NegativeDimensionsCountFromTheEnd) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3, 4}));
    const auto task = g.returning({g.op("transpose.int", f32({2, 4, 3}), x, -1, -2)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j, k] = in0[i, k, j]\n");
}

TEST(LoweringViews, AReshapeThatCutsDimensionsReadsOverTheirParts) {
    GraphWriter g;
    const Json x = g.input(f32({2, 6}));
    const Json y = g.op("view.default", f32({2, 3, 2}), x, Json{2, 3, 2});
    const auto task = g.returning({g.op("permute.default", f32({2, 2, 3}), y, Json{0, 2, 1})});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j, k] = in0[i, (k j)]\n");
    EXPECT_EQ(picked(task), (Numbers{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
}

TEST(LoweringViews, AReshapeThatDoesNotNestReadsTheBufferAsOneRow) {
    GraphWriter g;
    const Json x = g.input(f32({4, 6}));
    const auto task = g.returning({g.op("view.default", f32({6, 4}), x, Json{6, 4})});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = in0[(i j)]\n");
    EXPECT_EQ(picked(task), positions(24));
}

TEST(LoweringViews, AReshapeOfATransposedTensorThatDoesNotNestGoesThroughMemory) {
    GraphWriter g;
    const Json x = g.input(f32({4, 6}));
    const Json t = g.op("permute.default", f32({6, 4}), x, Json{1, 0});
    const auto task = g.returning({g.op("view.default", f32({8, 3}), t, Json{8, 3})});
    EXPECT_EQ(textOf(lowered(task)), "tmp0[i, j] = in0[j, i]\n"
                                     "out0[i, j] = tmp0[(i j)]\n");
    Numbers expected;
    for (int p = 0; p < 24; ++p) // element p of the transposed tensor is [p % 4, p / 4]
        expected.push_back(p % 4 * 6 + p / 4);
    EXPECT_EQ(picked(task), expected);
}

TEST(LoweringViews, SizeOneDimensionsComeAndGoWithoutAnAxis) {
    GraphWriter g;
    const Json x = g.input(f32({3, 1, 4}));
    const Json s = g.op("squeeze.dims", f32({3, 4}), x, Json{1});
    const auto task = g.returning({g.op("unsqueeze.default", f32({1, 3, 4}), s, 0)});
    EXPECT_EQ(textOf(lowered(task)), "out0[0, i, j] = in0[i, 0, j]\n");
}

TEST(LoweringViews, SqueezeLeavesDimensionsThatAreLonger) {
    GraphWriter g;
    const Json x = g.input(f32({3, 1, 4}));
    const auto task = g.returning({g.op("squeeze.dims", f32({3, 4}), x, Json{0, 1})});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = in0[i, 0, j]\n");
}

TEST(LoweringViews, ExpandedAndRepeatedDimensionsAreNotReadAlong) {
    GraphWriter g;
    const Json x = g.input(f32({1, 3}));
    const auto expanded = g.returning({g.op("expand.default", f32({2, 3}), x, Json{2, -1})});
    EXPECT_EQ(textOf(lowered(expanded)), "out0[i, j] = in0[0, j]\n");
    const auto repeated = g.returning({g.op("repeat.default", f32({2, 6}), x, Json{2, 2})});
    EXPECT_EQ(textOf(lowered(repeated)), "out0[i, (j k)] = in0[0, k]\n");
    EXPECT_EQ(picked(repeated), (Numbers{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
    // A part of what is repeated is read where it lies, too.
    const Json r = g.op("repeat.default", f32({1, 6}), x, Json{1, 2});
    const auto part = g.returning({g.op("slice.Tensor", f32({1, 4}), r, 1, 1, 5)});
    EXPECT_EQ(lowered(part).stores.size(), 1u);
    EXPECT_EQ(picked(part), (Numbers{1, 2, 0, 1}));
}

TEST(LoweringViews, SlicesReadFromAnOffsetWithAStep) {
    GraphWriter g;
    const Json x = g.input(f32({3, 10}));
    const auto odd = g.returning({g.op("slice.Tensor", f32({3, 5}), x, 1, 1, toEnd, 2)});
    EXPECT_EQ(textOf(lowered(odd)), "out0[i, j] = in0[i, 2*j+1]\n");
    const auto last = g.returning({g.op("slice.Tensor", f32({3, 3}), x, -1, -3, toEnd)});
    EXPECT_EQ(textOf(lowered(last)), "out0[i, j] = in0[i, j+7]\n");
    const auto row = g.returning({g.op("select.int", f32({10}), x, 0, -1)});
    EXPECT_EQ(textOf(lowered(row)), "out0[i] = in0[2, i]\n");
    const auto all = g.returning({g.op("slice.Tensor", f32({3, 10}), x, 1, -20, 10)});
    EXPECT_EQ(textOf(lowered(all)), "out0[i, j] = in0[i, j]\n");
}

TEST(LoweringViews, SlicesOfSlicesAdd) {
    GraphWriter g;
    const Json x = g.input(f32({12}));
    const Json a = g.op("slice.Tensor", f32({5}), x, 0, 1, 11, 2); // 1 3 5 7 9
    const Json b = g.op("flip.default", f32({5}), a, Json{0});     // 9 7 5 3 1
    const auto task = g.returning({g.op("slice.Tensor", f32({2}), b, 0, 1, 5, 2)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i] = in0[-4*i+7]\n");
    EXPECT_EQ(picked(task), (Numbers{7, 3}));
}

TEST(LoweringViews, TheFirstElementOfAnInnerPartKeepsTheOuterStride) {
    // view(2, 3, 4)[:, :, 0] of a row of 24: positions 0, 4, 8, ...
    GraphWriter g;
    const Json x = g.input(f32({24}));
    const Json y = g.op("view.default", f32({2, 3, 4}), x, Json{2, 3, 4});
    const auto task = g.returning({g.op("select.int", f32({2, 3}), y, 2, 0)});
    EXPECT_EQ(picked(task), walk(0, 4, 6));
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = in0[i, j, 0]\n") << "in place, not by a copy";
}

TEST(LoweringViews, AMiddlePartOfASplitDimensionKeepsTheOuterStride) {
    // Queries out of [tokens, 3 * heads * width]: view(2, 3, 4)[:, 0].
    GraphWriter g;
    const Json x = g.input(f32({2, 24}));
    const Json y = g.op("view.default", f32({2, 2, 3, 4}), x, Json{2, 2, 3, 4});
    const auto first = g.returning({g.op("select.int", f32({2, 2, 4}), y, 2, 0)});
    EXPECT_EQ(picked(first),
              joined({walk(0, 1, 4), walk(12, 1, 4), walk(24, 1, 4), walk(36, 1, 4)}));
    const auto second = g.returning({g.op("select.int", f32({2, 2, 4}), y, 2, 1)});
    EXPECT_EQ(picked(second),
              joined({walk(4, 1, 4), walk(16, 1, 4), walk(28, 1, 4), walk(40, 1, 4)}));
    EXPECT_EQ(textOf(lowered(second)), "out0[i, j, k] = in0[i, j, 1, k]\n");
}

TEST(LoweringViews, APartOfADimensionThatIsAPartItselfGoesThroughMemory) {
    // x[:, 1:7].view(2, 3, 2)[:, :, 1]: offset 1 of rows of 9, so positions 2, 4, 6 and 11, 13, 15.
    GraphWriter g;
    const Json x = g.input(f32({2, 9}));
    const Json s = g.op("slice.Tensor", f32({2, 6}), x, 1, 1, 7);
    const Json y = g.op("view.default", f32({2, 3, 2}), s, Json{2, 3, 2});
    const auto task = g.returning({g.op("select.int", f32({2, 3}), y, 2, 1)});
    EXPECT_EQ(picked(task), (Numbers{2, 4, 6, 11, 13, 15}));
}

TEST(LoweringViews, APartOfTheStartOfALongerDimension) {
    // x[:, :6].view(2, 3, 2)[:, :, 1] of rows of 8 and of 9: 8 is read as [4, 2], 9 cannot be cut.
    for (const int length : {8, 9}) {
        GraphWriter g;
        const Json x = g.input(f32({2, length}));
        const Json s = g.op("slice.Tensor", f32({2, 6}), x, 1, 0, 6);
        const Json y = g.op("view.default", f32({2, 3, 2}), s, Json{2, 3, 2});
        const auto task = g.returning({g.op("select.int", f32({2, 3}), y, 2, 1)});
        EXPECT_EQ(picked(task), joined({walk(1, 2, 3), walk(length + 1, 2, 3)})) << length;
        EXPECT_EQ(lowered(task).stores.size(), length == 8 ? 1u : 2u);
    }
}

TEST(LoweringViews, TheStartOfAnInnerPartKeepsTheOuterStride) {
    // view(3, 4)[:, :2] of a row of 12.
    GraphWriter g;
    const Json x = g.input(f32({12}));
    const Json y = g.op("view.default", f32({3, 4}), x, Json{3, 4});
    const auto task = g.returning({g.op("slice.Tensor", f32({3, 2}), y, 1, 0, 2)});
    EXPECT_EQ(picked(task), (Numbers{0, 1, 4, 5, 8, 9}));
}

TEST(LoweringViews, TheStartOfAnOuterPartIsReadInPlace) {
    GraphWriter g;
    const Json x = g.input(f32({12}));
    const Json y = g.op("view.default", f32({3, 4}), x, Json{3, 4});
    const auto task = g.returning({g.op("slice.Tensor", f32({2, 4}), y, 0, 0, 2)});
    EXPECT_EQ(picked(task), positions(8));
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = in0[(i j)]\n");
}

TEST(LoweringViews, PositionsAreSlicedAsTheTensorsTheyMake) {
    // arange(12).view(3, 4)[:, 0] and [:, :2]
    GraphWriter g;
    const Json a = g.op("arange.default", i64({12}), 12);
    const Json y = g.op("view.default", i64({3, 4}), a, Json{3, 4});
    EXPECT_EQ(picked(g.returning({g.op("select.int", i64({3}), y, 1, 0)})), (Numbers{0, 4, 8}));
    EXPECT_EQ(picked(g.returning({g.op("slice.Tensor", i64({3, 2}), y, 1, 0, 2)})),
              (Numbers{0, 1, 4, 5, 8, 9}));
    EXPECT_EQ(picked(g.returning({g.op("slice.Tensor", i64({12}), a, 0, 0, 12)})), positions(12));
    EXPECT_EQ(picked(g.returning({g.op("slice.Tensor", i64({5}), a, 0, 0, 5)})), positions(5));
    EXPECT_EQ(picked(g.returning({g.op("slice.Tensor", i64({3}), a, 0, 3, 9, 2)})),
              (Numbers{3, 5, 7}));
}

TEST(LoweringViews, ASliceOfWhatWasReducedIsAnElementOfTheResult) {
    GraphWriter g;
    const Json x = g.input(f32({3, 4}));
    const Json s = g.op("sum.dim_IntList", f32({3}), x, Json{1});
    const auto task = g.returning({g.op("slice.Tensor", f32({2}), s, 0, 1, 3)});
    EXPECT_EQ(picked(task), (Numbers{4 + 5 + 6 + 7, 8 + 9 + 10 + 11}));
}

TEST(LoweringViews, ASliceOfAnExpandedDimensionReadsNothingElse) {
    GraphWriter g;
    const Json x = g.input(f32({1, 3}));
    const Json e = g.op("expand.default", f32({4, 3}), x, Json{4, 3});
    const auto task = g.returning({g.op("slice.Tensor", f32({2, 3}), e, 0, 2, 4)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = in0[0, j]\n");
}

TEST(LoweringViews, AStepOverASingleElementIsThatElement) {
    GraphWriter g;
    const Json x = g.input(f32({1, 3}));
    const auto task = g.returning({g.op("slice.Tensor", f32({1, 3}), x, 0, 0, toEnd, 2)});
    EXPECT_EQ(textOf(lowered(task)), "out0[0, i] = in0[0, i]\n");
}

TEST(LoweringViews, FlipReadsBackwardsAndLeavesSingleElements) {
    GraphWriter g;
    const Json x = g.input(f32({2, 1, 3}));
    const auto task = g.returning({g.op("flip.default", f32({2, 1, 3}), x, Json{0, 1, -1})});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, 0, j] = in0[-i+1, 0, -j+2]\n");
    EXPECT_EQ(picked(task), (Numbers{5, 4, 3, 2, 1, 0}));
}

TEST(LoweringViews, FlipWalksWhatADimensionJoinsBackwardsInPlace) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3}));
    const Json flat = g.op("view.default", f32({6}), x, Json{6});
    const auto task = g.returning({g.op("flip.default", f32({6}), flat, Json{0})});
    EXPECT_EQ(textOf(lowered(task)), "out0[(i j)] = in0[-i+1, -j+2]\n");
    EXPECT_EQ(picked(task), (Numbers{5, 4, 3, 2, 1, 0}));
    const Json twice = g.op("repeat.default", f32({2, 6}), x, Json{1, 2});
    const auto repeated = g.returning({g.op("flip.default", f32({2, 6}), twice, Json{1})});
    EXPECT_EQ(picked(repeated), (Numbers{2, 1, 0, 2, 1, 0, 5, 4, 3, 5, 4, 3}));
}

TEST(LoweringViews, ATensorMeetsItsOwnTransposeThroughTwoLoads) {
    GraphWriter g;
    const Json x = g.input(f32({3, 3}));
    const Json t = g.op("permute.default", f32({3, 3}), x, Json{1, 0});
    const auto task = g.returning({g.op("add.Tensor", f32({3, 3}), x, t)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = add(in0[i, j], in0[j, i])\n");
    EXPECT_EQ(picked(task), (Numbers{0, 4, 8, 4, 8, 12, 8, 12, 16}));
}

TEST(LoweringViews, AComputedTensorMeetsItsOwnTransposeBeingComputedTwice) {
    GraphWriter g;
    const Json x = g.input(f32({3, 3}));
    const Json n = g.op("neg.default", f32({3, 3}), x);
    const Json t = g.op("permute.default", f32({3, 3}), n, Json{1, 0});
    const auto task = g.returning({g.op("sub.Tensor", f32({3, 3}), n, t)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = sub(neg(in0[i, j]), neg(in0[j, i]))\n");
}

TEST(LoweringViews, ReshapesOfBothOperandsMeetInTheirParts) {
    // [6] as [3, 2] plus [2, 3] flattened and viewed as [3, 2]: both nest only in ones of size 1,
    // so the second is read as one row.
    GraphWriter g;
    const Json x = g.input(f32({6})), y = g.input(f32({2, 3}));
    const Json a = g.op("view.default", f32({3, 2}), x, Json{3, 2});
    const Json b = g.op("view.default", f32({3, 2}), y, Json{3, 2});
    const auto task = g.returning({g.op("add.Tensor", f32({3, 2}), a, b)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = add(in0[(i j)], in1[(i j)])\n");
    EXPECT_EQ(picked(task), (Numbers{0, 2, 4, 6, 8, 10}));
}

// --- parts ---------------------------------------------------------------------------------------

TEST(LoweringParts, CatWritesEachPartFromItsOffset) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3, 32})), y = g.input(f32({2, 1, 32}));
    const Json z = g.input(f32({2, 2, 32}));
    const Json e = g.op("neg.default", f32({2, 3, 32}), x);
    const auto task =
        g.returning({g.op("cat.default", f32({2, 6, 32}), Json::array({e, y, z}), -2)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j, k] = neg(in0[i, j, k])\n"
                                     "out0[i, 3, j] = in1[i, 0, j]\n"
                                     "out0[i, j+4, k] = in2[i, j, k]\n");
    const Numbers out = picked(task);
    EXPECT_EQ((Numbers{out[0], out[33], out[96], out[128], out[192], out[383]}),
              (Numbers{0, -33, 0, 0, -96, 127}));
}

TEST(LoweringParts, CatIsComputedWhereItIsRead) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3})), y = g.input(f32({2, 1})), z = g.input(f32({2, 2}));
    const Json e = g.op("neg.default", f32({2, 3}), x);
    const Json all = g.op("cat.default", f32({2, 6}), Json::array({e, y, z}), 1);
    const auto task = g.returning({g.op("mul.Tensor", f32({2, 6}), all, 2.0)});
    const Program program = lowered(task);
    EXPECT_EQ(program.stores.size(), 1u) << textOf(program);
    EXPECT_EQ(picked(task), (Numbers{0, -2, -4, 0, 0, 2, -6, -8, -10, 2, 4, 6}));
}

TEST(LoweringParts, ResultsOfRowsAreWrittenAsParts) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3})), y = g.input(f32({2, 1}));
    const Json sum = g.op("sum.dim_IntList", f32({2, 1}), x, Json{1}, true);
    const Json all = g.op("cat.default", f32({2, 2}), Json::array({sum, y}), 1);
    const auto task = g.returning({g.op("mul.Tensor", f32({2, 2}), all, 2.0)});
    EXPECT_EQ(lowered(task).stores.size(), 3u);
    EXPECT_EQ(picked(task), (Numbers{6, 0, 24, 2}));
    const auto padded =
        g.returning({g.op("constant_pad_nd.default", f32({2, 3}), sum, Json{1, 1}, 9.0)});
    EXPECT_EQ(picked(padded), (Numbers{9, 3, 9, 9, 12, 9}));
}

TEST(LoweringParts, CatAlongTheFirstDimensionAndOfEmptyLists) {
    GraphWriter g;
    const Json x = g.input(f32({1, 2})), none = g.input(f32({0})), y = g.input(f32({2, 2}));
    const auto task = g.returning({g.op("cat.default", f32({3, 2}), Json::array({x, none, y}))});
    EXPECT_EQ(picked(task), (Numbers{0, 1, 0, 1, 2, 3}));
}

TEST(LoweringParts, WhatHasNoElementsIsLeftOutOfAList) {
    // block_diag and rotary embeddings of a whole head.
    GraphWriter g;
    const Json x = g.input(f32({2, 2}));
    const Json none = g.op("full.default", f32({2, 0}), Json{2, 0}, 0.0);
    const Json rest = g.op("slice.Tensor", f32({2, 0}), x, 1, 2, 9);
    const Json more = g.op("neg.default", f32({2, 0}), rest);
    const auto task =
        g.returning({g.op("cat.default", f32({2, 2}), Json::array({none, x, more}), 1)});
    EXPECT_EQ(picked(task), (Numbers{0, 1, 2, 3}));
}

TEST(LoweringParts, WhatIsMadeOfNoElementsIsRefused) {
    GraphWriter g;
    const Json x = g.input(f32({2, 2}));
    const Json rest = g.op("slice.Tensor", f32({2, 0}), x, 1, 2, 9);
    const Json sum = g.op("sum.dim_IntList", f32({2}), rest, Json{1});
    EXPECT_NE(problemOf(g.returning({sum})).find("sum.dim_IntList (of an empty tensor)"),
              std::string::npos);
}

TEST(LoweringParts, TheSameTensorTwiceIsWrittenTwice) {
    GraphWriter g;
    const Json x = g.input(f32({2, 2}));
    const auto task = g.returning({g.op("cat.default", f32({2, 4}), Json::array({x, x}), 1)});
    EXPECT_EQ(picked(task), (Numbers{0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(LoweringParts, StackIsCatOfTensorsWithADimensionMore) {
    // torch.stack([x, y], 1) becomes cat of unsqueezed tensors.
    const auto stacked = [](std::int64_t length) {
        GraphWriter g;
        const TensorType type = f32({2, 1, length});
        const Json x = g.input(f32({2, length})), y = g.input(f32({2, length}));
        const Json a = g.op("unsqueeze.default", type, x, 1);
        const Json n = g.op("neg.default", type, g.op("unsqueeze.default", type, y, 1));
        return g.returning({g.op("cat.default", f32({2, 2, length}), Json::array({a, n}), 1)});
    };
    EXPECT_EQ(textOf(lowered(stacked(64))), "out0[i, 0, j] = in0[i, j]\n"
                                            "out0[i, 1, j] = neg(in1[i, j])\n");
    EXPECT_EQ(lowered(stacked(3)).stores.size(), 1u) << "short runs are written side by side";
    EXPECT_EQ(picked(stacked(3)), (Numbers{0, 1, 2, 0, -1, -2, 3, 4, 5, -3, -4, -5}));
}

TEST(LoweringParts, PartsOfOtherTypesAreCast) {
    GraphWriter g;
    const Json x = g.input(f32({40})), y = g.input(i64({40}));
    const auto task = g.returning({g.op("cat.default", f32({80}), Json::array({x, y}), 0)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i] = in0[i]\nout0[i+40] = float32(in1[i])\n");
}

TEST(LoweringParts, PadFillsTheBorderAroundTheInput) {
    // pad=[1, 2, 1, 0]: columns 1 before and 2 after, rows 1 before.
    GraphWriter g;
    const Json x = g.input(f32({2, 2}));
    const auto task =
        g.returning({g.op("constant_pad_nd.default", f32({3, 5}), x, Json{1, 2, 1, 0}, 9.0)});
    EXPECT_EQ(picked(task), (Numbers{9, 9, 9, 9, 9, //
                                     9, 0, 1, 9, 9, //
                                     9, 2, 3, 9, 9}));
}

TEST(LoweringParts, WhatIsPaddedIsReadOnlyWithinItsBorder) {
    GraphWriter g;
    const Json x = g.input(f32({2, 2}));
    const Json e = g.op("exp.default", f32({2, 2}), x);
    const Json padded = g.op("constant_pad_nd.default", f32({2, 4}), e, Json{1, 1}, 5.0);
    const auto task = g.returning({g.op("neg.default", f32({2, 4}), padded)});
    const Program program = lowered(task);
    EXPECT_EQ(program.stores.size(), 1u) << textOf(program);
    const Numbers out = picked(task);
    EXPECT_EQ(out, (Numbers{-5, -1, -std::exp(1.0), -5, -5, -std::exp(2.0), -std::exp(3.0), -5}));
}

TEST(LoweringParts, WhatHasNoStrideOfItsOwnIsPaddedWhereItLies) {
    // The columns of x one after the other, padded: [2, 3] -> [3, 2] -> [6] -> [9].
    GraphWriter g;
    const Json x = g.input(f32({2, 3}));
    const Json turned = g.op("permute.default", f32({3, 2}), x, Json{1, 0});
    const Json row = g.op("view.default", f32({6}), turned, Json{6});
    const auto task =
        g.returning({g.op("constant_pad_nd.default", f32({9}), row, Json{1, 2}, 7.0)});
    EXPECT_EQ(lowered(task).stores.size(), 1u) << textOf(lowered(task));
    EXPECT_EQ(picked(task), (Numbers{7, 0, 3, 1, 4, 2, 5, 7, 7}));
}

TEST(LoweringParts, NegativePadCuts) {
    GraphWriter g;
    const Json x = g.input(f32({2, 4}));
    const auto task =
        g.returning({g.op("constant_pad_nd.default", f32({2, 4}), x, Json{-1, 1}, 0.0)});
    EXPECT_EQ(picked(task), (Numbers{1, 2, 3, 0, 5, 6, 7, 0}));
    const auto both =
        g.returning({g.op("constant_pad_nd.default", f32({2, 1}), x, Json{-2, -1}, 0.0)});
    EXPECT_EQ(picked(both), (Numbers{2, 6}));
}

TEST(LoweringParts, SplitGivesSlicesOneAfterTheOther) {
    GraphWriter g;
    const Json x = g.input(f32({2, 7}));
    const Json s = g.node("aten.split_with_sizes.default", {f32({2, 3}), f32({2, 4})},
                          Json::array({x, Json{3, 4}, 1}), Json::object());
    const auto first = g.returning({g.item(s, 0, f32({2, 3}))});
    const auto second = g.returning({g.item(s, 1, f32({2, 4}))});
    EXPECT_EQ(textOf(lowered(first)), "out0[i, j] = in0[i, j]\n");
    EXPECT_EQ(textOf(lowered(second)), "out0[i, j] = in0[i, j+3]\n");
}

TEST(LoweringParts, SplitByALengthEndsWithAShorterPiece) {
    GraphWriter g;
    const Json x = g.input(f32({5}));
    const Json s = g.node("aten.split.Tensor", {f32({2}), f32({2}), f32({1})}, Json::array({x, 2}),
                          Json::object());
    EXPECT_EQ(picked(g.returning({g.item(s, 1, f32({2}))})), (Numbers{2, 3}));
    EXPECT_EQ(picked(g.returning({g.item(s, 2, f32({1}))})), (Numbers{4}));
}

TEST(LoweringParts, UnbindDropsTheDimension) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3}));
    const Json u = g.node("aten.unbind.int", {f32({2}), f32({2}), f32({2})}, Json::array({x, -1}),
                          Json::object());
    const auto task = g.returning({g.item(u, 2, f32({2}))});
    EXPECT_EQ(textOf(lowered(task)), "out0[i] = in0[i, 2]\n");
}

TEST(LoweringParts, HalvesOfARowMeetInOneExpression) {
    // A gated unit: x[:, :3] * x[:, 3:]
    GraphWriter g;
    const Json x = g.input(f32({2, 6}));
    const Json s = g.node("aten.split.Tensor", {f32({2, 3}), f32({2, 3})}, Json::array({x, 3, 1}),
                          Json::object());
    const Json a = g.item(s, 0, f32({2, 3})), b = g.item(s, 1, f32({2, 3}));
    const auto task = g.returning({g.op("mul.Tensor", f32({2, 3}), a, b)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = mul(in0[i, j], in0[i, j+3])\n");
}

} // namespace
} // namespace cuda_agent::policy::graphs
