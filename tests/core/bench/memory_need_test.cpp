// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/memory_need.h"

#include <gtest/gtest.h>

using namespace cuda_agent;

namespace {

task::Node node(const std::string &name, const std::string &op,
                const std::vector<std::string> &reads, std::int64_t elements) {
    task::Node made;
    made.name = name;
    made.op = op;
    for (const auto &read : reads)
        made.args.push_back({{"node", read}});
    made.outputs = {contiguousType(DType::float32, {elements})};
    return made;
}

/// x -> a (100 numbers) -> its view -> b (50) -> c (10).
task::Graph chain() {
    task::Graph graph;
    graph.nodes = {node("x", "placeholder", {}, 1000), node("a", "aten.relu.default", {"x"}, 100),
                   node("v", "aten.view.default", {"a"}, 100),
                   node("b", "aten.sum.dim_IntList", {"v"}, 50),
                   node("c", "aten.mul.Tensor", {"b", "b"}, 10)};
    graph.outputs = {"c"};
    return graph;
}

} // namespace

TEST(LiveBytes, CountsWhatIsStillReadAndViewsNotAtAll) {
    auto graph = chain();
    EXPECT_EQ(bench::liveBytes(graph), 4u * (100 + 50)); // a, by its view, beside b
    graph.outputs = {"a", "c"};                          // a stays
    EXPECT_EQ(bench::liveBytes(graph), 4u * (100 + 50 + 10));
    EXPECT_EQ(bench::liveBytes({}), 0u);
}

TEST(MemoryNeed, GrowsWithTheCasesUpToAllOfThemAndHasOneAtLeast) {
    task::Description task;
    task.inputs = {{"x", contiguousType(DType::float32, {1 << 26}), 0}};
    task.outputs = {{"out0", contiguousType(DType::float32, {1 << 26}), -1}};
    const std::uint64_t one = (1ull << 26) * 12; // inputs, and doubles
    const auto least = bench::memoryNeed(task, 0, verify::Strength::full);
    EXPECT_EQ(bench::memoryNeed(task, one, verify::Strength::full), least);
    EXPECT_EQ(bench::memoryNeed(task, 3 * one, verify::Strength::full), least + 2 * one);
    EXPECT_EQ(bench::memoryNeed(task, 1000 * one, verify::Strength::full),
              bench::memoryNeed(task, 100 * one, verify::Strength::full));
    // Its oracle holds the inputs as floats and doubles, and the outputs as doubles.
    EXPECT_GE(least, one + (1ull << 26) * (4 + 8 + 8));
}

TEST(MemoryNeed, IsGuessedFromTheMemoryOfATaskThatNobodyDescribed) {
    const std::uint64_t bytes = 1ull << 30;
    const auto least = bench::memoryNeed(bytes, 0, verify::Strength::full);
    EXPECT_GE(least, 6 * bytes);
    EXPECT_EQ(bench::memoryNeed(bytes, 3 * bytes, verify::Strength::full), least + 2 * bytes);
    EXPECT_EQ(bench::memoryNeed(bytes, 1000 * bytes, verify::Strength::training),
              least + 4 * bytes); // five cases
    EXPECT_EQ(bench::memoryNeed(bytes, 1000 * bytes, verify::Strength::full),
              bench::memoryNeed(bytes, 100 * bytes, verify::Strength::full));
}
