// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/policy/endpoint/messages.h"

#include <gtest/gtest.h>

namespace cuda_agent::policy {
namespace {

using session::Turn;

/// Each turn writes a kernel of some size and has a verdict, every one faster than the one before.
struct Conversation {
    std::vector<Turn> turns;
    session::State state;

    explicit Conversation(int count, std::size_t bytes) {
        for (int number = 1; number <= count; ++number) {
            Turn turn;
            turn.number = number;
            turn.ended = true;
            turn.thought = fmt::format("Thought {}, in short.\nAnd more of it.", number);
            const auto id = [&](int i) { return fmt::format("call-{}-{}", number, i); };
            turn.calls = {
                {id(1),
                 "Write",
                 {{"file_path", "kernels/a.cu"},
                  {"content", fmt::format("// kernel {}\n", number) + std::string(bytes, 'k')}}},
                {id(2), "Verify", Json::object()}};
            turn.observations = {{id(1), true, "wrote kernels/a.cu", Json::object(), 0},
                                 {id(2), true, "correct, and so on", Json::object(), 1}};
            turn.verdict = {{"correct", true},
                            {"reward", 1},
                            {"times", {{"candidate", {{"seconds", 1.0 / number}}}}}};
            turns.push_back(turn);
        }
        state.bestTurn = count;
        state.bestVerdict = turns.empty() ? Json() : *turns.back().verdict;
        state.bestCandidate = {{"kernels/a.cu", "blob-a"}};
        state.files = {{"kernels/a.cu", "blob-a"}};
    }
    BuiltMessages build(std::int64_t tokens) const {
        auto built = buildMessages(
            "SYSTEM", "TASK", state, turns, {tokens, 4},
            [](const std::string &blob) -> Result<std::string> { return "text of " + blob; });
        EXPECT_TRUE(built);
        return built.value_or(BuiltMessages{});
    }
};

/// Every call has its answer, right behind the message that makes it.
void expectWellFormed(const Json &messages) {
    std::set<std::string> open;
    for (const auto &message : messages) {
        if (message.at("role") == "tool") {
            EXPECT_EQ(open.erase(message.at("tool_call_id").get<std::string>()), 1u);
            continue;
        }
        EXPECT_TRUE(open.empty());
        for (const auto &call : message.value("tool_calls", Json::array())) {
            open.insert(call.at("id").get<std::string>());
            EXPECT_TRUE(
                Json::parse(call.at("function").at("arguments").get<std::string>(), nullptr, false)
                    .is_object());
        }
    }
    EXPECT_TRUE(open.empty());
}

TEST(Messages, TellTheWholeConversation) {
    const auto built = Conversation(2, 10).build(100'000);
    ASSERT_EQ(built.messages.size(), 2u + 2 * 3);
    EXPECT_EQ(built.messages[0], (Json{{"role", "system"}, {"content", "SYSTEM"}}));
    EXPECT_EQ(built.messages[1], (Json{{"role", "user"}, {"content", "TASK"}}));
    EXPECT_EQ(built.messages[2].at("content"), "Thought 1, in short.\nAnd more of it.");
    EXPECT_EQ(built.messages[3].at("content"), "wrote kernels/a.cu");
    EXPECT_EQ(built.shortTurns, 0);
    expectWellFormed(built.messages);
}

TEST(Messages, TheFirstSaysWhatEarlierSessionsFoundAndWhichAttemptItIs) {
    Context context;
    EXPECT_EQ(taskMessage(context, "class Model").find("attempt"), std::string::npos);
    context.knowledge = "Worked:\n- a warp per row: 1.90x eager";
    context.attempt = 2;
    context.attempts = 3;
    const auto text = taskMessage(context, "class Model");
    EXPECT_NE(text.find(context.knowledge), std::string::npos);
    EXPECT_NE(text.find("attempt 2 of 3"), std::string::npos);
    EXPECT_NE(text.find("differs in kind"), std::string::npos);
    context.attempt = 1;
    EXPECT_EQ(taskMessage(context, "class Model").find("differs in kind"), std::string::npos);
}

TEST(Messages, LeaveOutOldTextsFirst) {
    const auto whole = Conversation(20, 4000).build(1'000'000);
    const auto built = Conversation(20, 4000).build(whole.tokens / 2);
    EXPECT_EQ(built.shortTurns, 16);
    EXPECT_LE(built.tokens, whole.tokens / 2);
    EXPECT_EQ(built.messages.size(), whole.messages.size()); // every turn is still there
    EXPECT_NE(built.messages[2].dump().find("bytes left out"), std::string::npos);
    EXPECT_EQ(built.messages.back(), whole.messages.back());
    expectWellFormed(built.messages);
}

TEST(Messages, KeepTheBestCandidateAndTheLastVerdictWhenTurnsGo) {
    const auto built = Conversation(60, 4000).build(9'000);
    EXPECT_LE(built.tokens, 9'000);
    EXPECT_EQ(built.shortTurns, 56);
    const std::string digest = built.messages[2].at("content");
    EXPECT_NE(digest.find("Turns 1 to 56"), std::string::npos);
    EXPECT_NE(digest.find("3. Thought 3, in short. => correct, reward 1: 333.333 ms"),
              std::string::npos)
        << digest;
    EXPECT_NE(digest.find("--- kernels/a.cu\ntext of blob-a"), std::string::npos);
    EXPECT_NE(digest.find("The last verdict of those turns"), std::string::npos);
    expectWellFormed(built.messages);
    // As small as it gets: the digest stays, whatever the budget.
    const auto least = Conversation(60, 4000).build(10);
    EXPECT_EQ(least.messages.size(), 3u);
}

TEST(Messages, TellWhatTheEngineerDid) {
    Conversation conversation(1, 10);
    Turn turn;
    turn.number = 2;
    turn.author = "engineer";
    turn.thought = "Please use float4.";
    turn.calls = {{"e1", "Verify", Json::object()}};
    turn.observations = {{"e1", false, "wrong at index 7", Json::object(), 0}};
    conversation.turns.push_back(turn);
    const auto built = conversation.build(100'000);
    const auto &last = built.messages.back();
    EXPECT_EQ(last.at("role"), "user");
    EXPECT_EQ(last.at("content"), "The engineer who watches this session says: Please use float4.\n"
                                  "Verify {}\n-> wrong at index 7\n");
}

TEST(Messages, AskForAToolAfterWordsOnly) {
    Conversation conversation(1, 10);
    conversation.turns[0].calls.clear();
    conversation.turns[0].observations.clear();
    const auto built = conversation.build(100'000);
    EXPECT_EQ(built.messages.back().at("role"), "user");
    EXPECT_NE(built.messages.back().at("content").get<std::string>().find("No tool was called"),
              std::string::npos);
}

TEST(Messages, SayThatACallIsRepeated) {
    Conversation conversation(4, 10);
    for (auto &turn : conversation.turns)
        turn.calls[0].arguments["content"] = "same";
    EXPECT_EQ(repeatedTurns(conversation.turns), 4);
    const auto built = conversation.build(100'000);
    EXPECT_NE(built.messages.back().at("content").get<std::string>().find("4 turns in a row"),
              std::string::npos);
    EXPECT_EQ(repeatedTurns({}), 0);
    EXPECT_EQ(repeatedTurns(Conversation(3, 10).turns), 1);
}

TEST(Messages, AreValidForBytesThatAreNoText) {
    Conversation conversation(1, 10);
    conversation.turns[0].observations[0].text = "bad \xff byte";
    const auto built = conversation.build(100'000);
    EXPECT_NO_THROW(
        static_cast<void>(built.messages.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

} // namespace
} // namespace cuda_agent::policy
