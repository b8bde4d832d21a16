// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <latch>
#include <set>

using namespace cuda_agent;

TEST(Parallel, ResultsAreInOrder) {
    for (const unsigned threads : {0u, 1u, 3u, 50u}) {
        const auto results = parallelResults<int>(
            20, threads, [](std::size_t i) -> Result<int> { return static_cast<int>(i * i); });
        ASSERT_TRUE(results);
        ASSERT_EQ(results->size(), 20u);
        for (int i = 0; i < 20; ++i)
            EXPECT_EQ(results->at(static_cast<std::size_t>(i)), i * i);
    }
    EXPECT_TRUE(parallelResults<int>(0, 4, [](std::size_t) -> Result<int> { return 1; })->empty());
}

TEST(Parallel, AsManyAtATimeAsAsked) {
    // Neither could go on alone.
    std::latch both(2);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    const auto results = parallelResults<int>(2, 2, [&](std::size_t) -> Result<int> {
        both.arrive_and_wait();
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
        return 0;
    });
    ASSERT_TRUE(results);
    EXPECT_EQ(threads.size(), 2u);
    EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
}

TEST(Parallel, AfterAnErrorNothingIsBegun) {
    int made = 0;
    const auto results = parallelResults<int>(10, 1, [&](std::size_t i) -> Result<int> {
        ++made;
        if (i == 3)
            return machineError("no more");
        return 0;
    });
    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().message, "no more");
    EXPECT_EQ(made, 4);
}
