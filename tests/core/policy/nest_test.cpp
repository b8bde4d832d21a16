// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/group_text.h"
#include "core/policy/planner/nest.h"

#include <gtest/gtest.h>

// The loops of one unit: which axes become one loop, and with which strides each access walks.

namespace cuda_agent::policy {
namespace {

using Strides = std::vector<std::int64_t>;

/// A program of buffers and one unit, put together by hand.
struct UnitByHand {
    Program program;
    Group group;

    Axis axis(std::int64_t size, const std::string &expression = {}) {
        return program.axes.add(size, expression);
    }
    int buffer(const std::string &name, Shape shape, DType dtype = DType::float32) {
        BufferInfo info;
        info.name = name;
        info.role = BufferRole::input;
        info.dtype = dtype;
        for (const std::int64_t extent : shape)
            info.expressions.push_back(std::to_string(extent));
        info.shape = std::move(shape);
        return program.addBuffer(std::move(info));
    }
    /// Writes a value over dimensions, which are rows unless they are reduced.
    void store(int value, const std::vector<Axes> &dims, int target) {
        group.stores.push_back({value, dims, target});
        for (const Axes &dim : dims) {
            for (const Axis atom : program.axes.atoms(dim)) {
                if (!group.reduced.contains(atom))
                    group.rows.insert(atom);
            }
        }
    }
    int sum(int value, const Axes &over) {
        const int made = program.reduce("sum", value, over, DType::float32);
        group.reduces.push_back(made);
        for (const Axis atom : program.axes.atoms(over))
            group.reduced.insert(atom);
        return made;
    }
    Nest nest(std::int64_t shortestRun = 1) { return makeNest(program, group, shortestRun); }
    std::string description() { return describeGroup(program, {&group, nest(), "group0"}); }
};

Strides sizesOf(const Nest &nest) {
    Strides sizes;
    for (const NestDim &dim : nest.dims)
        sizes.push_back(dim.size);
    return sizes;
}

TEST(Nest, NeighbouringDimensionsThatAllAccessesWalkEvenlyAreOneLoop) {
    UnitByHand u;
    const Axis i = u.axis(4, "in0.shape[0]"), j = u.axis(5, "in0.shape[1]"), k = u.axis(6);
    const int in = u.buffer("in0", {4, 5, 6}), out = u.buffer("out0", {4, 5, 6});
    const int x = u.program.load(in, {{i}, {j}, {k}});
    u.store(u.program.pointwise("exp", {x}, DType::float32), {{i}, {j}, {k}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), Strides{120});
    EXPECT_EQ(nest.dims[0].axes, (Axes{i, j, k}));
    EXPECT_EQ(nest.dims[0].expression, "in0.shape[0] * in0.shape[1] * 6");
    EXPECT_EQ(nest.accesses.at(x).strides, Strides{1});
    EXPECT_EQ(nest.stores.at(0).strides, Strides{1});
    EXPECT_TRUE(nest.runtimeOuter) << "one loop of any length";
    EXPECT_TRUE(nest.requirements.empty());
}

TEST(Nest, ABroadcastAxisHasStrideZeroAndKeepsItsNeighbourApart) {
    UnitByHand u;
    const Axis i = u.axis(4, "in0.shape[0]"), j = u.axis(5, "in0.shape[1]"), k = u.axis(6);
    const int in = u.buffer("in0", {4, 5, 6}), bias = u.buffer("in1", {6});
    const int out = u.buffer("out0", {4, 5, 6});
    const int x = u.program.load(in, {{i}, {j}, {k}}), b = u.program.load(bias, {{k}});
    u.store(u.program.pointwise("add", {x, b}, DType::float32), {{i}, {j}, {k}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{20, 6})) << "i and j are one, k is read by the bias alone";
    EXPECT_EQ(nest.accesses.at(x).strides, (Strides{6, 1}));
    EXPECT_EQ(nest.accesses.at(b).strides, (Strides{0, 1}));
    EXPECT_EQ(nest.stores.at(0).strides, (Strides{6, 1}));
    EXPECT_TRUE(nest.runtimeOuter);
    EXPECT_TRUE(nest.baked.contains(k));
    EXPECT_FALSE(nest.baked.contains(i));
    EXPECT_TRUE(nest.requirements.empty()) << "6 is a constant of the task";
}

TEST(Nest, AMiddleBroadcastSplitsThreeWays) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(5, "in0.shape[1]"), k = u.axis(6);
    const int in = u.buffer("in0", {4, 5, 6}), scale = u.buffer("in1", {4, 1, 6});
    const int out = u.buffer("out0", {4, 5, 6});
    const int x = u.program.load(in, {{i}, {j}, {k}});
    const int s = u.program.load(scale, {{i}, {}, {k}});
    u.store(u.program.pointwise("mul", {x, s}, DType::float32), {{i}, {j}, {k}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{4, 5, 6}));
    EXPECT_EQ(nest.accesses.at(x).strides, (Strides{30, 6, 1}));
    EXPECT_EQ(nest.accesses.at(s).strides, (Strides{6, 0, 1}));
    EXPECT_EQ(nest.requirements, std::vector<std::string>{"in0.shape[1] == 5"});
}

TEST(Nest, ATransposedOperandHasTheStridesOfItsMemory) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(5);
    const int in = u.buffer("in0", {4, 5}), other = u.buffer("in1", {5, 4});
    const int out = u.buffer("out0", {4, 5});
    const int x = u.program.load(in, {{i}, {j}}), t = u.program.load(other, {{j}, {i}});
    u.store(u.program.pointwise("add", {x, t}, DType::float32), {{i}, {j}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{4, 5}));
    EXPECT_EQ(nest.accesses.at(x).strides, (Strides{5, 1}));
    EXPECT_EQ(nest.accesses.at(t).strides, (Strides{1, 4}));
    EXPECT_EQ(nest.stores.at(0).strides, (Strides{5, 1}));
}

TEST(Nest, SlicesHaveABaseAndASteppedStride) {
    // in0[:, 1::2] of [4, 10]: elements 1, 3, ..., 9 of each row. in0[:, ::-1] begins at its end.
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(5);
    const int in = u.buffer("in0", {4, 10}), small = u.buffer("in1", {4, 5});
    const int out = u.buffer("out0", {4, 5});
    const int odd = u.program.load(in, {{i}, {j}});
    u.program.values[odd].dims[1] = {{j}, 1, 2};
    const int reversed = u.program.load(small, {{i}, {j}});
    u.program.values[reversed].dims[1] = {{j}, 4, -1};
    u.store(u.program.pointwise("add", {odd, reversed}, DType::float32), {{i}, {j}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{4, 5}));
    EXPECT_EQ(nest.accesses.at(odd).base, 1);
    EXPECT_EQ(nest.accesses.at(odd).strides, (Strides{10, 2}));
    EXPECT_EQ(nest.accesses.at(reversed).base, 4);
    EXPECT_EQ(nest.accesses.at(reversed).strides, (Strides{5, -1}));
    EXPECT_FALSE(nest.runtimeOuter);
}

TEST(Nest, APartOfABufferIsWrittenFromItsOffset) {
    // cat along dimension 1: the second part of [4, 3 + 5] starts at column 3 of rows of 8.
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(5);
    const int in = u.buffer("in0", {4, 5}), out = u.buffer("out0", {4, 8});
    const int x = u.program.load(in, {{i}, {j}});
    u.store(x, {{i}, {j}}, out);
    u.group.stores[0].offsets = {0, 3};
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{4, 5})) << "the rows of the result are longer";
    EXPECT_EQ(nest.stores[0].base, 3);
    EXPECT_EQ(nest.stores[0].strides, (Strides{8, 1}));
    EXPECT_EQ(nest.accesses.at(x).strides, (Strides{5, 1}));
}

TEST(Nest, ABufferReadAsOneLongRowHasTheStridesOfItsAxes) {
    UnitByHand u;
    const Axis i = u.axis(3), j = u.axis(8);
    const int in = u.buffer("in0", {4, 6}), out = u.buffer("out0", {8, 3});
    const int x = u.program.load(in, {{i, j}}); // view(3, 8), then transposed
    u.program.values[x].extents = {24};
    u.store(x, {{j}, {i}}, out);
    const Nest nest = u.nest();
    // Loads and stores move the same bytes; the store leads and its rows stay together.
    EXPECT_EQ(sizesOf(nest), (Strides{8, 3}));
    EXPECT_EQ(nest.accesses.at(x).strides, (Strides{1, 8}));
    EXPECT_EQ(nest.stores[0].strides, (Strides{3, 1}));
}

TEST(Nest, SizeOneDimensionsMakeNoLoop) {
    UnitByHand u;
    const Axis j = u.axis(5);
    const int in = u.buffer("in0", {1, 5, 1}), out = u.buffer("out0", {5, 1});
    const int x = u.program.load(in, {{}, {j}, {}});
    u.store(x, {{j}, {}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), Strides{5});
    EXPECT_EQ(nest.accesses.at(x).strides, Strides{1});
}

TEST(Nest, AScalarHasNoLoops) {
    UnitByHand u;
    const int in = u.buffer("in0", {1}), out = u.buffer("out0", {});
    const int x = u.program.load(in, {{}});
    u.store(x, {}, out);
    const Nest nest = u.nest();
    EXPECT_TRUE(nest.dims.empty());
    EXPECT_EQ(nest.rows(), 1);
    EXPECT_EQ(nest.elements(), 1);
    EXPECT_EQ(nest.rowsExpression(), "1");
}

TEST(Nest, ReducedAxesAreElementsOfARow) {
    UnitByHand u;
    const Axis i = u.axis(4, "in0.shape[0]"), j = u.axis(5), k = u.axis(6);
    const int in = u.buffer("in0", {4, 5, 6}), out = u.buffer("out0", {4});
    const int x = u.program.load(in, {{i}, {j}, {k}});
    u.store(u.sum(x, {j, k}), {{i}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{4, 30}));
    EXPECT_EQ(nest.rowDims(), std::vector<int>{0});
    EXPECT_EQ(nest.elementDims(), std::vector<int>{1});
    EXPECT_EQ(nest.rows(), 4);
    EXPECT_EQ(nest.elements(), 30);
    EXPECT_FALSE(nest.column());
    EXPECT_EQ(nest.rowsExpression(), "in0.shape[0]");
    EXPECT_EQ(nest.elementStride(nest.accesses.at(x)), 1);
    EXPECT_EQ(nest.stores[0].strides, (Strides{1, 0}));
    EXPECT_FALSE(nest.variesByElement(nest.stores[0]));
    EXPECT_TRUE(nest.variesByElement(nest.accesses.at(x)));
}

TEST(Nest, AReducedMiddleDimensionMakesColumns) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(5, "in0.shape[1]"), k = u.axis(6);
    const int in = u.buffer("in0", {4, 5, 6}), out = u.buffer("out0", {4, 6});
    const int x = u.program.load(in, {{i}, {j}, {k}});
    u.store(u.sum(x, {j}), {{i}, {k}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{4, 5, 6}));
    EXPECT_EQ(nest.rows(), 24);
    EXPECT_EQ(nest.elements(), 5);
    EXPECT_TRUE(nest.column());
    EXPECT_EQ(nest.elementStride(nest.accesses.at(x)), 6);
    EXPECT_EQ(nest.stores[0].strides, (Strides{6, 0, 1}));
    EXPECT_EQ(nest.requirements, std::vector<std::string>{"in0.shape[1] == 5"});
}

TEST(Nest, ARowOfTwoDistantDimensionsIsNoEvenWalk) {
    // Batch norm's statistics: over i and k, but not over j between them.
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(5), k = u.axis(6);
    const int in = u.buffer("in0", {4, 5, 6}), out = u.buffer("out0", {5});
    const int x = u.program.load(in, {{i}, {j}, {k}});
    u.store(u.sum(x, {i, k}), {{j}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{4, 5, 6}));
    EXPECT_EQ(nest.elementDims(), (std::vector<int>{0, 2}));
    EXPECT_EQ(nest.elements(), 24);
    EXPECT_EQ(nest.elementStride(nest.accesses.at(x)), std::nullopt) << "30 is not 6 * 1";
    EXPECT_FALSE(nest.runtimeOuter) << "the outermost loop is reduced and there are rows";
}

TEST(Nest, PositionsWalkTheirOwnAxes) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(5);
    const int in = u.buffer("in0", {4, 5}), out = u.buffer("out0", {4, 5});
    const int x = u.program.load(in, {{i}, {j}});
    Value at;
    at.kind = Kind::index;
    at.dtype = DType::int64;
    at.axes = {j};
    const int position = u.program.add(at);
    u.store(u.program.pointwise("mul", {x, position}, DType::float32), {{i}, {j}}, out);
    const Nest nest = u.nest();
    EXPECT_EQ(sizesOf(nest), (Strides{4, 5}));
    EXPECT_EQ(nest.accesses.at(position).strides, (Strides{0, 1}));
}

TEST(Nest, ElementwiseRowsAreAsLongAsAsked) {
    UnitByHand u;
    const Axis i = u.axis(4, "in0.shape[0]"), j = u.axis(5), k = u.axis(6);
    const int in = u.buffer("in0", {4, 5, 6}), scale = u.buffer("in1", {4, 1, 6});
    const int out = u.buffer("out0", {4, 5, 6});
    const int x = u.program.load(in, {{i}, {j}, {k}});
    const int s = u.program.load(scale, {{i}, {}, {k}});
    u.store(u.program.pointwise("mul", {x, s}, DType::float32), {{i}, {j}, {k}}, out);
    EXPECT_EQ(u.nest(6).elements(), 6);
    EXPECT_EQ(u.nest(7).elements(), 30) << "6 are too few, the next loop joins";
    EXPECT_EQ(u.nest(31).elements(), 120) << "everything is one row";
    EXPECT_EQ(u.nest(31).rows(), 1);
}

TEST(Nest, ATransposedCopyWalksRowsOfOneSideAndAShortLoopOfTheOther) {
    UnitByHand u;
    const Axis n = u.axis(2), c = u.axis(8), p = u.axis(100);
    const int in = u.buffer("in0", {2, 8, 100}), out = u.buffer("out0", {2, 100, 8});
    const int x = u.program.load(in, {{n}, {c}, {p}});
    u.store(x, {{n}, {p}, {c}}, out);
    const Nest nest = makeNest(u.program, u.group, 1024, true);
    EXPECT_TRUE(nest.transposing);
    EXPECT_EQ(sizesOf(nest), (Strides{2, 100, 8}));
    EXPECT_EQ(nest.elementDims(), std::vector<int>{2});
    EXPECT_EQ(nest.accesses.at(x).strides, (Strides{800, 1, 100}));
    EXPECT_FALSE(u.nest().transposing) << "only where it is asked for";
}

TEST(Nest, ATransposedCopyWithTwoLongSidesIsTiled) {
    UnitByHand u;
    const Axis n = u.axis(2, "in0.shape[0]"), c = u.axis(24), h = u.axis(9), w = u.axis(10);
    const int in = u.buffer("in0", {2, 9, 10, 24}), scale = u.buffer("in1", {24});
    const int out = u.buffer("out0", {2, 24, 9, 10});
    const int x = u.program.load(in, {{n}, {h}, {w}, {c}});
    const int s = u.program.load(scale, {{c}});
    u.store(u.program.pointwise("mul", {x, s}, DType::float32), {{n}, {c}, {h}, {w}}, out);
    const Nest nest = makeNest(u.program, u.group, 1024, true);
    ASSERT_TRUE(nest.tiled());
    EXPECT_FALSE(nest.transposing);
    EXPECT_EQ(sizesOf(nest), (Strides{2, 90, 24})) << "height and width are one loop";
    EXPECT_EQ(nest.along, std::vector<int>{1});
    EXPECT_EQ(nest.across, std::vector<int>{2});
    EXPECT_EQ(nest.elementDims(), (std::vector<int>{1, 2}));
    EXPECT_TRUE(nest.runtimeOuter);
    EXPECT_FALSE(u.nest().tiled()) << "only where it is asked for";
}

TEST(Nest, LoopsThatAreOneOnOneSideOnlyStayApartWithinATile) {
    // What is read once for several channels cuts them in two: group normalisation.
    UnitByHand u;
    const Axis n = u.axis(2), g = u.axis(4), c = u.axis(8), p = u.axis(50);
    const int in = u.buffer("in0", {2, 50, 4, 8}), mean = u.buffer("in1", {2, 4});
    const int out = u.buffer("out0", {2, 4, 8, 50});
    const int x = u.program.load(in, {{n}, {p}, {g}, {c}});
    const int m = u.program.load(mean, {{n}, {g}});
    u.store(u.program.pointwise("sub", {x, m}, DType::float32), {{n}, {g}, {c}, {p}}, out);
    const Nest nest = makeNest(u.program, u.group, 1024, true);
    ASSERT_TRUE(nest.tiled());
    EXPECT_EQ(sizesOf(nest), (Strides{2, 50, 4, 8}));
    EXPECT_EQ(nest.along, std::vector<int>{1});
    EXPECT_EQ(nest.across, (std::vector<int>{2, 3})) << "both: 32 channels are one run of memory";
}

TEST(Nest, WhatIsReadAsItIsWrittenIsNotTiled) {
    UnitByHand u;
    const Axis i = u.axis(64), j = u.axis(64);
    const int in = u.buffer("in0", {64, 64}), row = u.buffer("in1", {64});
    const int out = u.buffer("out0", {64, 64});
    const int x = u.program.load(in, {{i}, {j}}), r = u.program.load(row, {{i}});
    u.store(u.program.pointwise("add", {x, r}, DType::float32), {{i}, {j}}, out);
    EXPECT_FALSE(makeNest(u.program, u.group, 1024, true).tiled())
        << "the other read is one number a row";
}

TEST(Order, IsThatOfTheNumbersBehindTheArguments) {
    UnitByHand u;
    const Axis i = u.axis(4);
    const auto load = [&](const char *name) { return u.program.load(u.buffer(name, {4}), {{i}}); };
    const auto op = [&](const char *name, std::vector<int> args) {
        return u.program.pointwise(name, std::move(args), DType::float32);
    };
    const int a = load("in0"), b = load("in1"), unused = op("neg", {a});
    const int sum = op("add", {a, b}), product = op("mul", {b, b});
    const int difference = op("sub", {product, sum});
    EXPECT_EQ(reachableFrom(u.program, {difference}),
              (std::vector<int>{b, product, a, sum, difference}));
    EXPECT_EQ(inOrderFrom(u.program, {difference}),
              (std::vector<int>{a, b, sum, product, difference}));
    u.program.values[sum].args[0] = op("exp", {b}); // put in later
    const int late = u.program.values[sum].args[0];
    EXPECT_EQ(inOrderFrom(u.program, {difference}),
              (std::vector<int>{b, product, late, sum, difference}));
    EXPECT_EQ(inOrder(u.program, {difference, unused, sum}),
              (std::vector<int>{unused, sum, difference}));
}

TEST(Nest, IsToldAsLoopsAndWhereAccessesGoWithThem) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(5), k = u.axis(6), l = u.axis(7);
    const int in = u.buffer("in0", {4, 5, 6, 9}), by = u.buffer("in1", {5}),
              out = u.buffer("out0", {4, 5});
    const int x = u.program.load(in, {{i}, {j}, {k}, {l}});
    u.program.values[x].dims[3].offset = 2;
    const int product = u.program.pointwise("mul", {x, u.program.load(by, {{j}})}, DType::float32);
    const int sum = u.sum(product, {k, l});
    u.store(sum, {{i}, {j}}, out);
    ScheduledGroup group;
    group.group = &u.group;
    group.nest = u.nest();
    EXPECT_EQ(describeLoops(u.program, group), "rows 4 * 5, each of 6 * 7");
    EXPECT_EQ(describeAccesses(u.program, group),
              "in0 + 2: (5 * 6 * 9), (6 * 9), 9, 1 by 1; in1: 0, 1, 0, 0; out0: 5, 1, 0, 0");
    const SizeTexts texts = sizeTextsOf(u.program, group);
    EXPECT_EQ(texts.totals,
              (SizeTexts::Texts{{20, "(4 * 5)"}, {42, "(6 * 7)"}, {840, "(4 * 5 * 6 * 7)"}}));
    EXPECT_TRUE(texts.loops.empty()) << "each walks one dimension";
    EXPECT_EQ(texts.strides.at("in0"), (SizeTexts::Texts{{54, "(6 * 9)"}, {270, "(5 * 6 * 9)"}}));
    EXPECT_TRUE(texts.strides.at("out0").empty());
}

TEST(Nest, SmallStridesAreToldAsProducts) {
    UnitByHand u;
    const Axis i = u.axis(30), j = u.axis(2), k = u.axis(3), l = u.axis(2);
    const int in = u.buffer("in0", {30, 2, 3, 2}), out = u.buffer("out0", {2, 30});
    const int sum = u.sum(u.program.load(in, {{i}, {j}, {k}, {l}}), {k, l});
    u.store(sum, {{j}, {i}}, out); // so that both are loops of their own
    ScheduledGroup group;
    group.group = &u.group;
    group.nest = u.nest();
    const auto text = describeAccesses(u.program, group);
    EXPECT_TRUE(text.starts_with("in0: (2 * 3 * 2), (3 * 2), 1 by 2; ")) << text;
    EXPECT_EQ(sizeTextsOf(u.program, group).strides.at("in0"),
              (SizeTexts::Texts{{6, "(3 * 2)"}, {12, "(2 * 3 * 2)"}}));
}

TEST(Nest, RowsAreCalledByWhatIsReadInThem) {
    UnitByHand u;
    const Axis i = u.axis(30), j = u.axis(20);
    const int in = u.buffer("in0", {30, 40}), by = u.buffer("in1", {30, 20}),
              out = u.buffer("out0", {30, 20});
    const auto part = [&](std::int64_t from) {
        const int load = u.program.load(in, {{i}, {j}});
        u.program.values[load].dims[1].offset = from;
        return load;
    };
    const int first = part(0), second = part(7), named = part(20);
    u.program.values[named].name = "slice";
    const int other = u.program.load(by, {{i}, {j}});
    const int sum =
        u.program.pointwise("add",
                            {u.program.pointwise("add", {first, second}, DType::float32),
                             u.program.pointwise("add", {named, other}, DType::float32)},
                            DType::float32);
    u.store(sum, {{i}, {j}}, out);
    ScheduledGroup group;
    group.group = &u.group;
    group.nest = u.nest();
    auto rows = rowNamesIn(u.program, group);
    EXPECT_EQ(rows.at(second), "in0_x2");
    EXPECT_EQ(rows.at(named), "in0_slice");
    EXPECT_EQ(rows.at(other), "in1") << "one place alone";
}

TEST(Nest, IsToldByTheSizesThatItsNumbersAreMadeOf) {
    UnitByHand u;
    const Axis i = u.axis(3), j = u.axis(20), k = u.axis(15), l = u.axis(16);
    const int in = u.buffer("in0", {3, 20, 17, 16}), row = u.buffer("in1", {20 * 15 * 16}),
              out = u.buffer("out0", {3, 40, 15, 16});
    const int x = u.program.load(in, {{i}, {j}, {k}, {l}});
    u.program.values[x].dims[1] = {{j}, 19, -1}; // from its end
    u.program.values[x].dims[2].offset = -1;     // over its border
    const int sum =
        u.program.pointwise("add", {x, u.program.load(row, {{j, k, l}})}, DType::float32);
    u.store(sum, {{i}, {j}, {k}, {l}}, out);
    u.group.stores.back().offsets = {0, 20, 0, 0};
    ScheduledGroup group;
    group.group = &u.group;
    group.nest = u.nest();
    EXPECT_EQ(describeLoops(u.program, group), "rows 3 * 20 * (15 * 16)");
    EXPECT_EQ(describeAccesses(u.program, group),
              "in0 + 5152: (20 * 17 * 16), -(17 * 16), 1 by 8; in1: 0, (15 * 16), 1 by 8; "
              "out0 + ((40 - 20) * 15 * 16): (40 * 15 * 16), (15 * 16), 1 by 8");
    const SizeTexts texts = sizeTextsOf(u.program, group);
    EXPECT_EQ(texts.loops, (SizeTexts::Texts{{240, "(15 * 16)"}}));
    EXPECT_EQ(texts.strides.at("in0").at(272), "(17 * 16)") << "whatever its sign";
    u.program.values[x].dims[1] = {{j}, -2, 1};
    group.nest = u.nest();
    EXPECT_TRUE(describeAccesses(u.program, group).starts_with("in0 + -(2 * 17 * 16 + 16): "))
        << describeAccesses(u.program, group);
    u.program.values[x].dims[1] = {{j}, 19, -1};
    u.program.values[x].dims[2].offset = 1;
    group.nest = u.nest();
    EXPECT_TRUE(describeAccesses(u.program, group).starts_with("in0 + ((20 - 1) * 17 * 16 + 16): "))
        << describeAccesses(u.program, group);
}

TEST(Group, IsToldOneWayAlongItsRowsAfterTheOther) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(8);
    const int in = u.buffer("in0", {4, 8}), scale = u.buffer("in1", {8}),
              out = u.buffer("out0", {4, 8}), other = u.buffer("out1", {4});
    const int x = u.program.load(in, {{i}, {j}});
    const int sum = u.sum(u.program.pointwise("abs", {x}, DType::float32), {j});
    const int share = u.program.pointwise("div", {x, sum}, DType::float32);
    u.program.values[share].name = "div_1";
    const int scaled =
        u.program.pointwise("mul", {share, u.program.load(scale, {{j}})}, DType::float32);
    u.store(u.program.pointwise("cast", {scaled}, DType::float16), {{i}, {j}}, out);
    u.store(sum, {{i}}, other);
    EXPECT_EQ(u.description(), "writes out0 [4, 8] = mul, out1 [4] = sum; out0 = mul, mul, "
                               "div_1(in0, sum), out1 = sum; reads in1 [8], in0 [4, 8]; "
                               "sum of abs(in0) over the row, abs; reads in0");
}

TEST(Group, TellsWhatAnOperatorIsComputedFrom) {
    UnitByHand u;
    const Axis i = u.axis(8);
    const int first = u.buffer("in0", {8}), second = u.buffer("in1", {8}),
              out = u.buffer("out0", {8});
    const auto of = [&](const char *op, const char *name, std::vector<int> args) {
        const int id = u.program.pointwise(op, std::move(args), DType::float32);
        u.program.values[id].name = name;
        return id;
    };
    const int x = u.program.load(first, {{i}}), y = u.program.load(second, {{i}});
    const int power = of("exp2", "exp2", {y});
    // A part that has no name of its own, and a constant.
    const int twice =
        u.program.pointwise("mul", {power, u.program.constant(2, DType::float32)}, DType::float32);
    u.store(of("add", "add_1", {of("mul", "mul", {x, twice}), y}), {{i}}, out);
    EXPECT_EQ(u.description(),
              "writes out0 [8] = add_1; add_1(mul, in1), mul(in0, exp2), mul, exp2(in1); "
              "reads in1 [8], in0 [8]");
}

TEST(Group, TellsNumbersAndLooksThroughCastsThatChangeNothing) {
    UnitByHand u;
    const Axis i = u.axis(8);
    const int in = u.buffer("in0", {8}, DType::float16), out = u.buffer("out0", {8});
    const auto named = [&](const char *op, const char *name, std::vector<int> args, DType type) {
        const int id = u.program.pointwise(op, std::move(args), type);
        u.program.values[id].name = name;
        return id;
    };
    const int x = named("cast", "_to_copy", {u.program.load(in, {{i}})}, DType::float32);
    const int square = named("mul", "pow_1", {x, x}, DType::float32);
    const int wide = named("cast", "_to_copy_1", {square}, DType::float64);
    const int half =
        named("mul", "mul_1", {u.program.constant(0.5, DType::float64), wide}, DType::float64);
    u.store(named("cast", "_to_copy_2", {half}, DType::float32), {{i}}, out);
    EXPECT_EQ(u.description(),
              "writes out0 [8] = _to_copy_2; _to_copy_2(mul_1), mul_1(0.5, _to_copy_1), "
              "_to_copy_1(pow_1), pow_1(in0, in0); reads in0 [8]");
}

TEST(Group, TellsWhatIsTheSameForAllElementsOfARow) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(8);
    const int in = u.buffer("in0", {4, 8}), by = u.buffer("in1", {4, 1}),
              out = u.buffer("out0", {4, 8});
    const auto named = [&](const char *op, std::vector<int> args) {
        const int id = u.program.pointwise(op, std::move(args), DType::float32);
        u.program.values[id].name = std::string(op) + "_1";
        return id;
    };
    const int x = u.program.load(in, {{i}, {j}});
    const int scaled = named("mul", {x, named("exp2", {u.program.load(by, {{i}, {}})})});
    const int length = named("sqrt", {u.sum(scaled, {j})});
    u.store(named("div", {scaled, length}), {{i}, {j}}, out);
    EXPECT_EQ(u.description(), "writes out0 [4, 8] = div_1; div_1(mul_1, sqrt_1), sqrt_1(sum); "
                               "reads in0 [4, 8], in1 [4, 1]; sum of mul_1 over the row, "
                               "mul_1(in0, exp2_1), exp2_1(in1); reads in0, in1");
    EXPECT_EQ(describeRowValues(u.program, {&u.group, u.nest(), "group0"}), "in1, exp2_1, sqrt_1");
}

TEST(Group, TellsOnceOfABufferThatIsReadInTwoPlaces) {
    UnitByHand u;
    const Axis i = u.axis(7);
    const int in = u.buffer("in0", {8}), out = u.buffer("out0", {7});
    const int x = u.program.load(in, {{i}}), y = u.program.load(in, {{i}});
    u.program.values[y].dims[0].offset = 1;
    u.store(u.program.pointwise("sub", {y, x}, DType::float32), {{i}}, out);
    EXPECT_EQ(u.description(), "writes out0 [7] = sub; sub; reads in0 [8]");
}

TEST(Group, TellsOfResultsThatOneWayComputesTogether) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(8);
    const int in = u.buffer("in0", {4, 8}), out = u.buffer("out0", {4, 8});
    const int x = u.program.load(in, {{i}, {j}});
    const int max = u.program.reduce("max", x, {j}, DType::float32);
    u.group.reduces.push_back(max);
    u.group.reduced.insert(j);
    const int distance = u.program.pointwise("sub", {x, max}, DType::float32);
    const int exponential = u.program.pointwise("exp", {distance}, DType::float32);
    const int sum = u.sum(exponential, {j});
    u.store(u.program.pointwise("div", {exponential, sum}, DType::float32), {{i}, {j}}, out);
    EXPECT_EQ(
        u.description(),
        "writes out0 [4, 8] = div; div, exp, sub; reads in0 [4, 8]; max and sum of exp of in0 "
        "over the row; reads in0");
}

TEST(Group, TellsWhatIsReadBehindAScan) {
    UnitByHand u;
    const Axis i = u.axis(4), j = u.axis(8);
    const int in = u.buffer("in0", {4, 8}), by = u.buffer("in1", {8}), copy = u.buffer("out0", {8}),
              out = u.buffer("out1", {4, 8});
    const int scan = u.program.scan("sum", u.program.load(in, {{i}, {j}}), {j}, DType::float32);
    u.group.scans.push_back(scan);
    u.group.reduced.insert(j);
    const int factor = u.program.load(by, {{j}});
    u.store(factor, {{j}}, copy);
    u.store(u.program.pointwise("mul", {scan, factor}, DType::float32), {{i}, {j}}, out);
    EXPECT_EQ(
        u.description(),
        "writes out0 [8] = in1, out1 [4, 8] = mul; out1 = mul, mul, out0 = in1; reads in1 [8]; "
        "sum of in0 along the row; reads in0 [4, 8]");
}

} // namespace
} // namespace cuda_agent::policy
