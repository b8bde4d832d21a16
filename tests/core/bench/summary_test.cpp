// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/report.h"

#include "tests/core/bench/records.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cuda_agent::bench {
namespace {

const Against &over(const Group &group, const std::string &name) {
    for (const auto &each : group.against)
        if (each.name == name)
            return each;
    throw std::runtime_error(name);
}

TEST(Summary, CountsWhatWasJudged) {
    std::vector<Record> records{correct("1/1", 4, 2),
                                correct("1/2", 1, 1.04, 0.97),
                                correct("2/1", 0.5, 8, 0.2),
                                failed("2/2", Outcome::wrong, "x"),
                                failed("2/3", Outcome::none, "y"),
                                failed("2/4", Outcome::machine, "no GPU"),
                                failed("2/5", Outcome::unusable, "bad"),
                                failed("2/6", Outcome::missing, "")};
    records[2].algebra = true;
    const auto summaries = summarise(records);
    ASSERT_EQ(summaries.size(), 1u);
    ASSERT_EQ(summaries[0].groups.size(), 3u);
    const auto &all = summaries[0].groups[0];
    EXPECT_EQ(all.records, 8u);
    EXPECT_EQ(all.judged, 5u);
    EXPECT_EQ(all.correct, 3u);
    EXPECT_EQ(all.limit, 1u);
    EXPECT_EQ(all.algebra, 1u);
    EXPECT_DOUBLE_EQ(all.passRate(), 0.6);
    EXPECT_EQ(summaries[0].groups[1].name, "level 1");
    EXPECT_EQ(summaries[0].groups[1].correct, 2u);
    EXPECT_EQ(summaries[0].groups[2].judged, 3u);
    EXPECT_DOUBLE_EQ(summaries[0].seconds, 16);

    const auto &compile = over(all, "compile");
    EXPECT_EQ(compile.faster, 2u); // 1.04 is not
    EXPECT_EQ(compile.fasterOrAtLimit, 3u);
    EXPECT_NEAR(compile.geometricMean, std::cbrt(2 * 1.04 * 8), 1e-12);
    EXPECT_NEAR(compile.geometricMeanOfAll, std::pow(2 * 1.04 * 8, 1.0 / 5), 1e-12);
    EXPECT_NEAR(over(all, "best_stock").geometricMean, std::cbrt(2 * 1 * 0.5), 1e-12);
}

TEST(Summary, WhatWasVerifiedAloneIsNotCalledSlow) {
    std::vector<Record> records{correct("1", 1, 2), failed("2", Outcome::wrong, "x")};
    records[0].verdict = Json::object();
    const auto summaries = summarise(records);
    const auto &all = summaries[0].groups[0];
    EXPECT_EQ(all.correct, 1u);
    EXPECT_FALSE(all.measured());
    const Json json = toJson(summaries[0]).at("groups").at(0);
    EXPECT_EQ(json.at("pass_rate"), 0.5);
    EXPECT_FALSE(json.contains("against"));
    EXPECT_FALSE(json.contains("at_limit"));
    const auto text = markdownReport({"untimed", {}, 0, {}, true}, records, summaries);
    EXPECT_NE(text.find("| all | 2 | 1 | - | eager | - | - | - | - |"), text.npos) << text;
    EXPECT_EQ(text.find("fast_p"), text.npos);
    EXPECT_TRUE(summarise({failed("2", Outcome::wrong, "x")})[0].groups[0].measured());
}

TEST(Summary, FastPCountsStrictlyFasterOfAllJudged) {
    const auto summaries =
        summarise({correct("1", 1, 1), correct("2", 2, 3.5), failed("3", Outcome::wrong, ""),
                   failed("4", Outcome::machine, "")});
    const auto &eager = over(summaries[0].groups[0], "eager");
    const auto at = [&](double p) {
        for (std::size_t i = 0; i < fastPs().size(); ++i)
            if (fastPs()[i] == p)
                return eager.fastP[i];
        return -1.0;
    };
    EXPECT_NEAR(at(0), 2.0 / 3, 1e-12);
    EXPECT_NEAR(at(0.75), 2.0 / 3, 1e-12);
    EXPECT_NEAR(at(1), 1.0 / 3, 1e-12);
    EXPECT_EQ(at(2), 0);
    EXPECT_TRUE(std::ranges::is_sorted(fastPs()));
}

TEST(Summary, ModesStandApart) {
    auto records = std::vector{correct("1/1", 4, 2), correct("1/1", 9, 9)};
    records[1].numerics = task::Numerics::published;
    const auto summaries = summarise(records);
    ASSERT_EQ(summaries.size(), 2u);
    EXPECT_EQ(summaries[0].groups[0].records, 1u);
    EXPECT_EQ(summaries[1].numerics, task::Numerics::published);
    EXPECT_DOUBLE_EQ(over(summaries[1].groups[0], "eager").geometricMean, 9);
    EXPECT_EQ(summaries[1].groups.size(), 1u); // one level only: nothing to part
    EXPECT_TRUE(summarise({}).empty());
}

TEST(Summary, FailuresOfOneCauseStandTogether) {
    auto wrong = failed("1/1", Outcome::wrong, "random inputs: case 'random 1', output 0: off");
    wrong.verdict = {{"failed_check", {{"name", "random inputs"}}}};
    auto again = failed("1/2", Outcome::wrong, "random inputs: case 'random 5', output 1: off");
    again.verdict = wrong.verdict;
    auto hang = again;
    hang.task = "1/3";
    hang.verdict["fault"] = {{"kind", "hang"}};
    const auto summaries = summarise(
        {wrong, again, hang, failed("2/1", Outcome::none, "kernels/k.cu:3:7: expected ';'"),
         failed("2/2", Outcome::none, "kernels/a.cu:12: expected ')'"),
         failed("3/1", Outcome::unusable, "3_bad.py:5: not Python: why"),
         failed("3/2", Outcome::machine, "")});
    const auto &causes = summaries[0].causes;
    ASSERT_EQ(causes.size(), 3u);
    EXPECT_EQ(causes[0].tasks.size() + causes[1].tasks.size(), 4u);
    EXPECT_EQ(causes[2].what, "wrong: random inputs, hang");
    for (const auto &cause : causes)
        EXPECT_TRUE(cause.what == "wrong: random inputs" || cause.what == "none: expected" ||
                    cause.what == "wrong: random inputs, hang")
            << cause.what;
    ASSERT_EQ(summaries[0].unjudged.size(), 2u);
    EXPECT_EQ(summaries[0].unjudged[0].what, "machine: no reason was told");
    EXPECT_EQ(summaries[0].unjudged[1].what, "unusable: not Python: why");
}

TEST(Summary, SpeedupsNeedATimeAndARightAnswer) {
    auto record = correct("1/1", 4, 2);
    EXPECT_EQ(record.speedup("eager"), 4);
    EXPECT_EQ(record.speedup("best_stock"), 2);
    EXPECT_FALSE(record.speedup("max_autotune"));
    record.verdict["times"].erase("candidate");
    EXPECT_FALSE(record.speedup("best_stock"));
    record.outcome = Outcome::wrong;
    EXPECT_FALSE(record.speedup("eager"));
    EXPECT_EQ(record.fractionOfLimit(), 0);
    record.outcome = Outcome::correct;
    record.verdict = Json();
    EXPECT_FALSE(record.speedup("eager"));
}

} // namespace
} // namespace cuda_agent::bench
