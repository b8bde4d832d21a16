// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/attention.h"
#include "core/policy/planner/nest.h"
#include "core/policy/planner/products.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// What is recognised as attention and what is not. That its kernels are right is what the recorded
// tasks attention*.json show.

namespace cuda_agent::policy::graphs {
namespace {

struct Chain {
    std::int64_t queries = 9, keys = 11, head = 8, width = 6;
    bool masked = false, returnsWeights = false, overQueries = false;
};

/// softmax(q k^T / 2 [+ mask]) v of three products.
task::Description chainOf(const Chain &chain) {
    GraphWriter g;
    const Json q = g.input(f32({3, chain.queries, chain.head}));
    const Json k = g.input(f32({3, chain.keys, chain.head}));
    const Json v = g.input(f32({3, chain.keys, chain.width}));
    const TensorType type = f32({3, chain.queries, chain.keys});
    const Json turned = g.op("transpose.int", f32({3, chain.head, chain.keys}), k, 1, 2);
    Json x = g.op("mul.Tensor", type, g.op("bmm.default", type, q, turned), 0.5);
    if (chain.masked)
        x = g.op("add.Tensor", type, x, g.input(f32({chain.queries, chain.keys})));
    const Json weights = g.op("_softmax.default", type, x, chain.overQueries ? 1 : 2, false);
    const Json y = g.op("bmm.default", f32({3, chain.queries, chain.width}), weights, v);
    const Json result = g.op("relu.default", f32({3, chain.queries, chain.width}), y);
    return g.returning(chain.returnsWeights ? std::vector<Json>{result, weights}
                                            : std::vector<Json>{result});
}

std::size_t foundIn(const Chain &chain) {
    return attentionsOf(fuse(lowered(chainOf(chain)), {})).size();
}

TEST(Attention, TheChainOfProductsAndSoftmaxIsFound) {
    EXPECT_EQ(foundIn({}), 1u);
    Chain masked;
    masked.masked = true;
    EXPECT_EQ(foundIn(masked), 1u);
}

TEST(Attention, WeightsThatSomebodyElseReadsStay) {
    Chain chain;
    chain.returnsWeights = true;
    EXPECT_EQ(foundIn(chain), 0u);
}

TEST(Attention, ASoftmaxOverQueriesIsNone) {
    Chain chain;
    chain.overQueries = true;
    EXPECT_EQ(foundIn(chain), 0u);
    chain.keys = chain.queries; // sizes alone would not tell
    EXPECT_EQ(foundIn(chain), 0u);
}

TEST(Attention, HeadsThatDoNotFitAreLeftAlone) {
    Chain chain;
    chain.head = chain.width = longestHead;
    EXPECT_EQ(foundIn(chain), 1u);
    chain.head = longestHead + 1;
    EXPECT_EQ(foundIn(chain), 0u);
    chain.head = 8;
    chain.width = longestHead + 1;
    EXPECT_EQ(foundIn(chain), 0u);
}

TEST(Attention, OneUnitTakesThePlaceOfAll) {
    Chain chain;
    chain.masked = true;
    Fused fused = fuse(lowered(chainOf(chain)), {});
    const auto found = attentionsOf(fused);
    ASSERT_EQ(found.size(), 1u);
    fused = withOwnAttention(std::move(fused), found);
    ASSERT_EQ(fused.units.size(), 1u);
    const Group &group = *fused.units[0].group;
    EXPECT_EQ(group.product, found[0].product);
    EXPECT_EQ(group.scores, found[0].scores);
    EXPECT_FALSE(group.safeSoftmax);
    EXPECT_FALSE(isCausal(fused.program, group));
    EXPECT_EQ(operandsOf(fused.program, group).size(), 3u);
    const Nest nest = makeProductNest(fused.program, group);
    const auto length = [&](const std::vector<int> &dims) {
        std::int64_t product = 1;
        for (const int d : dims)
            product *= nest.dims[d].size;
        return product;
    };
    EXPECT_EQ(length(nest.sides[0]), 3);
    EXPECT_EQ(length(nest.sides[1]), chain.queries);
    EXPECT_EQ(length(nest.sides[2]), chain.width);
    EXPECT_EQ(length(nest.scoreSides[1]), chain.queries);
    EXPECT_EQ(length(nest.scoreSides[2]), chain.keys);
}

TEST(Attention, ACausalOperatorOnlyNeedsKeysUpToTheQuery) {
    GraphWriter g;
    const TensorType type = f32({2, 3, 9, 8});
    const Json q = g.input(type), k = g.input(type), v = g.input(type);
    const Json tuple =
        g.node("aten._scaled_dot_product_flash_attention_for_cpu.default", {type, f32({2, 3, 9})},
               Json::array({q, k, v, 0.0, true}), Json::object());
    const Fused fused = fuse(lowered(g.returning({g.item(tuple, 0, type)})), {});
    const auto found = attentionsOf(fused);
    ASSERT_EQ(found.size(), 1u);
    const Fused own = withOwnAttention(fused, found);
    ASSERT_EQ(own.units.size(), 1u);
    EXPECT_TRUE(isCausal(own.program, *own.units[0].group));
}

TEST(Attention, SharedMemoryHoldsQueriesKeysAndValues) {
    Product scores, product;
    scores.k = 50; // 64 with zeros
    product.n = 32;
    Schedule s;
    s.along = 64;
    s.chunk = 32;
    EXPECT_EQ(attentionBytes(s, scores, product), ((64 + 32) * (64 + 4) + 32 * (32 + 4)) * 4);
}

} // namespace
} // namespace cuda_agent::policy::graphs
