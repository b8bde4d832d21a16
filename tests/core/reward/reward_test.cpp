// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/reward/reward.h"

#include <gtest/gtest.h>

namespace cuda_agent::reward {
namespace {

TEST(Milestone, WrongIsMinusOneHoweverFast) {
    EXPECT_EQ(milestone(false, 1e-6, 1.0, 1.0), -1);
    EXPECT_EQ(milestone(false, 1e-6, {}, {}), -1);
}

TEST(Milestone, CorrectIsOne) {
    EXPECT_EQ(milestone(true, 1.0, 1.0, 1.0), 1);
    EXPECT_EQ(milestone(true, 2.0, 1.0, 1.0), 1);
}

TEST(Milestone, FasterThanEagerIsTwo) {
    EXPECT_EQ(milestone(true, 1.0, 1.2, 1.0), 2);
}

TEST(Milestone, FasterThanBothIsThree) {
    EXPECT_EQ(milestone(true, 1.0, 1.2, 1.1), 3);
}

TEST(Milestone, TheLadderIsCumulative) {
    EXPECT_EQ(milestone(true, 1.0, 1.04, 2.0), 1); // beats compile only
}

TEST(Milestone, FivePercentItselfIsNotEnough) {
    EXPECT_EQ(milestone(true, 1.0, 1.05, 1.05), 1);
    EXPECT_EQ(milestone(true, 1.0, 1.0501, 1.05), 2);
    EXPECT_EQ(milestone(true, 1.0, 1.0501, 1.0501), 3);
}

TEST(Milestone, WithoutBaselinesLessCanBeReached) {
    EXPECT_EQ(milestone(true, 1.0, {}, {}), 1);
    EXPECT_EQ(milestone(true, 1.0, {}, 9.0), 1);
    EXPECT_EQ(milestone(true, 1.0, 9.0, {}), 2);
}

TEST(Milestone, AnUntimedCandidateIsOnlyCorrect) {
    EXPECT_EQ(milestone(true, 0, 9.0, 9.0), 1);
}

} // namespace
} // namespace cuda_agent::reward
