// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/lease.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

class LeaseTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  ("cuda-agent-lease-" + std::to_string(getpid()));
        setenv("CUDA_AGENT_CACHE", folder_.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("CUDA_AGENT_CACHE");
        std::filesystem::remove_all(folder_);
    }
    std::filesystem::path folder_;
    Info info_;
};

TEST_F(LeaseTest, ASecondTakerWaitsUntilTheFirstIsDone) {
    std::optional<Lease> first;
    {
        auto taken = Lease::take(info_);
        ASSERT_TRUE(taken) << taken.error().message;
        first.emplace(std::move(*taken));
    }
    std::atomic<bool> got = false;
    std::jthread other([&] { got = Lease::take(info_).has_value(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_FALSE(got);
    first.reset();
    other.join();
    EXPECT_TRUE(got);
}

TEST_F(LeaseTest, SeveralShareAndTheTimerHasItAlone) {
    auto one = Lease::share(info_);
    auto two = Lease::share(info_);
    ASSERT_TRUE(one && two);
    std::atomic<bool> got = false;
    std::jthread timer([&] {
        const auto alone = Lease::take(info_);
        got = alone.has_value();
        std::this_thread::sleep_for(std::chrono::milliseconds(80));
        got = false;
    });
    one = tl::unexpected(Error{});
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_FALSE(got); // the other still shares
    two = tl::unexpected(Error{});
    while (!got)
        std::this_thread::yield();
    const auto three = Lease::share(info_);
    EXPECT_TRUE(three);
    EXPECT_FALSE(got); // it waited until the timer was done
}

TEST_F(LeaseTest, WhoWaitsToTimeKeepsNewcomersOut) {
    auto first = Lease::share(info_);
    ASSERT_TRUE(first);
    std::atomic<bool> timed = false;
    std::jthread timer([&] { timed = Lease::take(info_).has_value(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(60)); // it waits by now
    std::atomic<bool> timedBefore = false;
    std::atomic<bool> shared = false;
    std::jthread newcomer([&] {
        const auto lease = Lease::share(info_);
        timedBefore = timed.load();
        shared = lease.has_value();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_FALSE(shared);
    first = tl::unexpected(Error{});
    newcomer.join();
    EXPECT_TRUE(shared);
    EXPECT_TRUE(timedBefore);
}

TEST_F(LeaseTest, AShareLetsTimersInBetweenItsSteps) {
    Share share(info_);
    ASSERT_TRUE(share.step()); // takes it
    EXPECT_FALSE(Lease::awaited(info_).value());
    std::atomic<bool> timed = false;
    std::jthread timer([&] {
        const auto alone = Lease::take(info_);
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        timed = alone.has_value();
    });
    while (!Lease::awaited(info_).value())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(timed);
    ASSERT_TRUE(share.take()); // held: nothing happens
    EXPECT_FALSE(timed);
    ASSERT_TRUE(share.step()); // it has not worked for long
    EXPECT_FALSE(timed);
    std::this_thread::sleep_for(Share::brief);
    ASSERT_TRUE(share.step()); // comes back when the timer is done
    EXPECT_TRUE(timed);
    EXPECT_FALSE(*Lease::tryTake(info_));
    share.leave();
    EXPECT_TRUE(*Lease::tryTake(info_));
}

TEST_F(LeaseTest, StepsGoOnWhileATimerWaitsForWhatIsShared) {
    std::optional<Lease> shared = Lease::share(info_).value();
    Steps steps(info_);
    ASSERT_TRUE(steps.next());
    std::atomic<bool> timing = false, timed = false;
    std::jthread timer([&] {
        const auto alone = Lease::take(info_);
        timing = alone.has_value();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        timed = true;
    });
    while (!Lease::awaited(info_).value())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(steps.next());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_FALSE(timing);
    shared.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(timing) << "a step is under way";
    EXPECT_FALSE(Lease::tryTake(info_)->has_value());
    ASSERT_TRUE(steps.next());
    EXPECT_TRUE(timed) << "the timer came before the next step";
    EXPECT_FALSE(Lease::tryTake(info_)->has_value());
    steps.leave();
    EXPECT_TRUE(Lease::tryTake(info_)->has_value());
}

TEST_F(LeaseTest, AStepThatWaitsCanBeStopped) {
    const auto alone = Lease::take(info_);
    ASSERT_TRUE(alone);
    std::stop_source stop;
    Steps steps(info_, stop.get_token());
    std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        stop.request_stop();
    });
    const auto step = steps.next();
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().kind, ErrorKind::stopped);
}

TEST_F(LeaseTest, AllWhoWaitToTimeComeBeforeWhoWaitsToShare) {
    auto first = Lease::take(info_);
    ASSERT_TRUE(first);
    std::atomic<int> timed = 0;
    std::vector<std::jthread> timers;
    for (int i = 0; i < 4; ++i)
        timers.emplace_back([&] {
            const auto alone = Lease::take(info_);
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            timed += alone.has_value();
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(60)); // they wait by now
    std::atomic<int> timedBefore = -1;
    std::jthread sharer([&] {
        const auto lease = Lease::share(info_);
        timedBefore = timed.load();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    first = tl::unexpected(Error{});
    sharer.join();
    EXPECT_EQ(timedBefore, 4);
}

TEST_F(LeaseTest, OthersThatShareAreNotAwaited) {
    Share one(info_);
    Share two(info_);
    ASSERT_TRUE(one.take());
    ASSERT_TRUE(two.take());
    EXPECT_FALSE(Lease::awaited(info_).value());
    EXPECT_TRUE(one.step());
    EXPECT_TRUE(two.step());
}

TEST_F(LeaseTest, ATryTakesOnlyWhatIsFree) {
    auto one = Lease::tryTake(info_);
    ASSERT_TRUE(one) << one.error().message;
    ASSERT_TRUE(*one);
    const auto two = Lease::tryTake(info_);
    ASSERT_TRUE(two) << two.error().message;
    EXPECT_FALSE(*two);
    one->reset();
    EXPECT_TRUE(Lease::tryTake(info_)->has_value());
    setenv("CUDA_AGENT_CACHE", "/proc/nowhere", 1);
    EXPECT_FALSE(Lease::tryTake(info_));
}

TEST_F(LeaseTest, WaitingStopsOnRequest) {
    const auto held = Lease::take(info_);
    ASSERT_TRUE(held);
    std::stop_source source;
    std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        source.request_stop();
    });
    const auto second = Lease::take(info_, source.get_token());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::stopped);
}

TEST_F(LeaseTest, OtherDevicesAreFree) {
    const auto held = Lease::take(info_);
    ASSERT_TRUE(held);
    Info other;
    other.kind = Kind::cuda;
    other.index = 3;
    EXPECT_TRUE(Lease::take(other));
}

TEST_F(LeaseTest, AKilledHolderFreesIt) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto held = Lease::take(info_);
        if (held && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(Lease::take(info_));
    close(ready[0]);
    close(ready[1]);
}

TEST_F(LeaseTest, AnUnwritableCacheIsNamed) {
    setenv("CUDA_AGENT_CACHE", "/proc/nowhere", 1);
    const auto lease = Lease::take(info_);
    ASSERT_FALSE(lease);
    EXPECT_NE(lease.error().message.find("/proc/nowhere"), std::string::npos);
}

TEST_F(LeaseTest, AFewMayOpenAtATime) {
    std::vector<OpeningTurn> turns;
    std::stop_source late;
    std::atomic<bool> refused = false;
    std::jthread more([&] {
        for (;;) {
            auto turn = OpeningTurn::take(late.get_token());
            if (!turn) {
                EXPECT_EQ(turn.error().kind, ErrorKind::stopped);
                refused = true;
                return;
            }
            turns.push_back(std::move(*turn));
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_FALSE(refused);
    late.request_stop();
    more.join();
    ASSERT_GE(turns.size(), 2u);
    ASSERT_LE(turns.size(), 4u);
    turns.pop_back();
    EXPECT_TRUE(OpeningTurn::take()); // what one gives back, another has
}

} // namespace
