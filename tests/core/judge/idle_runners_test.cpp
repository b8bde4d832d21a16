// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/idle_runners.h"

#include "core/judge/judge.h"

#include <gtest/gtest.h>

#include <thread>

namespace cuda_agent::judge {
namespace {

// Runners without a process: what is kept is asked for here, not what it does.

TEST(IdleRunners, GivesTheOneThatCameLast) {
    IdleRunners runners(2);
    EXPECT_FALSE(runners.take());
    runners.give({nullptr, 1});
    runners.give({nullptr, 2});
    EXPECT_EQ(runners.take()->served, 2);
    EXPECT_EQ(runners.take()->served, 1);
    EXPECT_FALSE(runners.take());
}

TEST(IdleRunners, EndsOneTooManyAndOneThatHasServedLong) {
    IdleRunners runners(1);
    runners.give({nullptr, 1});
    runners.give({nullptr, 2});
    EXPECT_EQ(runners.take()->served, 1);
    EXPECT_FALSE(runners.take());
    runners.give({nullptr, 49});
    EXPECT_TRUE(runners.take());
    runners.give({nullptr, 50});
    EXPECT_FALSE(runners.take());
}

TEST(IdleRunners, CanBeCleared) {
    IdleRunners runners(2);
    runners.give({nullptr, 1});
    runners.clear();
    EXPECT_FALSE(runners.take());
}

TEST(Judges, ShareTheMemory) {
    EXPECT_EQ(caseBytesOfEach(80'000, 1), 40'000u);
    EXPECT_EQ(caseBytesOfEach(80'000, 8), 5'000u);
    EXPECT_EQ(caseBytesOfEach(80'000, 0), 40'000u);
}

TEST(Judges, ShareTheProcessor) {
    const auto all = std::thread::hardware_concurrency();
    EXPECT_EQ(threadsOfEach(1), 0u) << "all";
    EXPECT_EQ(threadsOfEach(2), std::max(all / 2, 1u));
    EXPECT_EQ(threadsOfEach(100 * std::size_t{all}), 1u);
}

} // namespace
} // namespace cuda_agent::judge
