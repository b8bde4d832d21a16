// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/search.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// Elements in order: what sort, top-k and medians become, which units they share, and how rows are
// cut where they are too long for a block.

namespace cuda_agent::policy::graphs {
namespace {

const TensorType matrix = f32({3, 5});
const Memory numbers{{"in0", {3, 1, 2, 1, 9, 5, 4, 3, 2, 1, 0, 0, 7, 7, -1}}};

Json pair(GraphWriter &g, const std::string &op, const TensorType &values, Json args) {
    TensorType positions = i64(values.shape);
    return g.node("aten." + op, {values, positions}, std::move(args), Json::object());
}

std::size_t groupsOf(const task::Description &task) {
    return fuse(lowered(task), {}).units.size();
}

TEST(LoweringOrder, ASortGivesValuesAndPositionsOfEveryPlace) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json sorted = pair(g, "sort.default", matrix, Json::array({x, -1, true}));
    const auto task = g.returning({g.item(sorted, 0, matrix), g.item(sorted, 1, i64({3, 5}))});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = sorted[k: j from the largest](in0[i, k])\n"
                                     "out1[i, j] = argsorted[k: j from the largest](in0[i, k])\n");
    Memory memory = evaluate(lowered(task), numbers);
    EXPECT_EQ(memory["out0"], (Numbers{9, 3, 2, 1, 1, 5, 4, 3, 2, 1, 7, 7, 0, 0, -1}));
    EXPECT_EQ(memory["out1"], (Numbers{4, 0, 2, 1, 3, 0, 1, 2, 3, 4, 2, 3, 0, 1, 4}))
        << "equal ones as they come";
    EXPECT_EQ(groupsOf(task), 1u) << "elements are put in order once";
}

TEST(LoweringOrder, TopKHasAnAxisOfItsOwn) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const TensorType type = f32({3, 2});
    const Json top = pair(g, "topk.default", type, Json::array({x, 2, 1, false}));
    const Json more = g.op("exp.default", type, g.item(top, 0, type));
    const auto task = g.returning({more});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = exp(sorted[k: j](in0[i, k]))\n");
    EXPECT_EQ(groupsOf(task), 1u) << "what follows fuses";
    const Fused fused = fuse(lowered(task), {});
    Memory memory = evaluate(fused, numbers);
    EXPECT_EQ(memory["out0"][2], std::exp(1.0));
    EXPECT_EQ(fused.units[0].group->elements().size(), 2u);
}

TEST(LoweringOrder, WhatIsSortedIsComputedOnTheWayAndItsReductionsAreAnotherUnit) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json twice = g.op("mul.Tensor", matrix, x, 2);
    const Json sorted = pair(g, "sort.default", matrix, Json::array({twice, 1}));
    const Json total = g.op("sum.dim_IntList", f32({3}), g.item(sorted, 0, matrix), Json{1});
    EXPECT_EQ(groupsOf(g.returning({total})), 2u);
    GraphWriter h;
    const Json y = h.input(matrix);
    const Json same = pair(h, "sort.default", matrix, Json::array({y, 1}));
    // The tensor itself meets its elements in order: an axis is not both.
    const auto task = h.returning({h.op("sub.Tensor", matrix, h.item(same, 0, matrix), y)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = sub(sorted[k: j](in0[i, k]), in0[i, j])\n");
    Memory memory = evaluate(lowered(task), numbers);
    EXPECT_EQ(memory["out0"][0], 1 - 3);
}

TEST(LoweringOrder, AMedianIsOnePlaceAndNanWins) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json median = pair(g, "median.dim", f32({3}), Json::array({x, 1, false}));
    EXPECT_EQ(textOf(lowered(g.returning({g.item(median, 0, f32({3}))}))),
              "out0[i] = where(any[j](isnan(in0[i, j])), nan, sorted[j: +2](in0[i, j]))\n");
    GraphWriter h;
    const Json n = h.input(i64({3, 5}));
    const Json whole = pair(h, "kthvalue.default", i64({3}), Json::array({n, 1, 1, false}));
    EXPECT_EQ(textOf(lowered(h.returning({h.item(whole, 0, i64({3}))}))),
              "out0[i] = sorted[j: ](in0[i, j])\n");
}

TEST(LoweringOrder, GradientsGoBackToWhereElementsWere) {
    GraphWriter g;
    const Json x = g.input(matrix), given = g.input(f32({3, 2}));
    const Json top = pair(g, "topk.default", f32({3, 2}), Json::array({x, 2, 1}));
    const Json none = g.op("full.default", matrix, Json{3, 5}, 0);
    const Json at = g.item(top, 1, i64({3, 2}));
    const Json back = g.op("scatter.src", matrix, none, 1, at, given);
    const auto task = g.returning({g.op("exp.default", matrix, back)});
    Memory memory = numbers;
    memory["in1"] = {1, 2, 3, 4, 5, 6};
    Numbers result = evaluate(fuse(lowered(task), {}), memory)["out0"];
    for (double &number : result)
        number = std::round(std::log(number));
    EXPECT_EQ(result, (Numbers{2, 0, 0, 0, 1, 3, 4, 0, 0, 0, 0, 0, 5, 6, 0}));
    // Positions that may meet have no one answer.
    GraphWriter h;
    const Json y = h.input(matrix), places = h.input(i64({3, 2})), more = h.input(f32({3, 2}));
    EXPECT_EQ(problemOf(h.returning({h.op("scatter.src", matrix, y, 1, places, more)})),
              "the planner cannot do: aten.scatter.src (with an index of more than one element "
              "along the dimension)");
}

TEST(LoweringOrder, ADimensionOfOneElementIsThatElement) {
    GraphWriter g;
    const Json x = g.input(f32({3, 1}));
    const Json sorted = pair(g, "sort.default", f32({3, 1}), Json::array({x, 1}));
    EXPECT_EQ(textOf(lowered(g.returning({g.item(sorted, 0, f32({3, 1}))}))),
              "out0[i, 0] = in0[i, 0]\n");
}

TEST(LoweringOrder, RunningExtremesAndTheirPlaces) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json most = pair(g, "cummax.default", matrix, Json::array({x, 1}));
    const auto task = g.returning({g.item(most, 0, matrix), g.item(most, 1, i64({3, 5}))});
    Memory memory = evaluate(fuse(lowered(task), {}), numbers);
    EXPECT_EQ(memory["out0"], (Numbers{3, 3, 3, 3, 9, 5, 5, 5, 5, 5, 0, 0, 7, 7, 7}));
    EXPECT_EQ(memory["out1"], (Numbers{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 1, 2, 3, 3}))
        << "the last of equal ones";
}

SearchSpace spaceOf(const task::Description &task, device::Kind kind) {
    device::Info info;
    info.kind = kind;
    info.multiprocessors = kind == device::Kind::cpu ? 2 : 132;
    info.sharedBytesPerBlock = 227 << 10;
    auto space = SearchSpace::make(task, info, {}, task::Numerics::standard);
    EXPECT_TRUE(space) << space.error().message;
    return std::move(*space);
}

TEST(OrderSpace, RowsThatDoNotFitABlockAreMerged) {
    const auto sortOf = [](std::int64_t rows, std::int64_t length) {
        GraphWriter g;
        const TensorType type = f32({rows, length});
        const Json sorted = pair(g, "sort.default", type, Json::array({g.input(type), 1}));
        return g.returning({g.item(sorted, 0, type)});
    };
    for (const auto kind : {device::Kind::cpu, device::Kind::cuda}) {
        const SearchSpace large = spaceOf(sortOf(4, 65536), kind);
        for (const std::string &name : large.allSingleChanges()) {
            const auto files = large.write(name, {});
            ASSERT_TRUE(files) << files.error().message;
            const Json plan = Json::parse(files->files.at("plan.json"));
            std::size_t merges = 0;
            for (const Json &step : plan["steps"])
                merges += step["entry"].get<std::string>().find("_merge") != std::string::npos;
            const auto schedule = Schedule::fromText(name.substr(name.find('|') + 1));
            ASSERT_TRUE(schedule) << name;
            EXPECT_EQ(schedule->text(), name.substr(name.find('|') + 1));
            std::size_t expected = 0;
            for (std::int64_t run = schedule->chunk; run < 65536; run *= 2)
                ++expected;
            EXPECT_EQ(merges, expected) << name;
            EXPECT_GE(merges, 1u) << name;
        }
        const SearchSpace small = spaceOf(sortOf(4096, 100), kind);
        const auto files = small.write(small.allSingleChanges().at(0), {});
        ASSERT_TRUE(files) << files.error().message;
        EXPECT_EQ(Json::parse(files->files.at("plan.json"))["steps"].size(), 1u);
    }
}

} // namespace
} // namespace cuda_agent::policy::graphs
