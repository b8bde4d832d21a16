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
    std::vector<bool> opened = {};                      ///< whether it was to be drawn
    std::vector<std::vector<std::int32_t>> begins = {}; ///< of turns
    std::vector<double> leastAllowed = {};              ///< likewise
    std::vector<bool> again = {};                       ///< likewise
    int open = 0;
};

class ScriptedConversation : public Conversation {
  public:
    explicit ScriptedConversation(Script &script) : script_(script) {
        EXPECT_EQ(++script_.open, 1) << "one at a time";
    }
    ~ScriptedConversation() override { --script_.open; }
    Result<Written> write(const std::vector<chat::Segment> &segments, const TurnRequest &turn,
                          std::stop_token) override {
        script_.told.push_back(segments);
        script_.seeds.push_back(turn.seed);
        script_.begins.push_back(turn.begin);
        script_.leastAllowed.push_back(turn.leastAllowed);
        script_.again.push_back(turn.again);
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

std::unique_ptr<Policy> transformerOf(Script &script, FreshStarts freshStarts = FreshStarts::never,
                                      bool deviates = true) {
    TransformerOptions options;
    options.freshStarts = freshStarts;
    options.deviates = deviates;
    const auto open = [&script](bool drawn,
                                const std::stop_token &) -> Result<std::unique_ptr<Conversation>> {
        script.opened.push_back(drawn);
        return std::make_unique<ScriptedConversation>(script);
    };
    return makeTransformer(smallContext(), "class Model: pass", open, options);
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

/// A session whose turns each hand in a candidate.
class FreshStart : public ::testing::Test {
  protected:
    FreshStart() {
        for (int i = 0; i < 12; ++i)
            script_.answers.push_back({verifyCall, Written::End::turn, 9, 5});
    }
    /// The next turn, which is judged so; 0 seconds: not timed.
    void turn(Policy &policy, bool correct, double seconds = 0) {
        const auto step = policy.next(turns_, {}).value();
        ASSERT_FALSE(step.finished);
        turns_.push_back(turnOf(static_cast<int>(turns_.size()) + 1, step, "judged"));
        turns_.back().fresh = step.fresh;
        said_.push_back(step.departure);
        turns_.back().verdict =
            Json{{"correct", correct}, {"times", {{"candidate", {{"seconds", seconds}}}}}};
        turns_.back().candidate = {{"kernels/k.cu", fmt::to_string(turns_.size())}};
    }
    std::vector<bool> fresh() const {
        std::vector<bool> all;
        for (const auto &each : turns_)
            all.push_back(each.fresh);
        return all;
    }
    /// Whether what the model was told of the turn of that number has the prompt.
    bool prompted(std::size_t number) const {
        return script_.told.at(number - 1).at(0).text.find("Task: relu") != std::string::npos;
    }

    Script script_;
    std::vector<session::Turn> turns_;
    std::vector<std::string> said_; ///< of each turn, its departure
};

TEST_F(FreshStart, FollowATurnThatBringsNothingBetter) {
    const auto policy = transformerOf(script_, FreshStarts::onFailure);
    turn(*policy, false);        // 1
    turn(*policy, true, 10e-6);  // 2: begins anew, is right
    turn(*policy, true, 8e-6);   // 3: goes on, is faster
    turn(*policy, true, 7.9e-6); // 4: goes on, is as fast
    turn(*policy, true, 9e-6);   // 5: begins anew
    turn(*policy, true, 7e-6);   // 6: begins anew
    turn(*policy, false);        // 7: goes on
    turn(*policy, false);        // 8: begins anew
    EXPECT_EQ(fresh(), (std::vector{false, true, false, false, true, true, false, true}));
    EXPECT_EQ(script_.opened, (std::vector{false, true, true, true, true}));
    for (std::size_t number = 1; number <= turns_.size(); ++number)
        EXPECT_EQ(prompted(number), number == 1 || turns_[number - 1].fresh) << number;
    EXPECT_EQ(script_.told[7].size(), 1u) << "nothing of the turns before";
    EXPECT_EQ(conversationsOf(turns_), (std::vector<std::size_t>{0, 1, 4, 5, 7}));
}

TEST_F(FreshStart, DepartsFromTheLikeliestTurn) {
    script_.answers[0].tokens = {1, 2, 3, 4};
    script_.answers[0].alternatives = {{1, 20, 1, 0}, {3, 40, 2, 0}, {2, 30, 3, 0}};
    script_.answers[1].tokens = {1, 20, 5};
    script_.answers[1].alternatives = {{2, 50, 2.5, 0}};
    const auto policy = transformerOf(script_, FreshStarts::always);
    turn(*policy, false);
    turn(*policy, true, 1e-5); // departures from it come first
    turn(*policy, false);
    turn(*policy, false);
    turn(*policy, false);
    turn(*policy, false); // none is left: it has to be drawn
    using Tokens = std::vector<std::int32_t>;
    EXPECT_EQ(script_.begins,
              (std::vector<Tokens>{{}, {1, 20}, {1, 2, 3, 40}, {1, 20, 50}, {1, 2, 30}, {}}));
    EXPECT_EQ(script_.opened, (std::vector{false, false, false, false, false, true}));
}

TEST_F(FreshStart, DepartsBeforeTheLineThatDoesNotCompile) {
    const std::string source = "a\nb\nc\n";
    script_.answers[0].text = "<tool_call>\n<function=Write>\n<parameter=file_path>\nkernels/k.cu\n"
                              "</parameter>\n<parameter=content>\n" +
                              source + "\n</parameter>\n</function>\n</tool_call>" + verifyCall;
    script_.answers[0].tokens = {1, 2, 3, 4};
    const auto at = static_cast<std::int64_t>(script_.answers[0].text.find(source));
    script_.answers[0].alternatives = {{1, 20, 2, at}, {2, 30, 1, at + 2}, {3, 40, 0.5, at + 4}};
    script_.answers[1].text = script_.answers[0].text;
    script_.answers[1].text.replace(static_cast<std::size_t>(at) + 2, 1, "another");
    const auto policy = transformerOf(script_, FreshStarts::always);
    turn(*policy, false);
    ASSERT_EQ(turns_[0].calls.at(0).arguments.value("file_path", ""), "kernels/k.cu");
    (*turns_[0].verdict)["diagnostics"] = {
        {{"severity", "error"}, {"file", "kernels/k.cu"}, {"line", 2}}};
    turn(*policy, false);
    turn(*policy, false);
    EXPECT_EQ(script_.begins[1], (std::vector{1, 2, 30}));
    EXPECT_EQ(script_.begins[2], (std::vector{1, 20}));
    EXPECT_EQ(said_[0], "");
    EXPECT_EQ(said_[1], "as turn 1 up to \"\", then \"another\" in place of \"b\"");
    turn(*policy, false);
    EXPECT_TRUE(script_.begins[3].empty()) << "the third stands behind that line";
}

TEST_F(FreshStart, BeginsATurnAnewWhereTheGrammarRefusesWhatWouldFollow) {
    script_.answers[0] = {"<think>ab", Written::End::refused, 9, 3};
    script_.answers[0].tokens = {1, 2, 3};
    script_.answers[0].alternatives = {{1, 20, 1, 8}, {2, 30, 3, 9}};
    script_.answers[1] = {"<think>ac", Written::End::refused, 9, 3};
    script_.answers[1].tokens = {1, 20, 3};
    script_.answers[2].tokens = {1, 2, 30, 4};
    script_.answers[2].text = "<think>abc</think>" + verifyCall;
    const auto policy = transformerOf(script_, FreshStarts::always);
    turn(*policy, false);
    using Tokens = std::vector<std::int32_t>;
    EXPECT_EQ(script_.begins, (std::vector<Tokens>{{}, {1, 20}, {1, 2, 30}}));
    EXPECT_EQ(script_.opened, (std::vector{false, false, false}));
    EXPECT_EQ(turns_[0].thought, "abc");
    EXPECT_EQ(fresh(), std::vector{false});
    EXPECT_EQ(said_[0], "as what was given up of turn 1 up to \"<think>ab\", then "
                        "\"c</think><tool_call>\" in place of \"\"");
    for (std::size_t each = 0; each < 3; ++each) {
        EXPECT_GT(script_.leastAllowed[each], 0);
        EXPECT_EQ(script_.told[each].size(), 1u) << "the prompt alone";
        EXPECT_EQ(script_.told[each][0].text, script_.told[0][0].text);
    }
}

TEST_F(FreshStart, WritesNoLineAgainThatDoesNotCompile) {
    const auto turnWith = [](const std::string &source) {
        return "<tool_call>\n<function=Write>\n<parameter=file_path>\nkernels/k.cu\n"
               "</parameter>\n<parameter=content>\n" +
               source + "\n</parameter>\n</function>\n</tool_call>" + verifyCall;
    };
    const std::string first = "int f() {\nreturn 1;\n}\n", bad = "int g() {\nreturn x;\n}\n";
    const std::vector<std::string> sources{first + bad, "// another\n" + first + bad,
                                           first + "int g() {\nconst int x = 1;\nreturn x;\n}\n"};
    for (std::size_t each = 0; each < sources.size(); ++each) {
        script_.answers[each].text = turnWith(sources[each]);
        script_.answers[each].tokens = {1, 2, 3, 4};
        script_.answers[each].alternatives = {{1, 20 + static_cast<std::int32_t>(each), 2, 1}};
    }
    const auto policy = transformerOf(script_, FreshStarts::always);
    turn(*policy, false);
    (*turns_[0].verdict)["diagnostics"] = {
        {{"severity", "error"}, {"file", "kernels/k.cu"}, {"line", 5}}};
    turn(*policy, false);
    EXPECT_EQ(turns_[1].calls.at(0).arguments.value("content", ""), sources[2])
        << "the second has that function up to that line; the third has another one";
    EXPECT_EQ(script_.again, (std::vector{false, false, true}));
}

TEST_F(FreshStart, TakesTheLastBeginningAsItComes) {
    for (std::size_t each = 0; each + 1 < script_.answers.size(); ++each) {
        script_.answers[each] = {"<think>a", Written::End::refused, 9, 1};
        script_.answers[each].tokens = {1, 2};
        script_.answers[each].alternatives = {{1, 20 + static_cast<std::int32_t>(each), 1, 8}};
    }
    script_.answers[7] = script_.answers.back();
    const auto policy = transformerOf(script_, FreshStarts::always);
    turn(*policy, false);
    ASSERT_EQ(script_.leastAllowed.size(), 8u);
    EXPECT_GT(script_.leastAllowed[6], 0);
    EXPECT_EQ(script_.leastAllowed[7], 0);
    EXPECT_EQ(turns_[0].calls.size(), 1u);
}

TEST_F(FreshStart, TakesABeginningAsItComesWhereNoOtherIsLeft) {
    script_.answers[0] = {"<think>a", Written::End::refused, 9, 1};
    script_.answers[0].tokens = {1, 2};
    const auto policy = transformerOf(script_, FreshStarts::always);
    turn(*policy, false);
    EXPECT_EQ(script_.leastAllowed.size(), 2u);
    EXPECT_EQ(script_.leastAllowed.back(), 0);
    EXPECT_EQ(said_[0], "");
}

TEST_F(FreshStart, DrawsWhereItIsNotToDepart) {
    script_.answers[0].tokens = {1, 2};
    script_.answers[0].alternatives = {{1, 20, 1, 0}};
    const auto policy = transformerOf(script_, FreshStarts::always, false);
    turn(*policy, false);
    turn(*policy, false);
    EXPECT_TRUE(script_.begins[1].empty());
    EXPECT_EQ(script_.opened, (std::vector{false, true}));
    EXPECT_EQ(script_.leastAllowed, (std::vector{0.0, 0.0}));
}

TEST_F(FreshStart, MayFollowEveryVerdict) {
    const auto policy = transformerOf(script_, FreshStarts::always);
    turn(*policy, true, 9e-6);
    turn(*policy, true, 8e-6);
    turns_.back().verdict.reset(); // it only looked
    turns_.back().observations[0].ok = true;
    turn(*policy, false);
    turn(*policy, true, 7e-6);
    EXPECT_EQ(fresh(), (std::vector{false, true, false, true}));
}

TEST_F(FreshStart, HasANameOfItsOwn) {
    for (const auto starts : {FreshStarts::never, FreshStarts::onFailure, FreshStarts::always})
        EXPECT_EQ(freshStartsFrom(nameOf(starts)).value(), starts);
    EXPECT_FALSE(freshStartsFrom("sometimes"));
}

TEST_F(FreshStart, WithoutTimesARightTurnIsTheLastToBringSomething) {
    const auto policy = transformerOf(script_, FreshStarts::onFailure);
    turn(*policy, true);
    turn(*policy, true);
    turn(*policy, true);
    EXPECT_EQ(fresh(), (std::vector{false, false, true}));
}

TEST_F(FreshStart, ARefusedCallBringsNothingAndALookAroundHurtsNobody) {
    const auto policy = transformerOf(script_, FreshStarts::onFailure);
    turn(*policy, true, 1e-5);
    turns_.back().verdict.reset();
    turns_.back().observations[0].ok = true;
    turn(*policy, true, 1e-5);
    turns_.back().verdict.reset();
    turns_.back().observations[0].ok = false;
    turn(*policy, true, 1e-5);
    EXPECT_EQ(fresh(), (std::vector{false, false, true}));
}

TEST_F(FreshStart, AResumedSessionGoesOnInTheConversationThatWas) {
    const auto policy = transformerOf(script_, FreshStarts::onFailure);
    turn(*policy, false);
    turn(*policy, true, 1e-5);
    turn(*policy, true, 5e-6);
    turns_.push_back(turnOf(4, {"look", {{"e", "Read", Json::object()}}, false, ""}, "text"));
    turns_.back().author = "engineer";
    ASSERT_TRUE(policy->next(turns_, {}));
    Script resumed;
    resumed.answers = script_.answers;
    const auto next = transformerOf(resumed, FreshStarts::onFailure)->next(turns_, {}).value();
    EXPECT_FALSE(next.fresh);
    EXPECT_EQ(resumed.opened, (std::vector{true}));
    ASSERT_EQ(resumed.told.size(), 1u);
    ASSERT_EQ(script_.told[1].size(),
              1u); // prompt; then turn, answer; turn, answer; the engineer's
    EXPECT_EQ(resumed.told[0].size(), 7u);
    EXPECT_EQ(resumed.told[0][0].text, script_.told[1][0].text);
    EXPECT_EQ(resumed.seeds[0], script_.seeds[3]);
}

TEST_F(FreshStart, TheEngineersTurnsAreTold) {
    const auto policy = transformerOf(script_, FreshStarts::onFailure);
    turn(*policy, false);
    turns_.push_back(turnOf(2, {"look", {{"e", "Read", Json::object()}}, false, ""}, "text"));
    turns_.back().author = "engineer";
    turn(*policy, true, 1e-5);
    EXPECT_TRUE(turns_.back().fresh);
    EXPECT_EQ(script_.told[1].size(), 3u) << "the prompt and the engineer's turn";
    EXPECT_EQ(conversationsOf(turns_), (std::vector<std::size_t>{0, 1}));
}

TEST_F(FreshStart, WhereTheContextHasNoRoomThereIsAnotherConversation) {
    script_.answers[1] = {"", Written::End::full};
    script_.answers[3] = script_.answers[4] = {"", Written::End::full};
    const auto policy = transformerOf(script_, FreshStarts::onFailure);
    turn(*policy, true, 1e-5);
    turn(*policy, true, 5e-6);
    EXPECT_EQ(fresh(), (std::vector{false, true}));
    const auto end = policy->next(turns_, {}).value();
    EXPECT_TRUE(end.finished) << "not even the prompt fits";
    EXPECT_EQ(end.reason, "the model's context is full");
}

TEST_F(FreshStart, AnEndBeforeAnythingWasDoneIsATurnThatBroughtNothing) {
    script_.answers[0] = {"<|im_end|>"};
    script_.answers[2] = {"It is as fast as it can be.<|im_end|>"};
    const auto policy = transformerOf(script_, FreshStarts::onFailure);
    const auto empty = policy->next(turns_, {}).value();
    EXPECT_FALSE(empty.finished);
    ASSERT_EQ(empty.calls.size(), 1u);
    EXPECT_NE(empty.calls[0].arguments.dump().find("no call"), std::string::npos);
    turns_.push_back(turnOf(1, empty, "refused"));
    turns_.back().observations[0].ok = false;
    turn(*policy, true, 1e-5);
    EXPECT_TRUE(turns_.back().fresh);
    EXPECT_TRUE(policy->next(turns_, {}).value().finished) << "there is something to end";
}

TEST_F(FreshStart, FollowsAnEndThatLeavesATurnUnjudged) {
    script_.answers[1] = {"<|im_end|>"};
    const auto policy = transformerOf(script_, FreshStarts::always);
    const auto written = policy->next(turns_, {}).value();
    turns_.push_back(turnOf(1, written, "wrote kernels/k.cu")); // no verdict
    turns_.back().observations[0].ok = true;
    turn(*policy, true, 1e-5);
    EXPECT_TRUE(turns_.back().fresh);
    EXPECT_TRUE(prompted(3)) << "2 was the end";
    EXPECT_EQ(script_.opened, (std::vector{false, true}));
}

TEST(TransformerPolicy, AnEndWithoutAWordHasAReason) {
    Script script;
    script.answers = {{"<|im_end|>"}, {"It is as fast as it can be.<|im_end|>"}};
    for (const auto *reason : {"the model ended without a word", "It is as fast as it can be."}) {
        const auto end = transformerOf(script)->next({}, {}).value();
        EXPECT_TRUE(end.finished);
        EXPECT_EQ(end.reason, reason);
    }
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
