// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/agent/run.h"
#include "core/base/hash.h"
#include "tests/core/endpoint/chat_server.h"

namespace cuda_agent::agent {
namespace {

namespace fs = std::filesystem;
using policy::ChatServer;
using session::EventType;

/// The loop with the endpoint policy and a server, without a judge: nothing is compiled here.
class EndpointPolicyTest : public testing::Test {
  protected:
    static void SetUpTestSuite() { server_ = new ChatServer; }
    static void TearDownTestSuite() {
        delete server_;
        server_ = nullptr;
    }
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("endpoint-{:x}", randomSeed());
        auto log = session::Log::create(folder_);
        ASSERT_TRUE(log);
        recorder_.emplace(std::move(*log), session::State());
        const auto blob = recorder_->putBlob("class Model: pass\n");
        ASSERT_TRUE(recorder_->append(EventType::sessionStarted, 0, {{"task", {{"blob", *blob}}}}));
        tools::Workspace::Parts parts;
        parts.folder = folder_ / "candidate";
        parts.recorder = &*recorder_;
        parts.protectedFiles["model.py"] = "class Model: pass\n";
        auto workspace = tools::Workspace::open(std::move(parts));
        ASSERT_TRUE(workspace);
        workspace_.emplace(std::move(*workspace));
        writer_.emplace(*recorder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    Result<std::string> run(const policy::EndpointConfig &config, Budget budget = {20, 0, 0, 0}) {
        auto made = policy::makeEndpoint(config, {}, {}, endpointVoice(*recorder_, *writer_, {}));
        EXPECT_TRUE(made) << (made ? "" : made.error().message);
        if (!made)
            return tl::unexpected(made.error());
        LoopOptions options;
        options.budget = budget;
        return runLoop(*workspace_, *writer_, **made, options, {});
    }
    Result<std::string> run(const std::string &model) { return run(server_->config(model)); }
    const session::State &state() const { return recorder_->state(); }
    std::string log() const { return readTextFile(folder_ / "session.jsonl").value_or(""); }

    static ChatServer *server_;
    fs::path folder_;
    std::optional<session::Recorder> recorder_;
    std::optional<tools::Workspace> workspace_;
    std::optional<TurnWriter> writer_;
};
ChatServer *EndpointPolicyTest::server_ = nullptr;

TEST_F(EndpointPolicyTest, EndsAModelThatOnlyTalks) {
    const auto ended = run("words-only");
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(*ended, "the model called no tool in 3 turns");
    ASSERT_EQ(state().turns.size(), 3u);
    EXPECT_EQ(state().turns[0].thought, "I would write a kernel. ");
    EXPECT_TRUE(state().turns[0].streaming.empty());
    EXPECT_TRUE(state().turns[2].ended);
    EXPECT_NE(log().find("textStreamed"), std::string::npos);
}

TEST_F(EndpointPolicyTest, EndsAModelThatRefuses) {
    const auto ended = run("refuses");
    ASSERT_TRUE(ended);
    EXPECT_TRUE(ended->starts_with("the model refuses")) << *ended;
}

TEST_F(EndpointPolicyTest, EndsTheSameCallOverAndOver) {
    const auto ended = run(server_->config("same-call"), {50, 0, 0, 0});
    ASSERT_TRUE(ended);
    EXPECT_EQ(*ended, "the model made the same call 10 turns in a row");
    EXPECT_EQ(state().turns.size(), 10u);
}

TEST_F(EndpointPolicyTest, AnswersUnknownToolsAndBrokenArguments) {
    ASSERT_TRUE(run("unknown-tool"));
    EXPECT_NE(state().turns[0].observations.at(0).text.find("there is no tool 'Paint'"),
              std::string::npos);
    ASSERT_TRUE(run(server_->config("malformed"), {7, 0, 0, 0}));
    const auto &last = state().turns.back();
    EXPECT_NE(last.observations.at(0).text.find("no JSON object"), std::string::npos);
    EXPECT_FALSE(last.observations.at(0).ok);
    ASSERT_TRUE(run(server_->config("cut"), {9, 0, 0, 0}));
    EXPECT_NE(state().turns.back().observations.at(0).text.find("greatest length"),
              std::string::npos);
}

TEST_F(EndpointPolicyTest, MakesParallelCallsInOrderUnderIdsOfItsOwn) {
    ASSERT_TRUE(run(server_->config("parallel"), {2, 0, 0, 0}));
    std::set<std::string> ids;
    for (const auto &turn : state().turns) {
        ASSERT_EQ(turn.calls.size(), 2u);
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_EQ(turn.observations.at(i).id, turn.calls[i].id);
            EXPECT_TRUE(turn.observations[i].ok);
            ids.insert(turn.calls[i].id);
        }
    }
    EXPECT_EQ(ids.size(), 4u);
}

TEST_F(EndpointPolicyTest, CountsTokensAndCost) {
    auto config = server_->config("parallel");
    config.promptPrice = 2;
    config.cachedPrice = 1;
    config.answerPrice = 8;
    ASSERT_TRUE(run(config, {3, 0, 0, 0}));
    const auto &usage = state().usage;
    EXPECT_EQ(usage.answers, 3);
    EXPECT_EQ(usage.answerTokens, 75);
    EXPECT_EQ(usage.cachedTokens, 30);
    EXPECT_GT(usage.promptTokens, 300);
    EXPECT_NEAR(usage.cost, ((usage.promptTokens - 30) * 2.0 + 30 * 1.0 + 75 * 8.0) / 1e6, 1e-9);
    EXPECT_EQ(state().turns[0].usage.answerTokens, 25);
}

TEST_F(EndpointPolicyTest, EndsWithItsBudget) {
    EXPECT_EQ(*run(server_->config("parallel"), {20, 0, 1, 0}), "the 1 tokens are used up");
    EXPECT_EQ(state().turns.size(), 1u);
    auto config = server_->config("parallel");
    config.answerPrice = 1e6;
    EXPECT_EQ(*run(config, {20, 0, 0, 30}), "the cost of 30 is used up");
    EXPECT_EQ(*run(server_->config("slow"), {20, 0.5, 0, 0}), "the time of 0 s is used up");
}

TEST_F(EndpointPolicyTest, TheKeyIsInNoFile) {
    auto config = server_->config("echo-key");
    ASSERT_TRUE(run(config, {2, 0, 0, 0}));
    config.model = "locked";
    const auto refused = run(config, {9, 0, 0, 0});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::request);
    config.model = "always-busy";
    EXPECT_FALSE(run(config, {9, 0, 0, 0}));
    for (const auto &entry : fs::recursive_directory_iterator(folder_)) {
        if (!entry.is_regular_file())
            continue;
        EXPECT_EQ(readTextFile(entry.path())->find(config.key), std::string::npos) << entry.path();
    }
}

TEST_F(EndpointPolicyTest, TellsOldTurnsInShortWhenTheContextOverflows) {
    ASSERT_TRUE(run(server_->config("parallel"), {8, 0, 0, 0}));
    const auto turns = state().turns.size();
    auto config = server_->config("small-context");
    config.contextTokens = 1'000'000; // wrong: the endpoint knows better
    const auto ended = run(config, {static_cast<int>(turns) + 1, 0, 0, 0});
    // Ten thousand bytes of tools alone may be too much for it; then it says so.
    if (!ended) {
        EXPECT_NE(ended.error().message.find("context is too small"), std::string::npos)
            << ended.error().message;
    } else {
        EXPECT_EQ(state().turns.size(), turns + 1);
    }
}

TEST_F(EndpointPolicyTest, HoldsOutAgainstMegabytes) {
    ASSERT_TRUE(run(server_->config("megabytes"), {1, 0, 0, 0}));
    EXPECT_LT(state().turns.at(0).thought.size(), 70'000u);
    EXPECT_LT(log().size(), 600'000u);
    EXPECT_NE(state().turns[0].thought.find("the answer was cut"), std::string::npos);
}

TEST_F(EndpointPolicyTest, AStreamThatBrokeOffLeavesNoHalfTurn) {
    ASSERT_TRUE(run(server_->config("half-once"), {1, 0, 0, 0}));
    ASSERT_EQ(state().turns.size(), 1u);
    EXPECT_TRUE(state().turns[0].ended);
    EXPECT_EQ(state().turns[0].thought, "Hello there, this is an answer. ");
    EXPECT_EQ(state().turns[0].usage.answers, 1);
}

/// What the engine itself takes for a turn: everything but the model, compilers and kernels.
TEST_F(EndpointPolicyTest, ReportsItsOwnTimePerTurn) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(run(server_->config("parallel"), {9, 0, 0, 0}));
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double own = (wall - state().usage.seconds) / static_cast<double>(state().turns.size());
    RecordProperty("milliseconds_per_turn", std::to_string(own * 1e3));
    EXPECT_GT(own, 0);
}

} // namespace
} // namespace cuda_agent::agent
