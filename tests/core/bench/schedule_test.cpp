// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/schedule.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

using namespace cuda_agent;
using bench::Schedule;

namespace {

constexpr std::chrono::milliseconds little{50};

Schedule::Turn begin(Schedule &schedule, std::size_t device = 0) {
    auto turn = schedule.next(device, {});
    EXPECT_TRUE(turn);
    return turn.value_or(Schedule::Turn{});
}

/// What the items need, in their order.
void tell(Schedule &schedule, const std::vector<std::uint64_t> &needs) {
    for (std::size_t item = 0; item < needs.size(); ++item)
        schedule.need(item, {needs[item]});
}

/// Whether the turn finds room without anything else happening.
bool finds(Schedule &schedule, Schedule::Turn &turn) {
    std::stop_source enough;
    auto waiting = std::async(std::launch::async, [&] {
        return schedule.waitForRoom(turn, enough.get_token()).has_value();
    });
    if (waiting.wait_for(little) == std::future_status::timeout)
        enough.request_stop();
    return waiting.get();
}

} // namespace

TEST(Schedule, GivesTheLargestFirstAndEqualOnesInTheirOrder) {
    Schedule schedule(4, {1, 4, 100}, true);
    tell(schedule, {5, 20, 5, 30});
    EXPECT_EQ(begin(schedule).item, 3u);
    EXPECT_EQ(begin(schedule).item, 1u);
    EXPECT_EQ(begin(schedule).item, 0u);
    EXPECT_EQ(begin(schedule).item, 2u);
}

TEST(Schedule, OfSmallOnesThoseThatTakeLongGoFirst) {
    Schedule schedule(4, {1, 4, 100}, true);
    schedule.need(0, {20});
    schedule.need(1, {5, true});
    schedule.need(2, {70});
    schedule.need(3, {10, true});
    for (const std::size_t item : {2u, 3u, 1u, 0u})
        EXPECT_EQ(begin(schedule).item, item);
}

TEST(Schedule, AThirdOfManyPlacesHasLargeOnes) {
    Schedule schedule(12, {1, 9, 100}, true);
    for (std::size_t item = 0; item < 12; ++item)
        schedule.need(item, {item < 6 ? 60u : 10u});
    for (const std::size_t item : {0u, 1u, 2u, 6u, 7u})
        EXPECT_EQ(begin(schedule).item, item);
}

TEST(Schedule, TwoLargeOnesBeginAtATimeAndSmallOnesLeaveThemRoom) {
    Schedule schedule(6, {1, 5, 100}, true);
    tell(schedule, {70, 70, 70, 20, 20, 20});
    auto first = begin(schedule);
    auto second = begin(schedule);
    EXPECT_EQ(first.item, 0u);
    EXPECT_EQ(second.item, 1u);
    auto small = begin(schedule); // not the third large one
    auto another = begin(schedule);
    EXPECT_EQ(small.item, 3u);
    EXPECT_EQ(another.item, 4u);
    EXPECT_TRUE(finds(schedule, first));
    EXPECT_FALSE(finds(schedule, second));
    EXPECT_TRUE(finds(schedule, small));
    EXPECT_FALSE(finds(schedule, another)); // the second large one would wait for it
    schedule.end(first);
    EXPECT_TRUE(finds(schedule, second));
    EXPECT_EQ(begin(schedule).item, 2u);
}

TEST(Schedule, WhatNeedsMoreThanMostOfADeviceIsTriedBesideSmallOnes) {
    Schedule schedule(2, {1, 2, 100}, true);
    schedule.need(0, {500});
    schedule.need(1, {10});
    auto large = begin(schedule);
    auto small = begin(schedule);
    EXPECT_LT(large.bytes, 90u);
    EXPECT_TRUE(finds(schedule, large));
    EXPECT_TRUE(finds(schedule, small));
}

TEST(Schedule, WhatFoundTooLittleComesAgainWithMoreAndInTheEndAlone) {
    Schedule schedule(2, {1, 2, 90}, true);
    schedule.need(0, {10});
    schedule.need(1, {5});
    auto one = begin(schedule);
    auto other = begin(schedule);
    ASSERT_TRUE(finds(schedule, one));
    ASSERT_TRUE(finds(schedule, other));
    schedule.again(one);
    one = begin(schedule);
    EXPECT_EQ(one.item, 0u);
    EXPECT_EQ(one.bytes, 30u);
    EXPECT_FALSE(one.alone);
    ASSERT_TRUE(finds(schedule, one));
    schedule.again(one);
    one = begin(schedule);
    EXPECT_TRUE(one.alone);
    EXPECT_FALSE(finds(schedule, one)); // beside the other
    schedule.end(other);
    EXPECT_TRUE(finds(schedule, one));
    schedule.end(one);
    EXPECT_FALSE(schedule.next(0, {}));
}

TEST(Schedule, NothingBeginsBeforeItsNeedIsKnown) {
    Schedule schedule(1, {1, 4, 100}, true);
    auto waiting = std::async(std::launch::async, [&] { return schedule.next(0, {}); });
    EXPECT_EQ(waiting.wait_for(little), std::future_status::timeout);
    schedule.need(0, {});
    const auto turn = waiting.get();
    ASSERT_TRUE(turn);
    EXPECT_EQ(turn->bytes, 25u);
}

TEST(Schedule, AStopEndsWaiting) {
    Schedule schedule(1, {1, 1, 100}, true);
    std::stop_source stop;
    auto waiting =
        std::async(std::launch::async, [&] { return schedule.next(0, stop.get_token()); });
    stop.request_stop();
    EXPECT_FALSE(waiting.get());
}

TEST(Schedule, ManyThreadsEndAll) {
    constexpr std::size_t items = 300;
    constexpr std::uint64_t memory = 1000;
    Schedule schedule(items, {2, 4, memory}, true);
    std::atomic<std::uint64_t> taken[2] = {0, 0};
    std::atomic<int> ended{0};
    {
        std::vector<std::jthread> threads;
        for (std::size_t lane = 0; lane < 8; ++lane)
            threads.emplace_back([&, lane] {
                while (auto turn = schedule.next(lane % 2, {})) {
                    ASSERT_TRUE(schedule.waitForRoom(*turn, {}));
                    EXPECT_LE(taken[lane % 2] += turn->bytes, memory);
                    std::this_thread::yield();
                    taken[lane % 2] -= turn->bytes;
                    if (turn->item % 7 == 0 && !turn->alone) {
                        schedule.again(*turn);
                    } else {
                        ++ended;
                        schedule.end(*turn);
                    }
                }
            });
        for (std::size_t item = 0; item < items; ++item)
            schedule.need(item, {item % 5 == 0 ? 600 + item : item, item % 7 == 0});
    }
    EXPECT_EQ(ended, static_cast<int>(items));
}

TEST(Schedule, CountsNoMemoryWhereThereIsNone) {
    Schedule schedule(3, {1, 2, 0}, false);
    EXPECT_EQ(begin(schedule).item, 0u);
    auto second = begin(schedule);
    EXPECT_EQ(second.item, 1u);
    schedule.end(second);
    EXPECT_EQ(begin(schedule).item, 2u);
}
