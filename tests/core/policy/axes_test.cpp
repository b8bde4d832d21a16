// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/axes.h"

#include <gtest/gtest.h>

namespace cuda_agent::policy {
namespace {

const auto never = [](Axis, Axis) { return false; };

using Sizes = std::vector<std::int64_t>;

Sizes sizesOf(const AxisTable &table, const Axes &axes) {
    Sizes sizes;
    for (const Axis atom : table.atoms(axes))
        sizes.push_back(table.size(atom));
    return sizes;
}

TEST(Axes, AFreshAxisIsAnAtomOfItsSize) {
    AxisTable table;
    const Axis rows = table.add(6, "in0.shape[0]");
    const Axis columns = table.add(4);
    EXPECT_EQ(table.atoms({rows, columns}), (Axes{rows, columns}));
    EXPECT_EQ(table.size(rows), 6);
    EXPECT_EQ(table.size(Axes{rows, columns}), 24);
    EXPECT_EQ(table.size(Axes{}), 1) << "no axis stands for a dimension of size 1";
    EXPECT_FALSE(table.constant(rows));
    EXPECT_TRUE(table.constant(columns));
}

TEST(Axes, ExpressionsMultiplyWhatInputsSupplyAndThenTheConstants) {
    AxisTable table;
    const Axis batch = table.add(6, "in0.shape[0]");
    const Axis heads = table.add(2);
    const Axis length = table.add(5, "in0.shape[1]");
    const Axis width = table.add(4);
    EXPECT_EQ(table.expression(Axes{}), "1");
    EXPECT_EQ(table.expression(Axes{heads, width}), "8");
    EXPECT_EQ(table.expression(Axes{batch}), "in0.shape[0]");
    EXPECT_EQ(table.expression(Axes{batch, heads, length, width}),
              "in0.shape[0] * in0.shape[1] * 8");
}

TEST(Axes, JoiningEqualSizesMakesOneAxisAndKeepsTheComputableSize) {
    AxisTable table;
    const Axis constant = table.add(8);
    const Axis input = table.add(8, "in0.shape[0]");
    ASSERT_TRUE(table.join({constant}, {input}, never));
    EXPECT_EQ(table.atoms({constant}), table.atoms({input}));
    EXPECT_EQ(table.expression(table.atoms({constant})), "in0.shape[0]");

    // The other way round the same.
    const Axis third = table.add(8);
    ASSERT_TRUE(table.join({input}, {third}, never));
    EXPECT_EQ(table.atoms({third}), (Axes{input}));
    EXPECT_EQ(table.expression(table.atoms({third})), "in0.shape[0]");
}

TEST(Axes, JoiningOneAxisWithTwoSplitsIt) {
    AxisTable table;
    const Axis whole = table.add(24, "in0.shape[0]");
    const Axis outer = table.add(4);
    const Axis inner = table.add(6);
    ASSERT_TRUE(table.join({whole}, {outer, inner}, never));
    EXPECT_EQ(sizesOf(table, {whole}), (Sizes{4, 6}));
    EXPECT_EQ(table.atoms({whole}), table.atoms({outer, inner}));
    EXPECT_EQ(table.atoms({whole})[1], table.atoms({inner})[0]);
    EXPECT_EQ(table.expression(Axes{whole}), "(in0.shape[0] / 6) * 6");
}

TEST(Axes, JoiningListsSplitsBothSidesWhereTheirBoundariesNest) {
    // [12, 2] and [3, 8]: boundaries from the right at 2 and 8, so 12 = 3 * 4 and 8 = 4 * 2.
    AxisTable table;
    const Axis a = table.add(12), b = table.add(2), c = table.add(3), d = table.add(8);
    ASSERT_TRUE(table.join({a, b}, {c, d}, never));
    EXPECT_EQ(sizesOf(table, {a, b}), (Sizes{3, 4, 2}));
    EXPECT_EQ(table.atoms({a, b}), table.atoms({c, d}));
    EXPECT_EQ(sizesOf(table, {a}), (Sizes{3, 4}));
    EXPECT_EQ(sizesOf(table, {d}), (Sizes{4, 2}));
}

TEST(Axes, SizesThatDoNotNestCannotBeJoined) {
    // [4, 6] and [6, 4] cut 24 elements at 6 and at 4: 6 is no multiple of 4.
    AxisTable table;
    const Axis a = table.add(4), b = table.add(6), c = table.add(6), d = table.add(4);
    EXPECT_FALSE(table.join({a, b}, {c, d}, never));
    EXPECT_FALSE(table.join({a}, {b}, never)) << "different numbers of elements";
    EXPECT_FALSE(table.join({a, b}, {b}, never)) << "one list is longer";
}

TEST(Axes, WhatMustStayApartIsNotJoined) {
    AxisTable table;
    const Axis a = table.add(5), b = table.add(5);
    const auto apart = [&](Axis x, Axis y) { return std::set{x, y} == std::set{a, b}; };
    EXPECT_FALSE(table.join({a}, {b}, apart));
    EXPECT_EQ(table.atoms({a}), (Axes{a}));
    EXPECT_EQ(table.atoms({b}), (Axes{b}));
    EXPECT_TRUE(table.join({a}, {a}, apart)) << "an axis is always itself";
}

TEST(Axes, AnAxisThatIsSplitIsSplitInTheOtherListToo) {
    // [8, 2] and [2, 8] with the same 8: cut at 2, the 8 on the right is 4 * 2, so it is on the
    // left; then the 4 is cut as well. Nothing is left of it but parts of size 2.
    AxisTable table;
    const Axis shared = table.add(8), inner = table.add(2), outer = table.add(2);
    ASSERT_TRUE(table.join({shared, inner}, {outer, shared}, never));
    EXPECT_EQ(sizesOf(table, {shared}), (Sizes{2, 2, 2}));
    EXPECT_EQ(table.size(Axes{shared}), 8);
}

TEST(Axes, PartsOfOneAxisThatMustStayApartStopAJoin) {
    // As before, but one value is indexed by all of the 8: its parts are different loops.
    AxisTable table;
    const Axis shared = table.add(8), inner = table.add(2), outer = table.add(2);
    const auto apart = [&](Axis x, Axis y) {
        const Axes parts = table.atoms({shared});
        return std::find(parts.begin(), parts.end(), x) != parts.end() &&
               std::find(parts.begin(), parts.end(), y) != parts.end();
    };
    EXPECT_FALSE(table.join({shared, inner}, {outer, shared}, apart));
    EXPECT_EQ(table.size(table.atoms({shared})), 8);
}

TEST(Axes, RegroupMergesNeighbours) {
    AxisTable table;
    const Axis a = table.add(3), b = table.add(4), c = table.add(5);
    const auto dims = table.regroup({a, b, c}, {12, 5});
    ASSERT_TRUE(dims);
    EXPECT_EQ(*dims, (std::vector<Axes>{{a, b}, {c}}));
}

TEST(Axes, RegroupSplitsAnAxisAndOlderListsSeeTheParts) {
    AxisTable table;
    const Axis a = table.add(3), b = table.add(20, "in0.shape[1]");
    const Axes before{a, b};
    const auto dims = table.regroup({a, b}, {3, 4, 5});
    ASSERT_TRUE(dims);
    EXPECT_EQ((*dims)[0], (Axes{a}));
    EXPECT_EQ(sizesOf(table, (*dims)[1]), (Sizes{4}));
    EXPECT_EQ(sizesOf(table, (*dims)[2]), (Sizes{5}));
    EXPECT_EQ(sizesOf(table, before), (Sizes{3, 4, 5}));
    EXPECT_EQ(table.expression((*dims)[1]), "(in0.shape[1] / 5)");
    EXPECT_EQ(table.expression((*dims)[2]), "5");
}

TEST(Axes, RegroupLeavesDimensionsOfSizeOneEmpty) {
    AxisTable table;
    const Axis a = table.add(3), b = table.add(4);
    const auto dims = table.regroup({a, b}, {1, 3, 1, 4, 1});
    ASSERT_TRUE(dims);
    EXPECT_EQ(*dims, (std::vector<Axes>{{}, {a}, {}, {b}, {}}));
    const auto none = table.regroup({}, {1, 1});
    ASSERT_TRUE(none);
    EXPECT_EQ(*none, (std::vector<Axes>{{}, {}}));
}

TEST(Axes, RegroupCutsAcrossABoundaryWhenTheSizesNest) {
    // [2, 6] as [4, 3]: 6 = 2 * 3, and the first 2 joins the outer one.
    AxisTable table;
    const Axis a = table.add(2), b = table.add(6);
    const auto dims = table.regroup({a, b}, {4, 3});
    ASSERT_TRUE(dims);
    EXPECT_EQ(sizesOf(table, (*dims)[0]), (Sizes{2, 2}));
    EXPECT_EQ((*dims)[0][0], a);
    EXPECT_EQ(sizesOf(table, (*dims)[1]), (Sizes{3}));
}

TEST(Axes, RegroupRefusesBoundariesThatFallInsideAnAxis) {
    AxisTable table;
    const Axis a = table.add(6), b = table.add(4);
    // The inner dimension of [4, 6] is one and a half times the axis of 4.
    EXPECT_FALSE(table.regroup({a, b}, {4, 6}));
    // 4 elements cannot be cut into threes.
    EXPECT_FALSE(table.regroup({b}, {2, 3}));
    EXPECT_FALSE(table.regroup({a, b}, {6})) << "axes are left over";
    EXPECT_FALSE(table.regroup({b}, {2, 4})) << "axes are missing";
}

} // namespace
} // namespace cuda_agent::policy
