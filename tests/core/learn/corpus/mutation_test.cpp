// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "broken_candidate.h"

#include <gtest/gtest.h>

#include <set>

namespace cuda_agent::learn {
namespace {

TEST(CorpusMutation, EveryKindChangesSomethingAndSaysWhat) {
    std::mt19937_64 random(3);
    std::set<std::string> kinds;
    std::set<std::string> results;
    for (int i = 0; i < 400; ++i) {
        auto text = candidate();
        const auto before = text;
        const auto mutation = mutate(text, random);
        ASSERT_TRUE(mutation);
        kinds.insert(mutation->kind);
        results.insert(text.kernels + text.plan.dump());
        EXPECT_TRUE(text.kernels != before.kernels || text.plan != before.plan) << mutation->kind;
        EXPECT_NE(mutation->where, mutation->became);
        // What it says stood there stood there, and what it became is there.
        const auto all = [](const CandidateText &c) {
            return c.kernels + c.plan.dump() + c.plan["steps"][0]["grid"][0].get<std::string>();
        };
        if (mutation->kind != "wrong order of arguments") {
            EXPECT_NE(all(before).find(mutation->where), std::string::npos) << mutation->where;
            EXPECT_NE(all(text).find(mutation->became), std::string::npos) << mutation->became;
        }
    }
    EXPECT_EQ(kinds, (std::set<std::string>{"dropped barrier", "bound off by one", "wrong stride",
                                            "wrong operator", "missing requirement", "wrong grid",
                                            "wrong order of arguments", "syntax slip"}));
    EXPECT_GT(results.size(), 25u);
}

TEST(CorpusMutation, TheSameGeneratorMakesTheSame) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        std::mt19937_64 one(seed), other(seed);
        auto a = candidate(), b = candidate();
        EXPECT_EQ(mutate(a, one), mutate(b, other));
        EXPECT_EQ(a.kernels, b.kernels);
        EXPECT_EQ(a.plan, b.plan);
    }
}

TEST(CorpusMutation, NoRoomIsNoMutation) {
    CandidateText text{"", {{"steps", {{{"kind", "gemm"}}}}}};
    std::mt19937_64 random(1);
    EXPECT_FALSE(mutate(text, random));
}

} // namespace
} // namespace cuda_agent::learn
