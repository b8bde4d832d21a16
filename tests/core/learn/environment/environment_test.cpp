// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/temporary_folder.h"
#include "core/learn/environment/episode.h"
#include "core/session/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace cuda_agent::learn {
namespace {

namespace fs = std::filesystem;

constexpr const char *reluTask = R"(import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(64, 100)]

def get_init_inputs():
    return []
)";

/// A turn that writes a kernel for the task above, then asks for a verdict.
policy::Step attempt(const std::string &body) {
    const std::string kernel = "extern \"C\" __global__ void act(const float *x, float *y) {\n"
                               "    const int i = blockIdx.x * 64 + threadIdx.x;\n"
                               "    y[i] = " +
                               body + ";\n}\n";
    const std::string plan = R"({"version": 1, "buffers": [
        {"name": "in0", "role": "input", "index": 0},
        {"name": "out0", "role": "output", "index": 0, "shape": ["64", "100"], "dtype": "float32"}],
        "requires": ["in0.shape[0] == 64"],
        "steps": [{"kind": "kernel", "source": "kernels/act.cu", "entry": "act", "grid": ["100"],
        "block": [64], "args": [{"buffer": "in0"}, {"buffer": "out0"}]}]})";
    policy::Step step;
    step.thought = "a kernel";
    step.calls = {
        {"1-1", "Write", {{"file_path", "kernels/act.cu"}, {"content", kernel}}},
        {"1-2", "Write", {{"file_path", "plan.json"}, {"content", plan}}},
        {"1-3", "Verify", Json::object()},
    };
    return step;
}

/// Says its steps one after the other.
class Scripted : public policy::Policy {
  public:
    explicit Scripted(std::vector<Result<policy::Step>> steps) : steps_(std::move(steps)) {}
    std::string name() const override { return "scripted"; }
    Result<policy::Step> next(const std::vector<session::Turn> &turns,
                              std::stop_token stop) override {
        if (turns.size() < steps_.size())
            return steps_[turns.size()];
        std::mutex mutex; // it never answers
        std::unique_lock lock(mutex);
        std::condition_variable_any never;
        never.wait(lock, stop, [] { return false; });
        return stoppedError();
    }

  private:
    std::vector<Result<policy::Step>> steps_;
};

MakePolicy saying(std::vector<Result<policy::Step>> steps) {
    return [steps = std::move(steps)](
               const policy::Context &, const std::string &,
               const std::stop_token &) -> Result<std::unique_ptr<policy::Policy>> {
        return std::make_unique<Scripted>(steps);
    };
}

class Environment : public testing::Test {
  protected:
    Environment() : folder_(TemporaryFolder::make("environment").value()) {}

    task::Spec spec(const std::string &name = "relu", const std::string &text = reluTask) {
        const auto file = folder_.path() / (name + ".py");
        EXPECT_TRUE(writeFileAtomically(file, text));
        return task::openSpec(file, {}).value();
    }
    EpisodeRequest request(const std::string &session, int turns = 1, double seconds = 0) {
        EpisodeRequest request;
        request.spec = spec();
        request.turns = turns;
        request.seconds = seconds;
        request.session = folder_.path() / session;
        return request;
    }
    static JudgePool::Options untimed(std::size_t kept = 8) {
        JudgePool::Options options;
        options.device = "cpu";
        options.judge.timing = false;
        options.kept = kept;
        return options;
    }

    TemporaryFolder folder_;
};

TEST_F(Environment, ScoresWhatTheJudgeSaysAndKeepsTheSession) {
    JudgePool judges(untimed());
    std::vector<Episode> episodes(4);
    {
        const std::vector<std::string> bodies{"x[i] < 0 ? 0 : x[i]", "x[i]", "syntax(", ""};
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < bodies.size(); ++i)
            threads.emplace_back([&, i] {
                const auto step = bodies[i].empty() ? policy::Step{"", {}, true, "I give up"}
                                                    : attempt(bodies[i]);
                const auto episode =
                    runEpisode(judges, request(fmt::format("s{}", i)), saying({step}), {});
                ASSERT_TRUE(episode) << episode.error().message;
                episodes[i] = *episode;
            });
    }
    EXPECT_EQ(judges.counts().prepared, 1) << "one judge for all four";
    EXPECT_TRUE(episodes[0].correct());
    EXPECT_EQ(episodes[0].milestone, 1);
    EXPECT_EQ(rewardOf(episodes[0], RewardKind::milestone), 1);
    EXPECT_EQ(episodes[0].refused, 0);
    EXPECT_EQ(episodes[0].calls, 3);
    EXPECT_EQ(episodes[0].verdicts, 1);
    ASSERT_EQ(episodes[0].candidate.size(), 2u);
    EXPECT_NE(episodes[0].candidate.at("kernels/act.cu").find("x[i] < 0 ? 0 : x[i]"),
              std::string::npos);
    EXPECT_TRUE(episodes[0].candidate.contains("plan.json"));
    EXPECT_TRUE(episodes[1].candidate.empty()) << "it is wrong";
    for (const std::size_t wrong : {1u, 2u, 3u}) {
        EXPECT_EQ(episodes[wrong].end, Episode::End::done);
        EXPECT_FALSE(episodes[wrong].correct());
        EXPECT_EQ(rewardOf(episodes[wrong], RewardKind::milestone), -1);
    }
    EXPECT_EQ(episodes[3].reason, "I give up");
    EXPECT_EQ(episodes[0].reason, "the turns are used up");
    const auto log = session::readLog(folder_.path() / "s0");
    ASSERT_TRUE(log) << log.error().message;
    const auto state = session::fold(log->events);
    EXPECT_EQ(state.turns.size(), 1u);
    ASSERT_TRUE(state.end);
    EXPECT_EQ(state.start.at("task").at("name"), "relu");
    EXPECT_FALSE(state.description.empty());
}

TEST_F(Environment, EpisodesAtOneTaskAreJudgedAtTheSameTime) {
    auto options = untimed();
    options.atOnce = 4;
    options.perTask = 2;
    JudgePool judges(options);
    const auto task = spec();
    {
        auto first = judges.sit(task, {}), second = judges.sit(task, {}),
             third = judges.sit(task, {});
        ASSERT_TRUE(first && second && third);
        EXPECT_NE(&first->judge(), &second->judge());
        EXPECT_TRUE(&third->judge() == &first->judge() || &third->judge() == &second->judge());
        ASSERT_TRUE(first->take({}));
        std::stop_source stop;
        const std::jthread tooLate([&stop](const std::stop_token &done) {
            for (int i = 0; i < 200 && !done.stop_requested(); ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
            stop.request_stop();
        });
        ASSERT_TRUE(second->take(stop.get_token())) << "it waits for the first one";
        std::stop_source now;
        now.request_stop();
        EXPECT_FALSE(third->take(now.get_token())) << "both judges are taken";
    }
    std::vector<Result<Episode>> episodes(8, Episode());
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < episodes.size(); ++i)
            threads.emplace_back([&, i] {
                episodes[i] = runEpisode(
                    judges, request(fmt::format("at-once-{}", i)),
                    saying({attempt(i % 2 == 0 ? "x[i] < 0 ? 0 : x[i]" : "x[i] + 1")}), {});
            });
    }
    for (std::size_t i = 0; i < episodes.size(); ++i) {
        ASSERT_TRUE(episodes[i]) << episodes[i].error().message;
        EXPECT_EQ(episodes[i]->correct(), i % 2 == 0) << i;
        EXPECT_GT(episodes[i]->phases["compile"], 0);
        EXPECT_GT(episodes[i]->phases["verification"], 0);
    }
    EXPECT_EQ(judges.counts().prepared, 1);
}

TEST_F(Environment, JudgesAreReadyBeforeTheyAreWanted) {
    auto options = untimed();
    options.atOnce = 1;
    JudgePool judges(options);
    const auto one = spec("one"), other = spec("other"), third = spec("third");
    const auto waitUntilPrepared = [&](int count) {
        for (int i = 0; i < 600 && judges.counts().prepared < count; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return judges.counts().prepared;
    };
    auto seat = judges.sit(one, {});
    ASSERT_TRUE(seat) << seat.error().message;
    ASSERT_TRUE(seat->take({}));
    judges.prepareAhead({one, spec("bad", "raise ValueError('no task')\n"), other});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(judges.counts().prepared, 1) << "the only place is taken";
    seat->leave();
    EXPECT_EQ(waitUntilPrepared(2), 2);
    ASSERT_TRUE(judges.sit(other, {}));
    EXPECT_EQ(judges.counts().prepared, 2) << "it was there";
    judges.prepareAhead({third});
    judges.prepareAhead({}); // what is not done yet, is not
    ASSERT_TRUE(judges.sit(third, {})) << "it is prepared now, whatever became of it before";
    judges.prepareAhead({spec("last")}); // ends with the pool
}

TEST_F(Environment, AMendedCandidateCountsInALaterTurn) {
    JudgePool judges(untimed());
    const auto episode = runEpisode(judges, request("mended", 5),
                                    saying({attempt("x[i]"), attempt("x[i] < 0 ? 0 : x[i]"),
                                            policy::Step{"", {}, true, "done"}}),
                                    {});
    ASSERT_TRUE(episode) << episode.error().message;
    EXPECT_EQ(episode->milestone, 1);
    EXPECT_EQ(episode->turns, 2);
    EXPECT_EQ(episode->verdicts, 2);
    EXPECT_NE(episode->candidate.at("kernels/act.cu").find("x[i] < 0 ? 0 : x[i]"),
              std::string::npos);
    EXPECT_EQ(episode->reason, "done");
}

TEST_F(Environment, EachConversationOfAnEpisodeHasItsOwnOutcome) {
    JudgePool judges(untimed());
    auto wrong = attempt("x[i]"), right = attempt("x[i] < 0 ? 0 : x[i]"),
         worse = attempt("x[i] + 1");
    right.fresh = true;
    auto refused = attempt("x[i]");
    refused.calls[1].tool = "Fold";
    refused.calls.pop_back();
    refused.fresh = true;
    auto wanted = request("parted", 4);
    const auto whole = runEpisode(judges, wanted, saying({wrong, right, worse, refused}), {});
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(whole->turns, 4);
    EXPECT_EQ(whole->bestTurn, 2);
    EXPECT_EQ(whole->refused, 1);
    ASSERT_EQ(whole->conversations.size(), 3u);
    const auto &parts = whole->conversations;
    EXPECT_FALSE(parts[0].correct());
    EXPECT_EQ(parts[0].turns, 1);
    EXPECT_TRUE(parts[1].correct());
    EXPECT_EQ(parts[1].turns, 2);
    EXPECT_EQ(parts[1].bestTurn, 1);
    EXPECT_EQ(parts[1].refused, 0);
    EXPECT_EQ(parts[1].candidate, whole->candidate);
    EXPECT_FALSE(parts[2].correct());
    EXPECT_EQ(parts[2].refused, 1);
    const auto log = session::readLog(wanted.session).value();
    EXPECT_EQ(session::fold(log.events).turns.at(1).fresh, true);

    wanted.session = wanted.session.string() + "-enough";
    wanted.enough = 1;
    const auto enough = runEpisode(judges, wanted, saying({wrong, right, worse}), {});
    ASSERT_TRUE(enough) << enough.error().message;
    EXPECT_EQ(enough->turns, 2) << "there is no more to be had";
}

TEST_F(Environment, ATimedCandidateCountsWhateverItsTurnHadJudgedAfterIt) {
    auto options = untimed();
    options.judge.timing = true;
    JudgePool judges(options);
    auto both = attempt("x[i] < 0 ? 0 : x[i]");
    const auto wrong = attempt("x[i]");
    both.calls.insert(both.calls.end(), wrong.calls.begin(), wrong.calls.end());
    const auto episode = runEpisode(judges, request("both"), saying({both}), {});
    ASSERT_TRUE(episode) << episode.error().message;
    EXPECT_TRUE(episode->correct()) << episode->reason;
    EXPECT_GT(episode->seconds, 0);
    EXPECT_EQ(episode->bestTurn, 1);
    EXPECT_NE(episode->candidate.at("kernels/act.cu").find("x[i] < 0"), std::string::npos);
}

TEST_F(Environment, TheMachinesFaultsAreNoWrongAnswers) {
    JudgePool judges(untimed());
    const auto slow = runEpisode(judges, request("slow", 5, 0.3), saying({}), {});
    ASSERT_TRUE(slow) << slow.error().message;
    EXPECT_EQ(slow->end, Episode::End::straggler);
    const auto broken =
        runEpisode(judges, request("broken"),
                   saying({Result<policy::Step>(machineError("the model's device is gone"))}), {});
    ASSERT_TRUE(broken) << broken.error().message;
    EXPECT_EQ(broken->end, Episode::End::machine);
    EXPECT_EQ(broken->reason, "the model's device is gone");
    std::stop_source stop;
    std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        stop.request_stop();
    });
    const auto stopped =
        runEpisode(judges, request("stopped", 5, 100), saying({}), stop.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::stopped);
}

TEST_F(Environment, AnUnusableTaskIsToldOnceAndForAll) {
    JudgePool judges(untimed());
    const auto bad = spec("bad", "raise ValueError('no task')\n");
    for (int i = 0; i < 2; ++i) {
        const auto seat = judges.sit(bad, {});
        ASSERT_FALSE(seat);
        EXPECT_EQ(seat.error().kind, ErrorKind::request);
    }
    EXPECT_EQ(judges.counts().prepared, 0);
}

TEST_F(Environment, WhereMemoryIsShortOneJudgeGoesBeforeAnotherComes) {
    auto options = untimed();
    std::atomic<double> free = 1.0;
    options.freeShare = [&](int) { return free.load(); };
    JudgePool judges(options);
    const auto one = spec("one"), other = spec("other");
    {
        auto first = judges.sit(one, {});
        ASSERT_TRUE(first) << first.error().message;
        free = 0.1;
        std::atomic<bool> sat = false;
        std::jthread waiting([&] {
            const auto second = judges.sit(other, {});
            sat = second.has_value();
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        EXPECT_FALSE(sat) << "the first one's seat is still taken";
        EXPECT_EQ(judges.counts().prepared, 1);
        { const auto gone = std::move(*first); }
        waiting.join();
        EXPECT_TRUE(sat);
    }
    EXPECT_EQ(judges.counts().prepared, 2);
    ASSERT_TRUE(judges.sit(other, {}));
    EXPECT_EQ(judges.counts().prepared, 2) << "it was kept";
    ASSERT_TRUE(judges.sit(one, {}));
    EXPECT_EQ(judges.counts().prepared, 3) << "it had gone";
    // Whoever is asked to stop does not wait for room.
    const auto held = judges.sit(one, {});
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = judges.sit(other, stop.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::stopped);
}

TEST_F(Environment, AVerdictBesideOthersWaitsForMemory) {
    auto options = untimed();
    options.atOnce = 2;
    std::atomic<double> free = 1.0;
    options.freeShare = [&](int) { return free.load(); };
    JudgePool judges(options);
    auto first = judges.sit(spec("one"), {});
    auto second = judges.sit(spec("other"), {});
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(judges.sit(spec("third"), {})); // and its judge stays, without a seat
    ASSERT_EQ(judges.counts().prepared, 3);
    free = 0.05;
    ASSERT_TRUE(first->take({})) << "nobody else holds what it would wait for";
    std::atomic<bool> taken = false;
    std::jthread waiting([&] { taken = second->take({}).has_value(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_FALSE(taken) << "the first verdict is under way";
    first->leave();
    waiting.join();
    EXPECT_TRUE(taken);
    second->leave();
    free = 1.0;
    ASSERT_TRUE(judges.sit(spec("third"), {}));
    EXPECT_EQ(judges.counts().prepared, 4) << "it had gone for the second verdict";
}

/// A CPU in place of both GPUs.
TEST_F(Environment, ATaskIsJudgedOnTheGpuThatHasRoom) {
    auto options = untimed();
    options.gpus = {0, 1};
    std::atomic<double> first = 1.0, second = 1.0;
    options.freeShare = [&](int gpu) { return gpu == 0 ? first.load() : second.load(); };
    JudgePool judges(options);
    const auto one = judges.sit(spec("one"), {});
    ASSERT_TRUE(one) << one.error().message;
    first = 0.1; // where `one` is
    const auto other = judges.sit(spec("other"), {});
    ASSERT_TRUE(other) << other.error().message;
    const auto third = judges.sit(spec("third"), {});
    ASSERT_TRUE(third) << "the second one has room for more";
    second = 0.1;
    std::stop_source stop;
    std::jthread soon([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stop.request_stop();
    });
    const auto fourth = judges.sit(spec("fourth"), stop.get_token());
    ASSERT_FALSE(fourth) << "all seats are taken, and no memory is left";
    EXPECT_EQ(fourth.error().kind, ErrorKind::stopped);
    EXPECT_EQ(judges.counts().prepared, 3);
}

TEST_F(Environment, WhatFailsWhileOthersHoldTheMemoryIsTheMachinesFault) {
    auto options = untimed();
    std::atomic<int> asked = 0;
    std::atomic<bool> enough = false;
    // There is room before a judge is prepared, and none when that has failed.
    options.freeShare = [&](int) { return enough || asked++ % 2 == 0 ? 1.0 : 0.1; };
    JudgePool judges(options);
    const auto one = judges.sit(spec("one"), {});
    ASSERT_TRUE(one) << one.error().message;
    const auto spoiled = spec("spoiled", "raise MemoryError\n");
    const auto failed = judges.sit(spoiled, {});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().kind, ErrorKind::machine);
    EXPECT_EQ(asked, 6) << "three attempts";
    enough = true; // then it is the task's own
    const auto again = judges.sit(spoiled, {});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind, ErrorKind::request);
}

TEST_F(Environment, KeepsAsManyJudgesAsAsked) {
    JudgePool judges(untimed(1));
    const auto first = spec("first"), second = spec("second");
    const auto visit = [&](const task::Spec &task) { ASSERT_TRUE(judges.sit(task, {})); };
    visit(first);
    visit(first);
    EXPECT_EQ(judges.counts().prepared, 1);
    visit(second); // in the first one's place
    visit(second);
    EXPECT_EQ(judges.counts().prepared, 2);
    visit(first);
    EXPECT_EQ(judges.counts().prepared, 3);
}

} // namespace
} // namespace cuda_agent::learn
