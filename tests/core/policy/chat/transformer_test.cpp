// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/transformer.h"
#include "core/tools/toolbox.h"

#include <gtest/gtest.h>

namespace cuda_agent::policy {
namespace {

/// What the model was told, and what it answers.
struct Script {
    std::vector<Written> answers;
    std::vector<std::vector<chat::Segment>> told;
    std::vector<std::uint64_t> seeds;
};

class ScriptedConversation : public Conversation {
  public:
    explicit ScriptedConversation(Script &script) : script_(script) {}
    Result<Written> write(const std::vector<chat::Segment> &segments, std::uint64_t seed,
                          std::stop_token) override {
        script_.told.push_back(segments);
        script_.seeds.push_back(seed);
        return script_.answers.at(script_.told.size() - 1);
    }

  private:
    Script &script_;
};

Context smallContext() {
    Context context;
    context.task.name = "relu";
    return context;
}

std::unique_ptr<Policy> transformerOf(Script &script) {
    return makeTransformer(smallContext(), "class Model: pass",
                           std::make_unique<ScriptedConversation>(script));
}

const std::string verifyCall =
    "<tool_call>\n<function=Verify>\n</function>\n</tool_call><|im_end|>";

session::Turn turnOf(int number, const Step &step, const std::string &answer) {
    session::Turn turn;
    turn.number = number;
    turn.thought = step.thought;
    turn.calls = step.calls;
    for (const auto &call : step.calls) {
        session::Observation observation;
        observation.id = call.id;
        observation.text = answer;
        turn.observations.push_back(observation);
    }
    turn.ended = true;
    return turn;
}

TEST(TransformerPolicy, TellsThePromptOnceThenObservations) {
    Script script;
    script.answers = {{verifyCall, Written::End::turn, 9, 5},
                      {"done<|im_end|>", Written::End::turn, 3, 2}};
    const auto policy = transformerOf(script);
    const auto first = policy->next({}, {}).value();
    ASSERT_EQ(first.calls.size(), 1u);
    EXPECT_EQ(first.calls[0].tool, "Verify");
    const auto second = policy->next({turnOf(1, first, "no candidate")}, {}).value();
    EXPECT_TRUE(second.finished);
    EXPECT_EQ(second.reason, "done");
    ASSERT_EQ(script.told.size(), 2u);
    ASSERT_EQ(script.told[0].size(), 1u);
    EXPECT_NE(script.told[0][0].text.find("Task: relu"), std::string::npos);
    ASSERT_EQ(script.told[1].size(), 1u); // its own turn stands already
    EXPECT_NE(script.told[1][0].text.find("no candidate"), std::string::npos);
    EXPECT_EQ(script.told[1][0].by, chat::Author::context);
    EXPECT_NE(script.seeds[0], script.seeds[1]);
}

TEST(TransformerPolicy, AResumedSessionTellsWhatTheLogHas) {
    Script script, resumed;
    script.answers = {{verifyCall, Written::End::turn, 9, 5}, {"x<|im_end|>"}};
    resumed.answers = {{"done<|im_end|>", Written::End::turn, 3, 2}};
    const auto policy = transformerOf(script);
    const auto turn = turnOf(1, policy->next({}, {}).value(), "wrong");
    ASSERT_TRUE(policy->next({turn}, {}));
    ASSERT_TRUE(transformerOf(resumed)->next({turn}, {}));
    std::string before, after;
    for (const auto &told : script.told)
        for (const auto &segment : told) {
            before += segment.text;
            if (&told == &script.told[0])
                before += verifyCall;
        }
    for (const auto &segment : resumed.told.at(0))
        after += segment.text;
    EXPECT_EQ(after, before);
    EXPECT_EQ(resumed.seeds[0], script.seeds[1]);
}

TEST(TransformerPolicy, ARightCandidateThatComesBackEndsIt) {
    Script script;
    for (int i = 0; i < 4; ++i)
        script.answers.push_back({verifyCall, Written::End::turn, 9, 5});
    const auto policy = transformerOf(script);
    std::vector<session::Turn> turns;
    const auto judged = [&](const char *kernel, bool correct) {
        auto step = policy->next(turns, {}).value();
        EXPECT_FALSE(step.finished);
        turns.push_back(turnOf(static_cast<int>(turns.size()) + 1, step, "judged"));
        turns.back().verdict = Json{{"correct", correct}};
        turns.back().candidate = {{"kernels/k.cu", kernel}};
    };
    judged("wrong", false);
    judged("wrong", false); // may still become right
    judged("right", true);
    judged("right", true);
    const auto end = policy->next(turns, {}).value();
    EXPECT_TRUE(end.finished);
    EXPECT_NE(end.reason.find("came back"), std::string::npos);
    EXPECT_EQ(script.told.size(), 4u);
}

TEST(TransformerPolicy, WhatCannotBeReadIsRefusedWithTheReason) {
    Script script;
    script.answers = {{"<tool_call>nonsense</tool_call><|im_end|>"},
                      {"cut short", Written::End::length},
                      {"", Written::End::full}};
    const auto policy = transformerOf(script);
    const auto bad = policy->next({}, {}).value();
    ASSERT_EQ(bad.calls.size(), 1u);
    EXPECT_EQ(bad.calls[0].tool, "");
    EXPECT_NE(bad.calls[0].arguments.at(tools::unreadableCall).get<std::string>().find("function"),
              std::string::npos);
    EXPECT_FALSE(bad.finished);
    std::vector turns{turnOf(1, bad, "refused")};
    const auto cut = policy->next(turns, {}).value();
    EXPECT_NE(cut.calls.at(0).arguments.dump().find("cut"), std::string::npos);
    turns.push_back(turnOf(2, cut, "refused"));
    const auto full = policy->next(turns, {}).value();
    EXPECT_TRUE(full.finished);
    EXPECT_EQ(full.reason, "the model's context is full");
    ASSERT_EQ(script.told[2].size(), 2u);
    EXPECT_EQ(script.told[2][0].text, chat::imEnd); // the turn that was cut has one now
}

} // namespace
} // namespace cuda_agent::policy
