// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/state.h"

#include <gtest/gtest.h>

namespace cuda_agent::session {
namespace {

/// Events as a log would hold them.
class Story {
  public:
    Story &add(EventType type, int turn, Json data = Json::object()) {
        const auto sequence = static_cast<std::int64_t>(events_.size());
        events_.push_back({sequence, 1.0e9, type, turn, std::move(data)});
        return *this;
    }
    Story &verdict(int turn, bool correct, double seconds, const std::string &blob = "blob") {
        Json verdict = {{"correct", correct}, {"strength", "training"}};
        if (seconds > 0)
            verdict["times"]["candidate"]["seconds"] = seconds;
        return add(EventType::verdictGiven, turn,
                   {{"verdict", verdict}, {"candidate", {{"plan.json", blob}}}});
    }
    Story &turn(int turn, bool correct, double seconds) {
        return add(EventType::turnStarted, turn)
            .verdict(turn, correct, seconds, "blob" + std::to_string(turn))
            .add(EventType::turnEnded, turn);
    }
    State state() const { return fold(events_); }

  private:
    std::vector<Event> events_;
};

TEST(State, HoldsEveryEventType) {
    const State state =
        Story()
            .add(EventType::sessionStarted, 0, {{"policy", "planner"}})
            .add(EventType::taskDescribed, 0, {{"name", "softmax"}})
            .add(EventType::baselinesMeasured, 0, {{"eager", {{"seconds", 0.5}}}})
            .add(EventType::knowledgeOffered, 0, {{"text", "row kernels won"}})
            .add(EventType::turnStarted, 1)
            .add(EventType::thought, 1, {{"text", "fuse"}})
            .add(EventType::thought, 1, {{"text", "then vectorise"}})
            .add(EventType::action, 1,
                 {{"id", "1a"}, {"tool", "Write"}, {"arguments", {{"path", "plan.json"}}}})
            .add(EventType::fileWritten, 1,
                 {{"path", "plan.json"}, {"blob", "b1"}, {"bytes", 10}, {"author", "policy"}})
            .add(EventType::observation, 1,
                 {{"id", "1a"},
                  {"ok", true},
                  {"text", "written"},
                  {"data", {{"bytes", 10}}},
                  {"seconds", 0.25}})
            .add(EventType::compiled, 1, {{"ok", true}, {"seconds", 0.1}})
            .verdict(1, true, 2e-3, "b1")
            .add(EventType::turnEnded, 1)
            .add(EventType::note, 0, {{"text", "resumed"}})
            .add(EventType::sessionEnded, 0, {{"reason", "done"}, {"best_turn", 1}})
            .state();
    EXPECT_EQ(state.events, 15);
    EXPECT_EQ(state.start["policy"], "planner");
    EXPECT_EQ(state.description["name"], "softmax");
    EXPECT_EQ(state.baselines["eager"]["seconds"], 0.5);
    EXPECT_EQ(state.knowledge["text"], "row kernels won");
    ASSERT_EQ(state.turns.size(), 1u);
    const Turn &turn = state.turns[0];
    EXPECT_EQ(turn.number, 1);
    EXPECT_EQ(turn.thought, "fuse\nthen vectorise");
    ASSERT_EQ(turn.calls.size(), 1u);
    EXPECT_EQ(turn.calls[0].id, "1a");
    EXPECT_EQ(turn.calls[0].tool, "Write");
    EXPECT_EQ(turn.calls[0].arguments["path"], "plan.json");
    ASSERT_EQ(turn.observations.size(), 1u);
    EXPECT_TRUE(turn.observations[0].ok);
    EXPECT_EQ(turn.observations[0].id, "1a");
    EXPECT_EQ(turn.observations[0].text, "written");
    EXPECT_EQ(turn.observations[0].data["bytes"], 10);
    EXPECT_EQ(turn.observations[0].seconds, 0.25);
    ASSERT_TRUE(turn.compiled);
    EXPECT_EQ((*turn.compiled)["ok"], true);
    ASSERT_TRUE(turn.verdict);
    EXPECT_EQ((*turn.verdict)["correct"], true);
    EXPECT_EQ(turn.candidate.at("plan.json"), "b1");
    EXPECT_TRUE(turn.ended);
    EXPECT_EQ(state.files.at("plan.json"), "b1");
    EXPECT_EQ(state.notes, std::vector<std::string>{"resumed"});
    ASSERT_TRUE(state.end);
    EXPECT_EQ((*state.end)["best_turn"], 1);
    EXPECT_EQ(state.bestTurn, 1);
}

TEST(State, TheBestTurnIsCorrectAndFastest) {
    Story story;
    EXPECT_EQ(story.state().bestTurn, 0);
    story.turn(1, false, 1e-6);
    EXPECT_EQ(story.state().bestTurn, 0);
    story.turn(2, true, 3e-3);
    EXPECT_EQ(story.state().bestTurn, 2);
    story.turn(3, true, 4e-3);
    EXPECT_EQ(story.state().bestTurn, 2);
    story.turn(4, true, 2e-3);
    EXPECT_EQ(story.state().bestTurn, 4);
    EXPECT_EQ(story.state().bestSeconds, 2e-3);
    story.turn(5, false, 1e-3);
    story.turn(6, true, 0); // correct, but not timed
    story.turn(7, true, 2e-3);
    EXPECT_EQ(story.state().bestTurn, 4);
}

TEST(State, AFullVerdictIsNotPreferredByItself) {
    Story story;
    story.turn(1, true, 2e-3).add(EventType::turnStarted, 2);
    story.add(EventType::verdictGiven, 2,
              {{"verdict",
                {{"correct", true},
                 {"strength", "full"},
                 {"times", {{"candidate", {{"seconds", 2.1e-3}}}}}}},
               {"candidate", {{"plan.json", "full"}}}});
    EXPECT_EQ(story.state().bestTurn, 1);
}

Json strong(bool correct, double seconds, const char *blob) {
    return {{"verdict",
             {{"correct", correct},
              {"strength", "full"},
              {"times", {{"candidate", {{"seconds", seconds}}}}}}},
            {"candidate", {{"plan.json", blob}}}};
}

TEST(State, AFullVerdictReplacesTheTrainingOneOfItsCandidate) {
    Story story;
    story.turn(1, true, 2e-3).turn(2, true, 2.5e-3);
    story.add(EventType::turnStarted, 3)
        .add(EventType::verdictGiven, 3, strong(true, 2.01e-3, "blob1"));
    EXPECT_EQ(story.state().bestTurn, 3);
    EXPECT_EQ(story.state().bestSeconds, 2.01e-3);
    EXPECT_EQ(story.state().bestVerdict["strength"], "full");
    story.verdict(3, true, 1.9e-3, "blob1"); // a later training verdict does not take it back
    EXPECT_EQ(story.state().bestSeconds, 2.01e-3);
}

TEST(State, ACandidateThatFailsTheFullVerificationIsNotTheBest) {
    Story story;
    story.turn(1, true, 2e-3).turn(2, true, 2.5e-3);
    story.add(EventType::turnStarted, 3).add(EventType::verdictGiven, 3, strong(false, 0, "blob1"));
    EXPECT_EQ(story.state().bestTurn, 2);
    EXPECT_EQ(story.state().bestCandidate.at("plan.json"), "blob2");
}

TEST(State, WhatWasVerifiedInFullYieldsOnlyToAClearGain) {
    Story story;
    story.add(EventType::turnStarted, 1)
        .add(EventType::verdictGiven, 1, strong(true, 2e-3, "full"));
    story.add(EventType::turnEnded, 1).turn(2, true, 1.99e-3);
    EXPECT_EQ(story.state().bestTurn, 1);
    story.turn(3, true, 1.9e-3);
    EXPECT_EQ(story.state().bestTurn, 3);
}

TEST(State, TheBestCandidateIsThatOfItsVerdict) {
    const State state = Story()
                            .add(EventType::turnStarted, 1)
                            .verdict(1, true, 2e-3, "fast")
                            .verdict(1, true, 5e-3, "slow")
                            .add(EventType::turnEnded, 1)
                            .state();
    EXPECT_EQ(state.bestTurn, 1);
    EXPECT_EQ(state.bestSeconds, 2e-3);
    EXPECT_EQ(state.bestCandidate.at("plan.json"), "fast");
    EXPECT_EQ(state.bestVerdict["times"]["candidate"]["seconds"], 2e-3);
    EXPECT_EQ(state.turns[0].candidate.at("plan.json"), "slow"); // the turn shows its last one
}

TEST(State, ACutOffTurnIsNotEnded) {
    Story story;
    story.turn(1, true, 2e-3)
        .add(EventType::turnStarted, 2)
        .add(EventType::thought, 2, {{"text", "half"}});
    const State state = story.state();
    ASSERT_EQ(state.turns.size(), 2u);
    EXPECT_FALSE(state.turns[1].ended);
    const std::vector<Turn> ended = state.endedTurns();
    ASSERT_EQ(ended.size(), 1u);
    EXPECT_EQ(ended[0].number, 1);
}

TEST(State, AResumedTurnReplacesTheCutOffOne) {
    Story story;
    story.add(EventType::fileWritten, 0,
              {{"path", "a.cu"}, {"blob", "a1"}, {"author", "engineer"}});
    story.turn(1, true, 2e-3);
    story.add(EventType::turnStarted, 2)
        .add(EventType::thought, 2, {{"text", "first try"}})
        .add(EventType::fileWritten, 2, {{"path", "a.cu"}, {"blob", "a2"}, {"author", "policy"}})
        .add(EventType::fileWritten, 2, {{"path", "b.cu"}, {"blob", "b1"}, {"author", "policy"}})
        .verdict(2, true, 1e-3, "a2");
    EXPECT_EQ(story.state().bestTurn, 2);
    // The engine is killed here; an engineer edits a file, then the session is resumed.
    story.add(EventType::fileWritten, 2, {{"path", "c.cu"}, {"blob", "c1"}, {"author", "engineer"}})
        .add(EventType::note, 0, {{"text", "resumed"}})
        .add(EventType::turnStarted, 2);
    const State resumed = story.state();
    ASSERT_EQ(resumed.turns.size(), 2u);
    EXPECT_EQ(resumed.turns[1].thought, "");
    EXPECT_FALSE(resumed.turns[1].verdict);
    EXPECT_EQ(resumed.bestTurn, 1);
    EXPECT_EQ(resumed.bestSeconds, 2e-3);
    EXPECT_EQ(resumed.bestCandidate.at("plan.json"), "blob1");
    EXPECT_EQ(resumed.files, (std::map<std::string, std::string>{{"a.cu", "a1"}, {"c.cu", "c1"}}));
    story.add(EventType::thought, 2, {{"text", "second try"}}).add(EventType::turnEnded, 2);
    const State ended = story.state();
    ASSERT_EQ(ended.endedTurns().size(), 2u);
    EXPECT_EQ(ended.turns[1].thought, "second try");
}

TEST(State, ARemovedFileIsGoneAndComesBackWithACutOffTurn) {
    Story story;
    story.add(EventType::fileWritten, 1, {{"path", "a.cu"}, {"blob", "a1"}});
    story.turn(1, true, 2e-3);
    story.add(EventType::turnStarted, 2).add(EventType::fileRemoved, 2, {{"path", "a.cu"}});
    EXPECT_TRUE(story.state().files.empty());
    story.add(EventType::turnStarted, 2); // the turn was cut off
    EXPECT_EQ(story.state().files.count("a.cu"), 1u);
    story.add(EventType::fileRemoved, 2, {{"path", "a.cu"}, {"author", "engineer"}})
        .add(EventType::turnStarted, 2);
    EXPECT_TRUE(story.state().files.empty()); // what the engineer did stays done
}

TEST(State, CountsWhatModelsTookEvenInTurnsThatWereCutOff) {
    const Json answer{{"prompt_tokens", 100},
                      {"cached_tokens", 40},
                      {"answer_tokens", 7},
                      {"cost", 0.5},
                      {"seconds", 2}};
    Story story;
    story.add(EventType::turnStarted, 1)
        .add(EventType::textStreamed, 1, {{"text", "I "}})
        .add(EventType::textStreamed, 1, {{"text", "think"}});
    EXPECT_EQ(story.state().turns.back().streaming, "I think");
    story.add(EventType::modelAnswered, 1, answer);
    EXPECT_EQ(story.state().turns.back().streaming, "");
    story.add(EventType::turnStarted, 1).add(EventType::modelAnswered, 1, answer);
    const State state = story.state();
    EXPECT_EQ(state.usage.promptTokens, 200);
    EXPECT_EQ(state.usage.cachedTokens, 80);
    EXPECT_EQ(state.usage.answerTokens, 14);
    EXPECT_EQ(state.usage.answers, 2);
    EXPECT_DOUBLE_EQ(state.usage.cost, 1);
    EXPECT_EQ(state.turns.back().usage.answerTokens, 7);
    story.add(EventType::modelAnswered, 1, {{"prompt_tokens", "many"}, {"cost", -1}});
    EXPECT_EQ(story.state().usage.promptTokens, 200);
    EXPECT_DOUBLE_EQ(story.state().usage.cost, 1);
}

TEST(State, ASessionThatGoesOnHasNotEnded) {
    Story story;
    story.turn(1, true, 2e-3).add(EventType::sessionEnded, 0, {{"reason", "stopped"}});
    EXPECT_TRUE(story.state().end);
    story.add(EventType::turnStarted, 2);
    EXPECT_FALSE(story.state().end);
}

TEST(State, FieldsOfTheWrongTypeAreAbsent) {
    const State state =
        Story()
            .add(EventType::turnStarted, 1)
            .add(EventType::thought, 1, {{"text", 7}})
            .add(EventType::action, 1, {{"id", Json::array()}, {"arguments", "none"}})
            .add(EventType::observation, 1, {{"ok", "yes"}, {"seconds", "long"}, {"data", 3}})
            .add(EventType::fileWritten, 1, {{"path", nullptr}})
            .add(EventType::verdictGiven, 1, {{"verdict", 5}, {"candidate", {1, 2}}})
            .add(EventType::verdictGiven, 1,
                 {{"verdict", {{"correct", true}, {"times", {{"candidate", 4}}}}}})
            .add(EventType::thought, -3, {{"text", "nowhere"}})
            .add(EventType::note, 0, Json::array({1}))
            .state();
    ASSERT_EQ(state.turns.size(), 1u);
    EXPECT_EQ(state.turns[0].thought, "");
    EXPECT_FALSE(state.turns[0].observations.at(0).ok);
    EXPECT_EQ(state.turns[0].calls.at(0).arguments, Json::object());
    EXPECT_TRUE(state.files.empty());
    EXPECT_EQ(state.bestTurn, 0);
    EXPECT_EQ(state.events, 9);
}

TEST(State, AnotherBudgetTakesThePlaceOfTheFirst) {
    const State state = Story()
                            .add(EventType::sessionStarted, 0,
                                 {{"policy", "planner"}, {"turns", 20}, {"budget", {{"cost", 1}}}})
                            .add(EventType::budgetSet, 0, {{"turns", 30}, {"policy", "no matter"}})
                            .state();
    EXPECT_EQ(state.start["turns"], 30);
    EXPECT_EQ(state.start["budget"]["cost"], 1) << "what it does not say stays";
    EXPECT_EQ(state.start["policy"], "planner");
}

TEST(State, EventsOfATurnThatWasNeverStartedAreKept) {
    const State state = Story().add(EventType::thought, 4, {{"text", "late"}}).state();
    ASSERT_EQ(state.turns.size(), 1u);
    EXPECT_EQ(state.turns[0].number, 4);
}

TEST(EventType, NamesGoBothWays) {
    int types = 0;
    for (int i = 0; i <= static_cast<int>(EventType::sessionEnded); ++i) {
        const auto type = static_cast<EventType>(i);
        const auto back = eventTypeFromName(nameOf(type));
        ASSERT_TRUE(back) << i;
        EXPECT_EQ(*back, type);
        ++types;
    }
    EXPECT_EQ(types, 18);
    EXPECT_FALSE(eventTypeFromName("dreamt"));
    EXPECT_FALSE(eventTypeFromName(""));
}

} // namespace
} // namespace cuda_agent::session
