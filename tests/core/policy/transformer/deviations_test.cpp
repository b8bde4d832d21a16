// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/deviations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cuda_agent::policy {
namespace {

using Tokens = std::vector<std::int32_t>;

/// Of the next turn to try; empty: none is left.
Tokens beginOf(Deviations &deviations) {
    const auto next = deviations.next();
    return next ? next->begin : Tokens();
}

TEST(Deviations, WithoutATurnThereIsNone) {
    Deviations deviations;
    EXPECT_TRUE(beginOf(deviations).empty());
    deviations.prefer();
    deviations.drop(0, 10);
    deviations.suspect(3);
    deviations.add({1, 2, 3}, {});
    EXPECT_TRUE(beginOf(deviations).empty());
}

TEST(Deviations, TheCheapestComesFirstAndEachOnce) {
    Deviations deviations;
    deviations.add({1, 2, 3, 4}, {{3, 40, 2.5, 0}, {1, 20, 0.5, 0}, {1, 21, 7, 0}});
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 20}));
    deviations.add({1, 20, 5}, {});
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 2, 3, 40}));
    deviations.add({1, 2, 3, 40}, {});
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 21}));
    EXPECT_TRUE(beginOf(deviations).empty());
}

TEST(Deviations, ASecondDepartureComesBehindFirstOnesOfItsPrice) {
    Deviations deviations;
    deviations.add({1, 2, 3, 4}, {{0, 10, 0.1, 0}, {3, 40, 5, 0}, {2, 30, 9, 0}});
    EXPECT_EQ(beginOf(deviations), (Tokens{10}));
    deviations.add({10, 2, 3}, {{2, 31, 0.2, 0}}); // 0.1 + 0.2 and twice what each costs
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 2, 3, 40}));
    deviations.add({1, 2, 3, 40}, {});
    EXPECT_EQ(beginOf(deviations), (Tokens{10, 2, 31})) << "before one that is 8,000 times rarer";
    deviations.add({10, 2, 31}, {});
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 2, 30}));
}

TEST(Deviations, TheyTellFromWhichTurnAndWhere) {
    Deviations deviations;
    deviations.add({1, 2, 3}, {{0, 10, 1, 0}, {1, 20, 4, 7}});
    const auto first = deviations.next();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->from, 0u);
    EXPECT_EQ(first->at, (Alternative{0, 10, 1, 0}));
    deviations.add({10, 2, 3}, {{1, 21, 2, 5}});
    deviations.prefer();
    const auto second = deviations.next();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->from, 1u);
    EXPECT_EQ(second->at.offset, 5);
}

TEST(Deviations, ATurnThatIsPreferredIsGoneOnFrom) {
    Deviations deviations;
    deviations.add({1, 2, 3}, {{0, 10, 1, 0}, {1, 20, 4, 0}});
    EXPECT_EQ(beginOf(deviations), (Tokens{10}));
    deviations.add({10, 2, 3}, {{1, 21, 2, 0}});
    deviations.prefer();
    EXPECT_EQ(beginOf(deviations), (Tokens{10, 21}));
}

TEST(Deviations, WhatCannotMendATurnIsDropped) {
    Deviations deviations;
    deviations.add({1, 2, 3, 4}, {{1, 20, 1, 8}, {2, 30, 0.5, 16}, {3, 40, 2, 24}});
    deviations.drop(16, 24);
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 20}));
    deviations.add({1, 20}, {{1, 50, 0, 16}}); // of another turn's text
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 2, 3, 40}));
}

TEST(Deviations, ShortlyBeforeWhereTheMistakeShowsIsLikelier) {
    const std::vector<Alternative> alternatives{{1, 20, 1, 100}, {3, 40, 2, 900}};
    Deviations without, with;
    without.add({1, 2, 3, 4}, alternatives);
    with.add({1, 2, 3, 4}, alternatives);
    with.suspect(910);
    EXPECT_EQ(beginOf(without), (Tokens{1, 20}));
    EXPECT_EQ(beginOf(with), (Tokens{1, 2, 3, 40}));
}

TEST(Deviations, WhatStandsBeforeTheFileThatWasRefusedIsNotTheReason) {
    // A long uncertain thought, of which 5 nats stand in each cost of the file behind it.
    const std::vector<Alternative> alternatives{
        {1, 20, 1, 100, 0.5}, {3, 40, 6, 900, 5}, {4, 50, 5.5, 950, 5.2}, {5, 60, 7, 990, 5.2}};
    Deviations deviations;
    deviations.add({1, 2, 3, 4, 5, 6}, alternatives);
    deviations.suspect(980, 800);
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 2, 3, 4, 50}));
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 2, 3, 40}));
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 2, 3, 4, 5, 60}));
    EXPECT_EQ(beginOf(deviations), (Tokens{1, 20}));
}

TEST(Deviations, PlacesThatATurnDoesNotHaveAreIgnored) {
    Deviations deviations;
    deviations.add({1, 2}, {{-1, 5, 0, 0}, {2, 6, 0, 0}});
    EXPECT_TRUE(beginOf(deviations).empty());
}

TEST(CheapestOf, CountsWhatWasUncertainBefore) {
    const auto alternatives =
        cheapestOf({{9, 3, 0.6, 0}, {2, 1, 0.5, 0}, {2, 2, 1.5, 0}, {5, 4, 3, 0}}, 4);
    ASSERT_EQ(alternatives.size(), 4u);
    const double first = std::exp(-0.5) + std::exp(-1.5);
    EXPECT_EQ(alternatives[0].token, 1);
    EXPECT_DOUBLE_EQ(alternatives[0].cost, 0.5) << "nothing of its own place";
    EXPECT_EQ(alternatives[1].token, 3);
    EXPECT_NEAR(alternatives[1].cost, 0.6 + 0.5 * (first + std::exp(-3)), 1e-12);
    EXPECT_NEAR(alternatives[1].earlier, 0.5 * (first + std::exp(-3)), 1e-12);
    EXPECT_EQ(alternatives[2].token, 2);
    EXPECT_DOUBLE_EQ(alternatives[2].cost, 1.5);
    EXPECT_DOUBLE_EQ(alternatives[2].earlier, 0);
}

TEST(CheapestOf, HasAsManyThatCameNearBehindWhatWasUncertain) {
    std::vector<Alternative> alternatives;
    for (std::int64_t place = 0; place < 50; ++place)
        alternatives.push_back({place, 1, 1, 0});
    alternatives.push_back({60, 7, 0.1, 0});
    alternatives.push_back({70, 8, 9, 0});
    const auto found = cheapestOf(alternatives, 3);
    ASSERT_EQ(found.size(), 6u);
    EXPECT_EQ(found[2].place, 2);
    EXPECT_EQ(found[5].token, 7) << "behind 50 places, of which each may be the one";
    EXPECT_TRUE(std::ranges::is_sorted(found, {}, &Alternative::cost));
}

TEST(CheapestOf, WhereAnythingMayComeIsNotWhereTheMistakeIs) {
    std::vector<Alternative> alternatives{{100, 1, 3.5, 0}};
    for (std::int64_t place = 200; place < 400; ++place)
        alternatives.push_back({place, 2, 0.01, 0});
    const auto first = cheapestOf(alternatives, 10);
    EXPECT_TRUE(std::ranges::any_of(first, [](const Alternative &one) { return one.place == 100; }))
        << "before most of a long rigmarole";
}

} // namespace
} // namespace cuda_agent::policy
