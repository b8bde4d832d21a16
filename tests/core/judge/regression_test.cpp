// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/regression.h"

#include <gtest/gtest.h>

namespace cuda_agent::judge {
namespace {

Json time(double seconds, double spread = 0.01) {
    return {
        {"seconds", seconds}, {"low", seconds * (1 - spread)}, {"high", seconds * (1 + spread)}};
}

Json verdict(double candidate, double eager = 2, double compile = 1.5) {
    return {{"compiled", true},
            {"correct", true},
            {"device", "cpu"},
            {"numerics", "default"},
            {"seconds", 4.5},
            {"times",
             {{"candidate", time(candidate)}, {"eager", time(eager)}, {"compile", time(compile)}}},
            {"checks",
             {{{"name", "random inputs"}, {"passed", true}, {"detail", "5 cases"}},
              {{"name", "aliasing"}, {"skipped", true}, {"detail", "no room"}}}}};
}

TEST(Regressions, ComparesSpeedUpsNotTimes) {
    EXPECT_TRUE(regressions(verdict(1), verdict(1), 0.05)->empty());
    // Another machine, half as fast in everything.
    EXPECT_TRUE(regressions(verdict(1), verdict(2, 4, 3), 0.05)->empty());
    const auto worse = regressions(verdict(1), verdict(1.25), 0.05);
    ASSERT_TRUE(worse);
    ASSERT_EQ(worse->size(), 2u);
    EXPECT_EQ((*worse)[0],
              "speed-up over eager fell from 2.00x to 1.60x (by 20 %; 5 % are allowed)");
    EXPECT_TRUE(regressions(verdict(1), verdict(1.25), 0.25)->empty());
    EXPECT_TRUE(regressions(verdict(1), verdict(0.5), 0.05)->empty());
}

TEST(Regressions, LeavesNoiseAlone) {
    auto stored = verdict(1);
    auto now = verdict(1.1);
    EXPECT_EQ(regressions(stored, now, 0.05)->size(), 2u);
    now["times"]["candidate"] = time(1.1, 0.2);
    EXPECT_TRUE(regressions(stored, now, 0.05)->empty());
}

TEST(Regressions, SeesWhatIsWrongNow) {
    auto now = verdict(1);
    now["correct"] = false;
    now["problem"] = "guard zones: wrote outside";
    const auto worse = regressions(verdict(1), now, 0.05);
    ASSERT_EQ(worse->size(), 1u);
    EXPECT_EQ(worse->front(), "it was correct and is not: guard zones: wrote outside");
    EXPECT_TRUE(regressions(now, now, 0.05)->empty());
}

TEST(Regressions, RefusesWhatCannotBeCompared) {
    for (const Json &stored : {Json(3), Json::object(), Json{{"correct", "yes"}}})
        EXPECT_EQ(regressions(stored, verdict(1), 0.05).error().kind, ErrorKind::request);
    auto other = verdict(1);
    other["device"] = "cuda";
    EXPECT_NE(regressions(other, verdict(1), 0.05).error().message.find("'cuda'"),
              std::string::npos);
    auto odd = verdict(1);
    odd["times"] = "many";
    EXPECT_TRUE(regressions(odd, verdict(1), 0.05)->empty());
}

TEST(Junit, HasACaseForEveryCheck) {
    const std::vector<std::string> worse{"slower < than \"before\""};
    const std::string xml = junitXml("softmax & co", verdict(1), &worse);
    EXPECT_NE(xml.find("<testsuite name=\"softmax &amp; co\" tests=\"4\" failures=\"1\" "
                       "skipped=\"1\""),
              std::string::npos)
        << xml;
    EXPECT_NE(xml.find("<skipped message=\"no room\"/>"), std::string::npos);
    EXPECT_NE(xml.find("<failure message=\"slower &lt; than &quot;before&quot;\">"),
              std::string::npos);
    auto wrong = verdict(1);
    wrong["compiled"] = false;
    wrong["correct"] = false;
    wrong["problem"] = "does not compile";
    wrong["checks"] = Json::array();
    wrong["diagnostics"] = {
        {{"file", "a.cu"}, {"line", 3}, {"column", 1}, {"message", "\x01what"}}};
    const std::string failed = junitXml("t", wrong, nullptr);
    EXPECT_NE(failed.find("<failure message=\"does not compile\">a.cu:3:1: what\n"),
              std::string::npos)
        << failed;
    EXPECT_NE(failed.find("tests=\"1\" failures=\"1\""), std::string::npos);
}

TEST(Junit, HasWhatACheckedRunFound) {
    auto checked = verdict(1);
    checked["sanitizer"] = {{"clean", true}, {"findings", Json::array()}};
    EXPECT_NE(junitXml("t", checked, nullptr).find("failures=\"0\""), std::string::npos);
    checked["sanitizer"]["findings"] = {{{"file", "kernels/k.cu"},
                                         {"line", 4},
                                         {"column", 28},
                                         {"kind", "race"},
                                         {"message", "writes s"}},
                                        {{"kind", "unwritten"}, {"message", "3 elements"}}};
    const std::string xml = junitXml("t", checked, nullptr);
    EXPECT_NE(xml.find("<failure message=\"kernels/k.cu:4:28: race: writes s\">"),
              std::string::npos)
        << xml;
    EXPECT_NE(xml.find("unwritten: 3 elements"), std::string::npos);
    checked["sanitizer"] = "odd";
    EXPECT_NE(junitXml("t", checked, nullptr).find("failures=\"0\""), std::string::npos);
}

} // namespace
} // namespace cuda_agent::judge
