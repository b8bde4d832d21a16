// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/position_text.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// What is told of loads that read here and there, or within a border.

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

TEST(PositionText, PlainLoadsHaveNone) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5}));
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", f32({4, 5}), x)})), "");
}

TEST(PositionText, ABorderSaysWhereAndWhatIsElsewhere) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5, 6}));
    const TensorType type = f32({4, 8, 6});
    const Json padded = g.op("constant_pad_nd.default", type, x, Json{0, 0, 1, 2}, 1.0);
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", type, padded)})),
              nameOf(padded) + " = in0 where r1 >= 1 and r1 < 6, else 1");
}

TEST(PositionText, WhereABorderEndsIsWhatItIsMadeOf) {
    GraphWriter g;
    const Json x = g.input(f32({4, 40, 60}));
    const TensorType type = f32({4, 45, 70});
    const Json padded = g.op("constant_pad_nd.default", type, x, Json{0, 10, 3, 2}, 0.0);
    const auto task = g.returning({g.op("exp.default", type, padded)});
    EXPECT_EQ(positionsOf(task),
              nameOf(padded) + " = in0 where r0 >= 3 and r0 < (40 + 3) and r1 < 60, else 0");
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
              "in1 where r1 >= 5, else 0; in0 where r1 < 5, else 0");
}

TEST(PositionText, PositionsAreFormulasOrTheNamesOfWhatComputesThem) {
    GraphWriter g;
    const Json x = g.input(f32({4, 3})), i = g.input(i64({4, 1}));
    const Json twice = g.op("repeat.default", f32({4, 6}), x, Json{1, 2});
    const Json part = g.op("slice.Tensor", f32({4, 4}), twice, 1, 1, 5);
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", f32({4, 4}), part)})),
              nameOf(part) + " = in0[(r1 + 1) % 3]");
    const Json picked = g.op("gather.default", f32({4, 1}), x, 1, i);
    EXPECT_EQ(positionsOf(g.returning({g.op("exp.default", f32({4, 1}), picked)})),
              nameOf(picked) + " = in0[iminimum(imaximum(in1, 0), 2)]");
}

} // namespace
} // namespace cuda_agent::policy::graphs
