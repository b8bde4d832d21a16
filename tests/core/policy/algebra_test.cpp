// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/candidate.h"
#include "tests/core/policy/planner_graphs.h"

#include <cmath>
#include <gtest/gtest.h>

// Rewrites that exact arithmetic allows: they give what the plain program gives, non-finite inputs
// included, and are left alone where they would save nothing. Convolutions: the recorded tasks.

namespace cuda_agent::policy::graphs {
namespace {

Program rewritten(const task::Description &task) {
    auto program = lower(task, {.algebra = true});
    EXPECT_TRUE(program) << program.error().message;
    return program ? std::move(*program) : Program{};
}

Numbers outputOf(const Program &program, Memory memory) {
    memory["p_w"] = scattered(15);
    return evaluate(fuse(program, {}), std::move(memory))["out0"];
}

/// The sum over the columns of x @ w / 2 + x @ w's bias, for x [4, 5] and w [5, 3].
task::Description sumOfColumns(GraphWriter &g) {
    const Json x = g.input(f32({4, 5})), c = g.input(f32({3})), w = g.parameter("w", f32({5, 3}));
    const Json y = g.op("addmm.default", f32({4, 3}), c, x, w);
    const Json half = g.op("div.Tensor", f32({4, 3}), y, 2);
    return g.returning({g.op("sum.dim_IntList", f32({4}), half, Json{1})});
}

TEST(Algebra, ASumOverColumnsOfAProductNeedsNoProduct) {
    GraphWriter g;
    const auto task = sumOfColumns(g);
    const Program program = rewritten(task);
    EXPECT_TRUE(program.library.empty());
    ASSERT_EQ(program.notes.size(), 1u);
    EXPECT_NE(program.notes[0].find("summed over its columns"), std::string::npos);
    Numbers x = scattered(20);
    const Memory memory{{"in0", x}, {"in1", {1, -2, 4}}};
    const Numbers expected = outputOf(lowered(task), memory), got = outputOf(program, memory);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

TEST(Algebra, InfinitiesAndNanComeOutAsTheyWouldHave) {
    GraphWriter g;
    const auto task = sumOfColumns(g);
    Numbers x = scattered(20);
    x[1] = INFINITY;
    x[7] = -INFINITY;
    x[13] = std::nan("");
    const Memory memory{{"in0", x}, {"in1", {1, -2, 4}}};
    const Numbers expected = outputOf(lowered(task), memory);
    const Numbers got = outputOf(rewritten(task), memory);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(std::isnan(got[i]), std::isnan(expected[i])) << i;
        EXPECT_EQ(std::isinf(got[i]), std::isinf(expected[i])) << i;
    }
}

TEST(Algebra, AProductThatIsNeededAnywayIsSummedAsItIs) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5})), w = g.parameter("w", f32({5, 3}));
    const Json y = g.op("mm.default", f32({4, 3}), x, w);
    const Json sum = g.op("sum.dim_IntList", f32({4}), y, Json{1});
    for (const Json &other : {y, g.op("relu.default", f32({4, 3}), y)}) {
        const Program program = rewritten(g.returning({sum, other}));
        EXPECT_EQ(program.library.size(), 1u);
        EXPECT_TRUE(program.notes.empty());
    }
}

TEST(Algebra, OnlyLinearFunctionsOfAProductAreTakenOut) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5})), w = g.parameter("w", f32({5, 3}));
    const Json y = g.op("mm.default", f32({4, 3}), x, w);
    const Json bent = g.op("relu.default", f32({4, 3}), y);
    EXPECT_EQ(
        rewritten(g.returning({g.op("sum.dim_IntList", f32({4}), bent, Json{1})})).library.size(),
        1u);
    const Json squared = g.op("mul.Tensor", f32({4, 3}), y, y);
    EXPECT_EQ(rewritten(g.returning({g.op("sum.dim_IntList", f32({4}), squared, Json{1})}))
                  .library.size(),
              1u);
    EXPECT_EQ(
        rewritten(g.returning({g.op("sum.dim_IntList", f32({3}), y, Json{0})})).library.size(), 1u)
        << "a sum over rows";
}

TEST(Algebra, WhatIsSubtractedFromItselfIsNotComputed) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5})), w = g.parameter("w", f32({5, 3}));
    const Json y =
        g.op("amax.default", f32({4, 1}), g.op("mm.default", f32({4, 3}), x, w), Json{1}, true);
    const Json mean = g.op("mean.dim", f32({4, 1}), y, Json{1}, true);
    const auto task = g.returning({g.op("sub.Tensor", f32({4, 1}), y, mean)});
    const Program program = rewritten(task);
    EXPECT_TRUE(program.library.empty());
    EXPECT_EQ(program.notes.size(), 1u);
    Numbers in = scattered(20);
    in[6] = INFINITY;
    in[11] = std::nan("");
    const Numbers got = outputOf(program, {{"in0", in}});
    EXPECT_EQ(got[0], 0);
    EXPECT_TRUE(std::isnan(got[1]));
    EXPECT_TRUE(std::isnan(got[2]));
    EXPECT_EQ(got[3], 0);
}

TEST(Algebra, NotesStandInTheKernelsHeader) {
    GraphWriter g;
    const Fused fused = fuse(rewritten(sumOfColumns(g)), {});
    const auto groups = groupsOf(fused);
    const std::vector<Schedule> schedules(groups.size());
    const auto files = makeCandidate(fused, groups, schedules, "name", {});
    EXPECT_NE(files.files.at("kernels/planner.cu").find("// The same in exact arithmetic: tmp0"),
              std::string::npos);
}

} // namespace
} // namespace cuda_agent::policy::graphs
