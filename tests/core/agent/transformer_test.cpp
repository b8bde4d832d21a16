// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/best_of.h"

#include "core/base/temporary_folder.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

namespace cuda_agent::agent {
namespace {

namespace fs = std::filesystem;

/// Sessions with a model's process without a model, opened without a judge.
class TransformerSessionTest : public testing::Test {
  protected:
    void SetUp() override {
        request_.spec.file = folder_.path() / "task.py";
        ASSERT_TRUE(writeFileAtomically(request_.spec.file, "import torch\n"));
        request_.device = "cpu";
        request_.policy = "transformer";
        request_.session = folder_.path() / "session";
        request_.transformer.process = model(std::string(64, 'a'));
    }
    std::shared_ptr<policy::ModelProcess> model(const std::string &sha256,
                                                const std::string &mode = "plain") {
        EXPECT_TRUE(writeFileAtomically(folder_.path() / "sha256", sha256));
        policy::ModelOptions options;
        options.weights = folder_.path();
        options.program = {"/usr/bin/env", "python3", "-B",
                           sourceDir() / "tests/core/policy/transformer/fake_model.py", mode};
        auto process = policy::ModelProcess::start(options, {});
        EXPECT_TRUE(process) << process.error().message;
        return process ? *process : nullptr;
    }
    void open() {
        const auto run = Run::open(request_, {});
        ASSERT_TRUE(run) << run.error().message;
    }
    Json start() const { return session::fold(session::readLog(request_.session)->events).start; }

    TemporaryFolder folder_ = TemporaryFolder::make("transformer-session").value();
    RunRequest request_;
};

TEST_F(TransformerSessionTest, ItsLogNamesTheWeights) {
    open();
    EXPECT_EQ(start()["policy"], "transformer");
    const Json model = start()["transformer"];
    EXPECT_EQ(model["name"], "fake");
    EXPECT_EQ(model["sha256"], std::string(64, 'a'));
    EXPECT_EQ(model["parameters"], 1234);
    EXPECT_EQ(model["temperature"], 0.0);
    EXPECT_EQ(start()["turns"], usualTurns("transformer"));
}

TEST_F(TransformerSessionTest, LaterAttemptsAreSampled) {
    EXPECT_EQ(drawingOf({}, 1).temperature, 0);
    EXPECT_EQ(drawingOf({}, 2).temperature, 1);
    TransformerConfig config;
    config.temperature = 0.5;
    config.topP = 0.9;
    config.longestTurn = 77;
    for (const int attempt : {1, 2}) {
        EXPECT_EQ(drawingOf(config, attempt).temperature, 0.5);
        EXPECT_EQ(drawingOf(config, attempt).topP, 0.9);
        EXPECT_EQ(drawingOf(config, attempt).longestTurn, 77);
    }
    request_.attempt = 2;
    request_.attempts = 2;
    open();
    EXPECT_EQ(start()["transformer"]["temperature"], 1.0);
}

TEST_F(TransformerSessionTest, GoesOnWithTheSameWeightsOnly) {
    open();
    open();
    request_.transformer.process = model(std::string(64, 'b'));
    const auto other = Run::open(request_, {});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::request);
    EXPECT_NE(other.error().message.find("with the weights fake"), std::string::npos)
        << other.error().message;
    request_.policy = "planner";
    EXPECT_FALSE(Run::open(request_, {}));
}

TEST_F(TransformerSessionTest, TurnsAreToldAsAnEndpointsAre) {
    std::vector<Json> told;
    TransformerVoice voice;
    voice.answered = [&](Json answer) -> Result<void> {
        told.push_back(std::move(answer));
        return {};
    };
    auto conversation = conversationOpener(request_.transformer, {}, voice)(false, {});
    ASSERT_TRUE(conversation) << conversation.error().message;
    for (int turn = 0; turn < 2; ++turn)
        ASSERT_TRUE((*conversation)->write({{chat::Author::context, "text"}}, {1}, {}));
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0]["prompt_tokens"], 10);
    EXPECT_EQ(told[0]["cached_tokens"], 0);
    EXPECT_EQ(told[0]["answer_tokens"], 5);
    EXPECT_EQ(told[0]["finish"], "stop");
    EXPECT_EQ(told[0]["model"], "fake");
    EXPECT_EQ(told[1]["prompt_tokens"], 25);
    EXPECT_EQ(told[1]["cached_tokens"], 15);
}

TEST_F(TransformerSessionTest, TurnsAreReadWhileTheyAreWritten) {
    request_.transformer.process = model(std::string(64, 'a'), "stream");
    std::string streamed;
    TransformerVoice voice;
    voice.streamed = [&](const std::string &piece) -> Result<void> {
        streamed += piece;
        return {};
    };
    auto conversation = conversationOpener(request_.transformer, {}, voice)(false, {});
    ASSERT_TRUE(conversation) << conversation.error().message;
    for (int turn = 0; turn < 2; ++turn) {
        ASSERT_TRUE((*conversation)->write({{chat::Author::context, "text"}}, {1}, {}));
        EXPECT_EQ(std::exchange(streamed, {}),
                  "half a word \u20ac"); // without the template's words
    }
    voice.streamed = [](const std::string &) -> Result<void> { return machineError("disk full"); };
    conversation = conversationOpener(request_.transformer, {}, voice)(false, {});
    ASSERT_TRUE(conversation);
    const auto written = (*conversation)->write({{chat::Author::context, "text"}}, {1}, {});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "disk full");
}

TEST_F(TransformerSessionTest, WithoutWeightsThereIsNoSession) {
    request_.transformer = {};
    request_.transformer.weights = folder_.path() / "none";
    const auto run = Run::open(request_, {});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::request);
    EXPECT_NE(run.error().message.find("--weights"), std::string::npos);
    EXPECT_FALSE(fs::exists(request_.session));
    BestOfRequest several{request_, 2, 1};
    const auto best = runBestOf(several, {}, {});
    ASSERT_FALSE(best);
    EXPECT_EQ(best.error().kind, ErrorKind::request);
    ::setenv("CUDA_AGENT_WEIGHTS", (folder_.path() / "nowhere").c_str(), 1);
    request_.transformer.weights.clear();
    const auto unnamed = Run::open(request_, {});
    ::unsetenv("CUDA_AGENT_WEIGHTS");
    ASSERT_FALSE(unnamed);
    EXPECT_NE(unnamed.error().message.find("no trained weights at"), std::string::npos);
}

} // namespace
} // namespace cuda_agent::agent
