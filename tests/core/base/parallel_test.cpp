// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/parallel.h"
#include "core/base/parallel_in_order.h"

#include <gtest/gtest.h>

#include <atomic>
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

TEST(ParallelInOrder, EachIsTakenInItsOrderByTheCaller) {
    for (const unsigned threads : {0u, 1u, 3u, 50u}) {
        std::vector<std::size_t> taken;
        const auto done = parallelInOrder<std::size_t>(
            40, threads, 4, [](std::size_t i) -> Result<std::size_t> { return i * i; },
            [&, caller = std::this_thread::get_id()](std::size_t i,
                                                     std::size_t value) -> Result<void> {
                EXPECT_EQ(std::this_thread::get_id(), caller);
                EXPECT_EQ(i, taken.size());
                EXPECT_EQ(value, i * i);
                taken.push_back(i);
                return {};
            });
        ASSERT_TRUE(done);
        EXPECT_EQ(taken.size(), 40u);
    }
}

TEST(ParallelInOrder, OneThatTakesLongHoldsUpNoMoreThanAsked) {
    constexpr std::size_t ahead = 5;
    std::latch others(ahead - 1);
    std::atomic<std::size_t> begun = 0;
    const auto done = parallelInOrder<int>(
        20, 2, ahead,
        [&](std::size_t i) -> Result<int> {
            ++begun;
            if (i == 0) {
                others.wait(); // they are made meanwhile, and nothing is taken
                std::this_thread::sleep_for(std::chrono::milliseconds(30));
                EXPECT_EQ(begun, ahead);
            } else if (i < ahead) {
                others.count_down();
            }
            return 0;
        },
        [](std::size_t, int) -> Result<void> { return {}; });
    ASSERT_TRUE(done);
    EXPECT_EQ(begun, 20u);
}

TEST(ParallelInOrder, TheFirstErrorEndsIt) {
    std::size_t taken = 0;
    const auto making = parallelInOrder<int>(
        10, 1, 2,
        [](std::size_t i) -> Result<int> { return i == 3 ? Result<int>(machineError("made")) : 0; },
        [&](std::size_t, int) -> Result<void> {
            ++taken;
            return {};
        });
    ASSERT_FALSE(making);
    EXPECT_EQ(making.error().message, "made");
    EXPECT_LE(taken, 3u);
    std::atomic<std::size_t> made = 0;
    const auto taking = parallelInOrder<int>(
        1000, 2, 3, [&](std::size_t) -> Result<int> { return static_cast<int>(++made); },
        [](std::size_t i, int) {
            return i == 2 ? Result<void>(machineError("taken")) : Result<void>();
        });
    ASSERT_FALSE(taking);
    EXPECT_EQ(taking.error().message, "taken");
    EXPECT_LE(made, 2u + 3u + 2u);
}
