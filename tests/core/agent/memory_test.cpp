// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/memory.h"

#include "core/agent/run.h"
#include "core/base/hash.h"

#include <gtest/gtest.h>

namespace cuda_agent::agent {
namespace {

namespace fs = std::filesystem;
using session::EventType;

/// Knows one candidate by its name.
class NamedPolicy : public policy::Policy {
  public:
    std::string name() const override { return "planner"; }
    Result<policy::Step> next(const std::vector<session::Turn> &, std::stop_token) override {
        return policy::Step{{}, {}, true, "done"};
    }
    std::string describe(const std::string &candidate) const override {
        return candidate == "0|row-t256" ? "one read" : "";
    }
};

/// Sessions as their logs would be, with one record for all.
class MemoryTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("memory-{:x}", randomSeed());
        file_ = folder_ / "knowledge.db";
        task_.inputs.push_back({"x", contiguousType(DType::float32, {64, 500}), 0});
        task::Node input;
        input.name = "x";
        input.op = "placeholder";
        input.outputs = {task_.inputs[0].type};
        task::Node relu;
        relu.name = "relu";
        relu.op = "aten.relu.default";
        relu.args = Json::array({{{"node", "x"}}});
        relu.outputs = input.outputs;
        task_.graph.nodes = {input, relu};
        task_.countedBytes = 256'000;
        device_.name = "some CPU";
    }
    void TearDown() override { fs::remove_all(folder_); }

    session::Recorder record(const std::string &name) {
        auto log = session::Log::create(folder_ / name);
        EXPECT_TRUE(log);
        session::Recorder recorder(std::move(*log), {});
        EXPECT_TRUE(recorder.append(EventType::taskDescribed, 0, {{"name", "relu"}}));
        return recorder;
    }
    static void turn(session::Recorder &recorder, int number, const std::string &plan,
                     const std::string &thought, Json verdict,
                     const std::string &author = "policy") {
        ASSERT_TRUE(recorder.append(EventType::turnStarted, number, {{"author", author}}));
        ASSERT_TRUE(recorder.append(EventType::thought, number, {{"text", thought}}));
        const auto blob = recorder.putBlob(Json{{"name", plan}}.dump());
        ASSERT_TRUE(blob);
        verdict["compiled"] = true;
        ASSERT_TRUE(recorder.append(EventType::verdictGiven, number,
                                    {{"verdict", verdict}, {"candidate", {{"plan.json", *blob}}}}));
        ASSERT_TRUE(recorder.append(EventType::turnEnded, number, Json::object()));
    }
    static Json correct(double seconds, const char *strength = "training") {
        return {{"correct", true},
                {"strength", strength},
                {"times", {{"candidate", {{"seconds", seconds}}}}},
                {"speedup", {{"eager", 1 / seconds}, {"compile", 0.5 / seconds}}}};
    }
    Memory memory(session::Recorder &recorder, std::shared_ptr<SharedOffer> shared = {}) {
        return Memory(file_, std::move(shared), recorder);
    }
    Result<void> offer(Memory &memory) {
        return memory.offer(task_, device_, task::Numerics::standard);
    }
    std::vector<knowledge::Record> kept() {
        auto store = knowledge::Store::open(file_);
        EXPECT_TRUE(store) << store.error().message;
        return store ? store->list({}).value_or(std::vector<knowledge::Record>())
                     : std::vector<knowledge::Record>();
    }

    fs::path folder_;
    fs::path file_;
    task::Description task_;
    device::Info device_;
    NamedPolicy planner_;
};

TEST_F(MemoryTest, WhatOneSessionFoundTheNextIsOffered) {
    auto first = record("first");
    auto memory = this->memory(first);
    ASSERT_TRUE(offer(memory));
    EXPECT_NE(first.state().knowledge["text"].get<std::string>().find("Nothing is known yet"),
              std::string::npos);
    turn(first, 1, "0|row-t256", "First 0|row-t256.", correct(0.5));
    ASSERT_TRUE(memory.turnDone(planner_));
    ASSERT_EQ(kept().size(), 1u) << "a new best candidate is kept at once";
    turn(first, 2, "0|row-t512", "Next.", {{"correct", false}, {"problem", "repeat: differs"}});
    ASSERT_TRUE(memory.turnDone(planner_));
    EXPECT_EQ(kept().size(), 1u);
    ASSERT_TRUE(memory.ended(planner_));
    const auto records = kept();
    ASSERT_EQ(records.size(), 2u);
    const auto &best = records[0].correct ? records[0] : records[1];
    EXPECT_EQ(best.schedule, "0|row-t256");
    EXPECT_EQ(best.note, "one read");
    EXPECT_EQ(best.task.operators, "pointwise");
    EXPECT_EQ(best.taskName, "relu");
    EXPECT_EQ(best.againstEager, 2);
    EXPECT_EQ(best.session, (folder_ / "first").string());
    EXPECT_EQ(best.turn, 1);

    auto second = record("second");
    auto next = this->memory(second);
    ASSERT_TRUE(offer(next));
    const Json &told = second.state().knowledge;
    EXPECT_EQ(told["schedules"], Json::array({"0|row-t256"}));
    EXPECT_NE(told["text"].get<std::string>().find("2.00x eager"), std::string::npos);
    EXPECT_NE(told["text"].get<std::string>().find("repeat: differs"), std::string::npos);
    // It is in the log, so that whoever replays the session sees it too.
    const auto contents = session::readLog(folder_ / "second");
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->events.back().type, EventType::knowledgeOffered);
    EXPECT_EQ(session::fold(contents->events).knowledge, told);
}

TEST_F(MemoryTest, AModelsLastWordIsTheNote) {
    auto session = record("session");
    auto memory = this->memory(session);
    ASSERT_TRUE(offer(memory));
    turn(session, 1, "mine", "I try a warp per row.", correct(0.5, "full"));
    ASSERT_TRUE(memory.turnDone(planner_));
    EXPECT_EQ(kept().at(0).note, "I try a warp per row.");
    EXPECT_TRUE(kept().at(0).schedule.empty());
    ASSERT_TRUE(session.append(EventType::turnStarted, 2, {{"author", "policy"}}));
    ASSERT_TRUE(session.append(EventType::thought, 2, {{"text", "I am done."}}));
    ASSERT_TRUE(session.append(EventType::turnEnded, 2, Json::object()));
    ASSERT_TRUE(memory.ended(planner_));
    EXPECT_EQ(kept().at(0).note, "I try a warp per row.") << "that was no word on the candidate";
    ASSERT_TRUE(session.append(EventType::turnStarted, 3, {{"author", "policy"}}));
    ASSERT_TRUE(session.append(EventType::thought, 3,
                               {{"text", "A warp per row\nwith 8 loads won.\n\nGoodbye."}}));
    ASSERT_TRUE(session.append(EventType::turnEnded, 3, Json::object()));
    ASSERT_TRUE(memory.ended(planner_));
    ASSERT_EQ(kept().size(), 1u);
    EXPECT_EQ(kept().at(0).note, "A warp per row with 8 loads won.");
}

TEST_F(MemoryTest, TheEngineersCandidateIsTheEngineers) {
    auto session = record("session");
    auto memory = this->memory(session);
    ASSERT_TRUE(offer(memory));
    turn(session, 1, "0|row-t256", "", correct(0.5), "engineer");
    ASSERT_TRUE(memory.ended(planner_));
    EXPECT_EQ(kept().at(0).policy, "engineer");
    EXPECT_TRUE(kept().at(0).schedule.empty()) << "the planner shall not take it for its own";
}

TEST_F(MemoryTest, AResumedSessionGoesOnWithWhatItWasTold) {
    auto session = record("session");
    {
        auto memory = this->memory(session);
        ASSERT_TRUE(offer(memory));
        turn(session, 1, "0|row-t256", "", correct(0.5));
        ASSERT_TRUE(memory.ended(planner_));
    }
    const auto told = session.state().knowledge;
    auto resumed = this->memory(session);
    const auto events = session.state().events;
    ASSERT_TRUE(offer(resumed));
    EXPECT_EQ(session.state().events, events);
    EXPECT_EQ(session.state().knowledge, told);

    auto without = record("without"); // began with --no-memory
    turn(without, 1, "0|row-t256", "", correct(0.5));
    auto late = this->memory(without);
    ASSERT_TRUE(offer(late));
    EXPECT_TRUE(without.state().knowledge.is_null());
}

TEST_F(MemoryTest, AttemptsAreToldTheSame) {
    const auto shared = std::make_shared<SharedOffer>();
    auto first = record("first");
    auto one = memory(first, shared);
    ASSERT_TRUE(offer(one));
    turn(first, 1, "0|row-t256", "", correct(0.5));
    ASSERT_TRUE(one.ended(planner_));
    auto second = record("second");
    auto two = memory(second, shared);
    ASSERT_TRUE(offer(two));
    EXPECT_EQ(second.state().knowledge, first.state().knowledge);
    EXPECT_TRUE(second.state().knowledge["schedules"].empty());
}

TEST_F(MemoryTest, ADamagedRecordIsANoteAndNoMore) {
    ASSERT_TRUE(fs::create_directories(folder_));
    ASSERT_TRUE(writeFileAtomically(file_, std::string(9000, '?')));
    auto session = record("session");
    auto memory = this->memory(session);
    ASSERT_TRUE(offer(memory));
    turn(session, 1, "0|row-t256", "", correct(0.5));
    ASSERT_TRUE(memory.turnDone(planner_));
    ASSERT_TRUE(memory.ended(planner_));
    EXPECT_TRUE(session.state().knowledge.is_null());
    ASSERT_EQ(session.state().notes.size(), 1u);
    EXPECT_NE(session.state().notes[0].find("no record of this program"), std::string::npos);
    EXPECT_EQ(readTextFile(file_).value_or("").size(), 9000u) << "it is not ours to change";
}

TEST(Attempts, EachSamplesWithASeedOfItsOwn) {
    RunRequest request;
    EXPECT_FALSE(endpointOf(request).extra.contains("seed"));
    request.attempts = 3;
    request.attempt = 2;
    EXPECT_EQ(endpointOf(request).extra["seed"], 2);
    request.endpoint.extra["seed"] = 40;
    EXPECT_EQ(endpointOf(request).extra["seed"], 42);
    request.endpoint.extra["seed"] = "random"; // an endpoint of its own ways
    EXPECT_EQ(endpointOf(request).extra["seed"], "random");
}

} // namespace
} // namespace cuda_agent::agent
