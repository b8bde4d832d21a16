// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/run.h"

#include "core/base/hash.h"
#include "core/device/quarantine.h"

#include <gtest/gtest.h>

namespace cuda_agent::agent {
namespace {

namespace fs = std::filesystem;
using session::EventType;

/// Sessions that are opened, without a judge.
class ResumeTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("resume-{:x}", randomSeed());
        fs::create_directories(folder_);
        request_.spec.file = folder_ / "task.py";
        ASSERT_TRUE(writeFileAtomically(request_.spec.file, "import torch\n"));
        request_.device = "cpu";
        request_.session = folder_ / "session";
    }
    void TearDown() override { fs::remove_all(folder_); }

    static void open(const RunRequest &request, bool reopen = false) {
        const auto run = Run::open(request, {}, reopen);
        ASSERT_TRUE(run) << run.error().message;
    }
    static std::string problemOf(const RunRequest &request) {
        const auto run = Run::open(request, {});
        return run ? std::string() : run.error().message;
    }
    session::State state(const fs::path &folder) const {
        return session::fold(session::readLog(folder)->events);
    }
    int count(EventType type) const {
        int found = 0;
        const auto contents = session::readLog(request_.session).value();
        for (const auto &event : contents.events)
            found += event.type == type;
        return found;
    }

    fs::path folder_;
    RunRequest request_;
};

TEST_F(ResumeTest, KeepsItsBudget) {
    request_.budget = {7, 30, 0, 2.5};
    open(request_);
    request_.budget = {0, 0, 0, 0};
    open(request_);
    EXPECT_EQ(count(EventType::budgetSet), 0);
    const Budget budget = resumedBudget(request_, state(request_.session).start);
    EXPECT_EQ(budget.turns, 7);
    EXPECT_EQ(budget.seconds, 30);
    EXPECT_EQ(budget.tokens, 0);
    EXPECT_EQ(budget.cost, 2.5);
}

TEST_F(ResumeTest, WhatIsGivenReplacesItInTheLog) {
    request_.budget = {7, 30, 0, 0};
    open(request_);
    request_.budget = {9, 0, 1000, 0};
    open(request_);
    ASSERT_EQ(count(EventType::budgetSet), 1);
    auto start = state(request_.session).start;
    EXPECT_EQ(start["turns"], 9);
    EXPECT_EQ(start["budget"]["seconds"], 30);
    EXPECT_EQ(start["budget"]["tokens"], 1000);
    EXPECT_EQ(start["policy"], "planner");
    open(request_); // the same once more is no change
    EXPECT_EQ(count(EventType::budgetSet), 1);
    // The window says all of it, no limit included.
    request_.budget = {9, 0, 0, 0};
    request_.wholeBudget = true;
    open(request_);
    EXPECT_EQ(state(request_.session).start["budget"]["seconds"], 0);
}

TEST_F(ResumeTest, AnEndedSessionGoesOnWithAnotherBudget) {
    open(request_);
    {
        auto log = session::Log::open(request_.session);
        ASSERT_TRUE(log);
        ASSERT_TRUE(log->append(EventType::sessionEnded, 0,
                                {{"reason", "the 20 turns are used up"}, {"complete", true}}));
    }
    EXPECT_NE(problemOf(request_).find("has ended (the 20 turns are used up)"), std::string::npos);
    request_.budget.turns = 30;
    open(request_);
    EXPECT_EQ(state(request_.session).start["turns"], 30);
}

TEST_F(ResumeTest, KeepsItsRules) {
    request_.judge.rules = modules::Rules::kernelbench;
    open(request_);
    open(request_);
    request_.judge.rules = modules::Rules::published;
    const std::string problem = problemOf(request_);
    EXPECT_NE(problem.find("rules \"kernelbench\", not \"published\""), std::string::npos)
        << problem;
}

TEST_F(ResumeTest, NothingBeginsOnADeviceInQuarantine) {
    setenv("CUDA_AGENT_CACHE", (folder_ / "cache").c_str(), 1);
    ASSERT_TRUE(device::quarantine("cpu0", "a kernel never ended"));
    const std::string problem = problemOf(request_);
    EXPECT_EQ(problem, device::checkNotQuarantined("cpu0").error().message);
    EXPECT_FALSE(fs::exists(request_.session)) << "a session that could only end";
    ASSERT_TRUE(device::liftQuarantine("cpu0"));
    open(request_);
    unsetenv("CUDA_AGENT_CACHE");
}

TEST_F(ResumeTest, BudgetsOfOddLogsAreNone) {
    RunRequest request;
    const auto of = [&](const char *start) { return resumedBudget(request, Json::parse(start)); };
    EXPECT_EQ(of("{}").turns, 20);
    EXPECT_EQ(of(R"({"turns": "many", "budget": 3})").turns, 20);
    EXPECT_EQ(of(R"({"turns": -4, "budget": {"seconds": -1, "tokens": null}})").seconds, 0);
    EXPECT_EQ(of(R"({"turns": 1e300})").turns, 1000000);
}

TEST_F(ResumeTest, AReplayRemembersWhatItFollows) {
    open(request_);
    RunRequest replay = request_;
    replay.policy = "replay";
    replay.session = folder_ / "again";
    EXPECT_NE(problemOf(replay).find("--recorded"), std::string::npos);
    replay.recorded = folder_ / "none";
    EXPECT_NE(problemOf(replay), "");
    EXPECT_FALSE(fs::exists(replay.session)) << "nothing is begun that cannot be followed";
    replay.recorded = request_.session;
    open(replay);
    const Json recorded = state(replay.session).start["recorded"];
    EXPECT_EQ(recorded["path"], fs::weakly_canonical(request_.session).string());
    EXPECT_EQ(recorded["id"].get<std::string>().size(), 64u);
    // It goes on without being told, also from where the other was moved to, but not with a third.
    replay.recorded.clear();
    open(replay);
    fs::rename(request_.session, folder_ / "moved");
    replay.recorded = folder_ / "moved";
    open(replay);
    RunRequest third = request_;
    third.session = folder_ / "third";
    open(third);
    replay.recorded = third.session;
    EXPECT_NE(problemOf(replay).find("use another --session folder"), std::string::npos);
}

} // namespace
} // namespace cuda_agent::agent
