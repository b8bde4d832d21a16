// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/policy/endpoint/chat_client.h"
#include "core/policy/endpoint/event_stream.h"
#include "tests/core/endpoint/chat_server.h"

#include <thread>

namespace cuda_agent::policy {
namespace {

class ChatClientTest : public testing::Test {
  protected:
    static void SetUpTestSuite() { server_ = new ChatServer; }
    static void TearDownTestSuite() {
        delete server_;
        server_ = nullptr;
    }

    using Outcome = Result<std::variant<Asked, ContextOverflow>>;
    Outcome ask(const EndpointConfig &config, std::stop_token stop = {}) {
        streamed_.clear();
        notes_.clear();
        ChatClient client(
            config,
            [this](const std::string &piece) -> Result<void> {
                streamed_ += piece;
                return {};
            },
            [this](const std::string &note) -> Result<void> {
                notes_ += note + "\n";
                return {};
            });
        return client.ask(Json::array({{{"role", "user"}, {"content", "hello"}}}), Json::array(),
                          std::move(stop));
    }
    /// The answer of a model that is expected to give one.
    Asked asked(const std::string &model) {
        auto outcome = ask(server_->config(model));
        EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
        if (!outcome || !std::holds_alternative<Asked>(*outcome))
            return {};
        return std::get<Asked>(*outcome);
    }
    Error refused(const EndpointConfig &config) {
        auto outcome = ask(config);
        EXPECT_FALSE(outcome);
        const Error error = outcome ? Error{} : outcome.error();
        EXPECT_EQ(error.message.find(config.key), std::string::npos) << error.message;
        EXPECT_EQ(notes_.find(config.key), std::string::npos) << notes_;
        return error;
    }
    Error refused(const std::string &model) { return refused(server_->config(model)); }

    static ChatServer *server_;
    std::string streamed_;
    std::string notes_;
};
ChatServer *ChatClientTest::server_ = nullptr;

const std::string hello = "Hello there, this is an answer. ";

TEST_F(ChatClientTest, StreamsAnAnswer) {
    const auto got = asked("hello");
    EXPECT_EQ(got.answer.text, hello);
    EXPECT_EQ(streamed_, hello);
    EXPECT_EQ(got.answer.finish, "stop");
    EXPECT_EQ(got.answer.model, "served-hello");
    EXPECT_TRUE(got.answer.counted);
    EXPECT_GT(got.answer.promptTokens, 0);
    EXPECT_EQ(got.answer.cachedTokens, 10);
    EXPECT_EQ(got.answer.answerTokens, 25);
    EXPECT_EQ(got.attempts, 1);
}

TEST_F(ChatClientTest, TakesAWholeAnswerWhetherAskedForOrNot) {
    EXPECT_EQ(asked("whole").answer.text, "Hello there, this is an answer.");
    auto config = server_->config("hello");
    config.stream = false;
    const auto outcome = ask(config);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(std::get<Asked>(*outcome).answer.text, "Hello there, this is an answer.");
}

TEST_F(ChatClientTest, HearsPiecesAsTheyCome) {
    std::vector<double> times;
    const auto start = std::chrono::steady_clock::now();
    ChatClient client(
        server_->config("slow"),
        [&](const std::string &) -> Result<void> {
            times.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            return {};
        },
        {});
    const auto outcome = client.ask(Json::array(), Json::array(), {});
    ASSERT_TRUE(outcome);
    ASSERT_GE(times.size(), 5u);
    EXPECT_GT(times.back() - times.front(), 0.8);
    EXPECT_LT(std::get<Asked>(*outcome).answer.firstSeconds, 0.6);
}

TEST_F(ChatClientTest, TellsReasoningFromTheAnswer) {
    const auto got = asked("thinks");
    EXPECT_EQ(got.answer.reasoning, "First I think.");
    EXPECT_EQ(got.answer.text, "Done. ");
    EXPECT_EQ(streamed_, "First I think.Done. ");
}

TEST_F(ChatClientTest, TakesCallsApartThatComeInPieces) {
    const auto got = asked("parallel");
    ASSERT_EQ(got.answer.calls.size(), 2u);
    EXPECT_EQ(got.answer.calls[1].tool, "Read");
    EXPECT_EQ(Json::parse(got.answer.calls[1].arguments).at("file_path"), "model.py");
    EXPECT_EQ(got.answer.finish, "tool_calls");
}

TEST_F(ChatClientTest, TriesAgainWhereThatHelps) {
    for (const auto *model : {"broken-once", "half-once", "reset", "no-json-once", "bad-chunk-once",
                              "error-in-stream-once"}) {
        const auto got = asked(model);
        EXPECT_EQ(got.answer.text, hello) << model;
        EXPECT_EQ(got.attempts, 2) << model;
        EXPECT_NE(notes_.find("trying again"), std::string::npos) << model;
    }
}

TEST_F(ChatClientTest, FollowsRetryAfter) {
    const auto got = asked("busy-twice");
    EXPECT_EQ(got.attempts, 3);
    EXPECT_GT(got.seconds, 0.4);
    EXPECT_NE(notes_.find("HTTP 429: Rate limit reached; trying again in 0.2 s"), std::string::npos)
        << notes_;
}

TEST_F(ChatClientTest, GivesUpAsTheMachinesTrouble) {
    for (const auto *model : {"always-busy", "half-always", "empty-always"}) {
        const auto error = refused(model);
        EXPECT_EQ(error.kind, ErrorKind::machine) << model;
        EXPECT_NE(error.message.find("in 3 attempts"), std::string::npos) << error.message;
        EXPECT_NE(error.message.find("resumed"), std::string::npos) << error.message;
    }
}

TEST_F(ChatClientTest, SaysThatNobodyIsThere) {
    ChatServer gone;
    auto config = gone.config("hello");
    gone.stop();
    const auto error = refused(config);
    EXPECT_EQ(error.kind, ErrorKind::machine);
    EXPECT_NE(error.message.find("no connection to " + config.baseUrl), std::string::npos);
    config.baseUrl = "https://nowhere.invalid/v1";
    EXPECT_NE(refused(config).message.find("no connection"), std::string::npos);
}

TEST_F(ChatClientTest, EndsASilence) {
    for (const auto *model : {"silent", "goes-silent"}) {
        auto config = server_->config(model);
        config.attempts = 1;
        config.idleSeconds = 1;
        const auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(refused(config).kind, ErrorKind::machine) << model;
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8)) << model;
    }
}

TEST_F(ChatClientTest, StopsAtOnce) {
    for (const auto *model : {"silent", "goes-silent"}) {
        std::stop_source stop;
        std::jthread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            stop.request_stop();
        });
        auto config = server_->config(model);
        config.idleSeconds = 20;
        const auto start = std::chrono::steady_clock::now();
        const auto outcome = ask(config, stop.get_token());
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().kind, ErrorKind::stopped);
        EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << model;
    }
}

TEST_F(ChatClientTest, AWrongKeyIsSaidAndNotShown) {
    const auto error = refused("locked");
    EXPECT_EQ(error.kind, ErrorKind::request);
    EXPECT_NE(error.message.find("refuses the key"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("$TEST_KEY"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("[key]"), std::string::npos) << error.message; // it was echoed
    auto config = server_->config("locked");
    config.key = "right-key";
    EXPECT_TRUE(ask(config));
    const auto echoed = asked("echo-key");
    EXPECT_EQ(echoed.answer.text.find("secret-test-key"), std::string::npos);
}

TEST_F(ChatClientTest, SaysWhatIsWrongWithTheAddressOrTheModel) {
    for (const auto &[model, words] : {std::pair{"web-page", "web page"},
                                       {"web-page-missing", "web page"},
                                       {"no-such-model", "'no-such-model' is not there"},
                                       {"elsewhere", "sends elsewhere"},
                                       {"refused-request", "temperature must be 1"}}) {
        const auto error = refused(model);
        EXPECT_EQ(error.kind, ErrorKind::request) << model;
        EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
    }
    auto config = server_->config("hello");
    config.baseUrl += "/more";
    EXPECT_EQ(refused(config).kind, ErrorKind::request);
}

TEST_F(ChatClientTest, DoesWithoutStreamOptions) {
    const auto got = asked("no-stream-options");
    EXPECT_EQ(got.answer.text, hello);
    EXPECT_FALSE(got.answer.counted);
}

TEST_F(ChatClientTest, CutsWhatIsTooLong) {
    const auto got = asked("megabytes");
    EXPECT_NE(got.cut.find("8388608 bytes"), std::string::npos) << got.cut;
    EXPECT_GT(got.answer.text.size(), 1u << 20);
    EXPECT_LE(got.answer.text.size(), 8u << 20);
}

TEST_F(ChatClientTest, TellsAnOverflowFromOtherRefusals) {
    auto config = server_->config("small-context");
    ChatClient client(config, {}, {});
    const auto outcome =
        client.ask(Json::array({{{"role", "user"}, {"content", std::string(30'000, 'x')}}}),
                   Json::array(), {});
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(std::holds_alternative<ContextOverflow>(*outcome));
}

TEST_F(ChatClientTest, TestsAConnection) {
    const auto test = testEndpoint(server_->config("ready"), {});
    ASSERT_TRUE(test) << test.error().message;
    EXPECT_TRUE(test->tools);
    EXPECT_TRUE(test->usage);
    EXPECT_EQ(test->model, "served-ready");
    const auto words = testEndpoint(server_->config("hello"), {});
    ASSERT_TRUE(words);
    EXPECT_FALSE(words->tools);
    EXPECT_FALSE(testEndpoint(server_->config("locked"), {}));
}

TEST(EventStream, TakesEveryLineEndInAnyPieces) {
    const std::string text = ": comment\r\ndata: one\r\n\r\ndata:two\ndata: three\n\nid: 7\n\r\r"
                             "event: x\rdata: four\r\rdata: last";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        std::vector<std::string> got;
        EventStream stream([&](std::string_view data) { got.emplace_back(data); });
        for (std::size_t at = 0; at < text.size(); at += size)
            stream.feed(std::string_view(text).substr(at, size));
        stream.finish();
        EXPECT_EQ(got, (std::vector<std::string>{"one", "two\nthree", "four", "last"})) << size;
    }
}

TEST(AnswerBuilder, TakesOddFormsAsAbsent) {
    AnswerBuilder builder;
    for (const auto &chunk :
         {Json(nullptr), Json(3), Json::array(), Json{{"choices", 3}}, Json{{"choices", {1}}},
          Json{{"choices", {{{"delta", "x"}}}}},
          Json{{"choices", {{{"delta", {{"content", 7}, {"tool_calls", {1, "x"}}}}}}}},
          Json{{"usage", "many"}}, Json{{"usage", {{"prompt_tokens", -4}}}}})
        builder.addChunk(chunk);
    EXPECT_FALSE(builder.error());
    EXPECT_EQ(builder.answer().promptTokens, 0);
    builder.addChunk({{"error", "worker died"}});
    EXPECT_EQ(builder.error(), "worker died");
    EXPECT_EQ(errorMessage({{"detail", {{{"loc", {"body"}}}}}}), R"([{"loc":["body"]}])");
}

} // namespace
} // namespace cuda_agent::policy
