// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/control.h"

#include <gtest/gtest.h>

#include <future>

namespace cuda_agent::agent {
namespace {

TEST(Control, RunsUntilItIsPaused) {
    Control control;
    EXPECT_TRUE(control.next({}, {})->calls.empty());
    EXPECT_TRUE(control.next({}, {})->calls.empty());
    control.pause();
    std::stop_source stop;
    bool rested = false;
    auto order = std::async(std::launch::async,
                            [&] { return control.next(stop.get_token(), [&] { rested = true; }); });
    EXPECT_EQ(order.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    control.run();
    EXPECT_TRUE(order.get().has_value());
    EXPECT_TRUE(rested);
}

TEST(Control, AStepIsOneTurn) {
    Control control;
    control.pause();
    control.step();
    EXPECT_TRUE(control.next({}, {}).has_value());
    std::stop_source stop;
    auto order = std::async(std::launch::async, [&] { return control.next(stop.get_token(), {}); });
    EXPECT_EQ(order.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    stop.request_stop();
    const auto result = order.get();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::stopped);
}

TEST(Control, TheEngineersTurnsComeFirstAndWhilePaused) {
    Control control;
    control.post({{}, {{"1", "Verify", Json::object()}}});
    EXPECT_EQ(control.next({}, {})->calls.size(), 1u);
    EXPECT_TRUE(control.next({}, {})->calls.empty());
    control.pause();
    control.post({"look", {{"2", "Write", Json::object()}, {"3", "Verify", Json::object()}}});
    EXPECT_EQ(control.next({}, {})->calls.size(), 2u);
}

} // namespace
} // namespace cuda_agent::agent
