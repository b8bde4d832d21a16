// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/deadline.h"

#include <gtest/gtest.h>

namespace cuda_agent::bench {
namespace {

bool stopsWithin(const std::stop_token &token, std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (!token.stop_requested() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return token.stop_requested();
}

TEST(Deadline, PassesByItself) {
    const Deadline deadline({}, 0.02);
    EXPECT_TRUE(stopsWithin(deadline.token(), std::chrono::seconds(20)));
    EXPECT_TRUE(deadline.passed());
}

TEST(Deadline, ForwardsAStopWithoutHavingPassed) {
    std::stop_source outer;
    const Deadline deadline(outer.get_token(), 1000);
    EXPECT_FALSE(deadline.token().stop_requested());
    outer.request_stop();
    EXPECT_TRUE(deadline.token().stop_requested());
    EXPECT_FALSE(deadline.passed());
}

TEST(Deadline, EndsAtOnceWhenItIsNotNeeded) {
    const auto start = std::chrono::steady_clock::now();
    {
        const Deadline deadline({}, 1000);
        const Deadline unlimited({}, 0);
        EXPECT_FALSE(unlimited.token().stop_requested());
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Deadline, DoesNotCountAPause) {
    Deadline deadline({}, 0.2);
    deadline.pause();
    EXPECT_FALSE(stopsWithin(deadline.token(), std::chrono::milliseconds(400)));
    deadline.resume();
    EXPECT_TRUE(stopsWithin(deadline.token(), std::chrono::seconds(20)));
    EXPECT_TRUE(deadline.passed());
}

TEST(Deadline, StopsWhenAsked) {
    Deadline deadline({}, 0);
    deadline.request();
    EXPECT_TRUE(deadline.token().stop_requested());
    EXPECT_FALSE(deadline.passed());
}

} // namespace
} // namespace cuda_agent::bench
