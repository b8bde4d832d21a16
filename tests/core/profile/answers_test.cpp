// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/answers.h"

#include <gtest/gtest.h>

namespace cuda_agent::profile {

namespace {

Json launchJson() {
    return {{"kind", "kernel"},
            {"name", "k"},
            {"step", 1},
            {"grid", {4, 2, 1}},
            {"block", {256, 1, 1}},
            {"cluster", {0, 0, 0}},
            {"registers", 40},
            {"static_shared", 128},
            {"dynamic_shared", 0},
            {"local", 8},
            {"seconds", {3e-6, 1e-6, 2e-6, 10e-6}},
            {"gaps", {1e-6, -1e-9}}};
}

std::vector<Launch> kernels(std::initializer_list<int> steps) {
    std::vector<Launch> launches;
    for (const int step : steps) {
        Launch launch;
        launch.step = step;
        launch.seconds = 1e-6 * static_cast<double>(launches.size() + 1);
        launches.push_back(launch);
    }
    return launches;
}

} // namespace

TEST(Answers, ALaunchIsReadWithItsMedian) {
    const auto traced = tracedIn({{"launches", {launchJson()}}, {"graph", true}, {"dropped", 3}});
    ASSERT_TRUE(traced) << traced.error().message;
    EXPECT_TRUE(traced->asTimed);
    EXPECT_EQ(traced->dropped, 3u);
    const Launch &launch = traced->launches.at(0);
    EXPECT_EQ(launch.kind, LaunchKind::kernel);
    EXPECT_EQ(launch.step, 1);
    EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{4, 2, 1}));
    EXPECT_EQ(launch.registers, 40);
    EXPECT_EQ(launch.sharedStatic, 128);
    EXPECT_DOUBLE_EQ(launch.seconds, 2.5e-6);
    EXPECT_DOUBLE_EQ(launch.low, 1e-6);
    EXPECT_DOUBLE_EQ(launch.high, 10e-6);
    EXPECT_NEAR(*launch.gapBefore, (1e-6 - 1e-9) / 2, 1e-15);
}

TEST(Answers, NothingIsBelievedBeyondItsForm) {
    EXPECT_FALSE(tracedIn(Json::object()));
    EXPECT_FALSE(tracedIn({{"launches", "many"}}));
    EXPECT_FALSE(tracedIn({{"launches", Json::array({"kernel"})}}));
    EXPECT_FALSE(tracedIn({{"launches", std::vector<Json>(10'001, launchJson())}}));
    Json odd = launchJson();
    odd["kind"] = "prayer";
    EXPECT_FALSE(tracedIn({{"launches", {odd}}}));

    odd = launchJson();
    odd["name"] = std::string(5000, 'x') + "\n\x1b[31m";
    odd["grid"] = {-1, 1e300, "x"};
    odd["block"] = {1, 2};
    odd["registers"] = 1e300;
    odd["step"] = -7;
    odd["seconds"] = {-1, 1e9, "soon", nullptr};
    odd["gaps"] = "none";
    const auto traced = tracedIn({{"launches", {odd}}});
    ASSERT_TRUE(traced);
    const Launch &launch = traced->launches[0];
    EXPECT_LT(launch.name.size(), 1100u);
    EXPECT_EQ(launch.name.find('\x1b'), std::string::npos);
    EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{0, 0, 0}));
    EXPECT_EQ(launch.registers, -1);
    EXPECT_EQ(launch.step, -1);
    EXPECT_EQ(launch.seconds, 0);
    EXPECT_EQ(launch.gapBefore, std::nullopt);

    EXPECT_FALSE(rangesIn({{"ranges", 7}}));
    EXPECT_FALSE(rangesIn({{"ranges", {{{"name", "0"}}}}}));
    const auto ranges =
        rangesIn({{"ranges", {{{"name", "0"}, {"counters", {{"a", 1.5}, {"b", "x"}}}}}},
                  {"mode", "kernels, call repeated"},
                  {"passes", 12},
                  {"left_out", {"c", 7}}});
    ASSERT_TRUE(ranges);
    EXPECT_EQ(ranges->ranges[0].counters, (std::map<std::string, double>{{"a", 1.5}}));
    EXPECT_EQ(ranges->passes, 12);
    EXPECT_FALSE(ranges->bySteps);
    EXPECT_EQ(ranges->leftOut, std::vector<std::string>{"c"});
}

TEST(Answers, CountersGoToKernelsByTheirNumber) {
    auto launches = kernels({0, 1});
    launches.insert(launches.begin() + 1, Launch{});
    launches[1].kind = LaunchKind::memset;
    CountedRanges counted;
    counted.ranges = {{"1", {{"a", 2}}}, {"0", {{"a", 1}}}};
    EXPECT_TRUE(assignCounters(launches, counted).empty());
    EXPECT_EQ(launches[0].counters.at("a"), 1);
    EXPECT_TRUE(launches[1].counters.empty()) << "a fill has none";
    EXPECT_EQ(launches[2].counters.at("a"), 2);

    counted.ranges.push_back({"2", {}});
    for (auto &launch : launches)
        launch.counters.clear();
    const auto notes = assignCounters(launches, counted);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0], "hardware counters: left out, 3 kernels were counted and 2 were traced");
    EXPECT_TRUE(launches[0].counters.empty());
}

TEST(Answers, CountersOfAStepGoToItsLongestKernel) {
    auto launches = kernels({0, 2, 2});
    CountedRanges counted;
    counted.bySteps = true;
    counted.ranges = {{"0", {{"a", 1}}}, {"2", {{"a", 5}}}, {"9", {{"a", 7}}}};
    const auto notes = assignCounters(launches, counted);
    EXPECT_EQ(launches[0].counters.at("a"), 1);
    EXPECT_TRUE(launches[1].counters.empty());
    EXPECT_EQ(launches[2].counters.at("a"), 5);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_TRUE(notes[0].starts_with("step 2: its counters are those of all its 2 kernels"));
}

TEST(Answers, SamplesAreReadByLine) {
    EXPECT_FALSE(samplesIn({{"functions", 1}}));
    const Json line{{"file", "k.cu"},
                    {"line", 9},
                    {"samples", 60},
                    {"stalls", {{"long_scoreboard", 45}, {"wait", 15}, {"odd", "x"}}}};
    const Json other{{"file", "k.cu"}, {"line", 7}, {"samples", 20}, {"stalls", 3}};
    const Json nowhere{{"file", "k.cu"}, {"line", 0}, {"samples", 5}};
    const auto sampled =
        samplesIn({{"functions",
                    {{{"name", "k"}, {"samples", 100}, {"lines", {other, line, nowhere, 7}}},
                     {{"name", "many"}, {"samples", 1}, {"lines", std::vector<Json>(50, line)}},
                     "none"}},
                   {"samples", 120},
                   {"dropped", 2}});
    ASSERT_TRUE(sampled) << sampled.error().message;
    EXPECT_EQ(sampled->samples, 120u);
    EXPECT_EQ(sampled->dropped, 2u);
    const auto &lines = sampled->lines.at("k");
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].line, 9);
    EXPECT_DOUBLE_EQ(lines[0].share, 0.6);
    EXPECT_EQ(lines[0].stall, "long_scoreboard");
    EXPECT_DOUBLE_EQ(lines[0].stallShare, 0.75);
    EXPECT_EQ(lines[1].stall, "");
    EXPECT_EQ(sampled->lines.at("many").size(), 32u);
    EXPECT_LE(sampled->lines.at("many")[0].share, 1);
}

TEST(Answers, ARefusalSaysWhatToDo) {
    EXPECT_FALSE(refusalIn(Json::object()));
    const auto refused = refusalIn({{"refused",
                                     {{"call", "cuptiRangeProfilerEnable"},
                                      {"status", 35},
                                      {"name", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
                                      {"text", "no"}}}});
    ASSERT_TRUE(refused);
    EXPECT_TRUE(refused->lacksPrivileges());
    EXPECT_EQ(sentenceOf(*refused, "hardware counters"),
              "hardware counters: not measured, the driver keeps them for administrators; run as "
              "root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0 "
              "(cuptiRangeProfilerEnable said 35 CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: no)");
    // Each cause has a sentence of its own.
    std::set<std::string> sentences;
    for (const int status : {35, 33, 38, 26, 41, 42, 43, 45, 999})
        sentences.insert(sentenceOf({"c", status, "N", "t"}, "x").substr(0, 60));
    EXPECT_EQ(sentences.size(), 9u);
    const auto missing = sentenceOf({"dlopen", 0, "", "libcupti.so.13: no such file"}, "times");
    EXPECT_NE(missing.find("nvidia-cuda-cupti"), std::string::npos);
}

} // namespace cuda_agent::profile
