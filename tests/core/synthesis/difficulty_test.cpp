// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/difficulty.h"

#include "core/base/temporary_folder.h"
#include "core/bench/record.h"

#include <fstream>
#include <gtest/gtest.h>

namespace cuda_agent::synthesis {
namespace {

class Difficulty : public testing::Test {
  protected:
    void add(const std::string &task, bench::Outcome outcome, int reward, int turns,
             task::Numerics numerics = task::Numerics::standard, int sample = -1) {
        bench::Record record;
        record.task = task;
        record.outcome = outcome;
        record.numerics = numerics;
        record.sample = sample;
        record.turns = turns;
        record.session = "sessions/" + task;
        if (outcome == bench::Outcome::correct || outcome == bench::Outcome::wrong)
            record.verdict = {{"reward", reward}};
        write(bench::toJson(record).dump() + "\n");
    }
    void write(const std::string &text) {
        std::ofstream(folder_.path() / "results.jsonl", std::ios::app) << text;
    }
    std::map<std::string, Json> found() {
        auto figures = difficultyFrom(folder_.path());
        EXPECT_TRUE(figures) << figures.error().message;
        return figures.value_or(std::map<std::string, Json>());
    }
    TemporaryFolder folder_ = TemporaryFolder::make("difficulty").value();
};

TEST_F(Difficulty, IsWhatAPolicyReached) {
    add("easy", bench::Outcome::correct, 3, 2);
    add("wrong", bench::Outcome::wrong, -1, 9);
    add("none", bench::Outcome::none, 0, 12);
    add("late", bench::Outcome::outOfTime, 0, 40);
    EXPECT_EQ(found(), (std::map<std::string, Json>{{"easy", {{"reward", 3.0}, {"turns", 2}}},
                                                    {"wrong", {{"reward", -1.0}, {"turns", 9}}},
                                                    {"none", {{"reward", -1.0}, {"turns", 12}}},
                                                    {"late", {{"reward", -1.0}, {"turns", 40}}}}));
}

TEST_F(Difficulty, IsNotWhatNobodyHasJudged) {
    add("a", bench::Outcome::machine, 0, 1);
    add("b", bench::Outcome::unusable, 0, 1);
    add("c", bench::Outcome::missing, 0, 0);
    EXPECT_TRUE(found().empty());
    add("a", bench::Outcome::correct, 1, 5); // tried again
    EXPECT_EQ(found(), (std::map<std::string, Json>{{"a", {{"reward", 1.0}, {"turns", 5}}}}));
}

TEST_F(Difficulty, OfSeveralResultsTheFirstModeAndTheBestSampleCount) {
    add("a", bench::Outcome::correct, 3, 1, task::Numerics::tf32);
    add("a", bench::Outcome::correct, 1, 7);
    add("b", bench::Outcome::correct, 1, 3, task::Numerics::standard, 0);
    add("b", bench::Outcome::correct, 2, 4, task::Numerics::standard, 1);
    add("b", bench::Outcome::wrong, -1, 5, task::Numerics::standard, 2);
    const auto figures = found();
    EXPECT_EQ(figures.at("a"), Json({{"reward", 1.0}, {"turns", 7}}));
    EXPECT_EQ(figures.at("b")["reward"], 2.0);
}

TEST_F(Difficulty, StandsAnEvaluationThatIsStillWritten) {
    add("a", bench::Outcome::correct, 2, 5);
    write(R"({"task": "b", "lev)");
    EXPECT_EQ(found().size(), 1u);
}

TEST_F(Difficulty, SaysWhatIsWrongWithTheFolder) {
    auto none = difficultyFrom(folder_.path());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::request);
    EXPECT_NE(none.error().message.find("no folder of 'cuda-agent evaluate'"), std::string::npos);
    add("a", bench::Outcome::correct, 2, 5);
    write("{\"task\": 3}\n");
    auto bad = difficultyFrom(folder_.path());
    ASSERT_FALSE(bad);
    EXPECT_NE(bad.error().message.find("results.jsonl:2: "), std::string::npos);
}

} // namespace
} // namespace cuda_agent::synthesis
