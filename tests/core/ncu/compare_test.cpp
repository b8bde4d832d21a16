// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ncu/compare.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace cuda_agent;
using namespace cuda_agent::ncu;

namespace {

Report theirs() {
    return parseCsv(
               "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\","
               "\"launch__registers_per_thread\",\"other__count.sum\",\"none.sum\"\n"
               "\"\",\"\",\"Mbyte\",\"usecond\",\"register/thread\",\"\",\"\"\n"
               "\"0\",\"void rows<4, float>(float *, int)\",\"100\",\"10\",\"40\",\"7\",\"n/a\"\n"
               "\"1\",\"k(const float *)\",\"50\",\"5\",\"32\",\"0\",\"1\"\n"
               "\"2\",\"k(const float *)\",\"60\",\"6\",\"32\",\"0\",\"1\"\n"
               "\"3\",\"elsewhere(int)\",\"1\",\"1\",\"1\",\"1\",\"1\"\n")
        .value();
}

Json launch(const char *name, double seconds, Json counters, const char *kind = "kernel") {
    return {{"kind", kind},
            {"name", name},
            {"seconds", seconds},
            {"registers", 32},
            {"counters", std::move(counters)}};
}

const Difference *figure(const Comparison &comparison, int place, std::string_view metric) {
    for (const auto &each : comparison.figures)
        if (each.launch == place && each.metric == metric)
            return &each;
    return nullptr;
}

} // namespace

TEST(NcuCompare, FiguresOfTheSameName) {
    const Json ours{{"launches",
                     {launch("k", 5.5e-6, {{"dram__bytes_read.sum", 50e6}, {"none.sum", 1}}),
                      launch("memset", 1, Json::object(), "memset"),
                      launch("rows<4, float>", 10e-6, {{"dram__bytes_read.sum", 110e6}}),
                      launch("k", 6e-6, {{"dram__bytes_read.sum", 30e6}, {"other__count.sum", 3}}),
                      launch("k", 6e-6, Json::object()), launch("ours", 1, Json::object())}}};
    const auto comparison = compare(theirs(), ours);
    ASSERT_TRUE(comparison) << comparison.error().message;
    // The second launch of k is the one of 60 MB.
    EXPECT_DOUBLE_EQ(figure(*comparison, 3, "dram__bytes_read.sum")->theirs, 60e6);
    EXPECT_DOUBLE_EQ(figure(*comparison, 3, "dram__bytes_read.sum")->relative(), -0.5);
    EXPECT_TRUE(std::isinf(figure(*comparison, 3, "other__count.sum")->relative()));
    EXPECT_DOUBLE_EQ(figure(*comparison, 0, "dram__bytes_read.sum")->relative(), 0);
    EXPECT_NEAR(figure(*comparison, 0, "gpu__time_duration.sum")->relative(), 0.1, 1e-9);
    EXPECT_EQ(figure(*comparison, 0, "other__count.sum"), nullptr); // ours has none
    // Template arguments are part of the name, parameters are not.
    EXPECT_NEAR(figure(*comparison, 2, "dram__bytes_read.sum")->relative(), 0.1, 1e-9);
    EXPECT_DOUBLE_EQ(figure(*comparison, 2, "launch__registers_per_thread")->relative(), -0.2);
    EXPECT_EQ(comparison->notes,
              (std::vector<std::string>{"ncu has no launch 3 of k", "ncu has no launch 1 of ours",
                                        "only ncu has elsewhere"}));
    const auto json = toJson(*comparison);
    EXPECT_EQ(json["figures"].size(), comparison->figures.size());
    EXPECT_EQ(json["notes"].size(), 3u);
}

TEST(NcuCompare, AnyOtherJsonIsAnErrorOrHasNothing) {
    for (const Json &bad : {Json(), Json(3), Json::array(), Json::object(), Json{{"launches", 1}}})
        EXPECT_FALSE(compare(theirs(), bad)) << bad;
    for (const Json &empty :
         {Json{{"launches", Json::array()}}, Json{{"launches", {1, "x", nullptr}}},
          Json{{"launches", {{{"name", 1}}}}},
          Json{{"launches", {{{"name", "k"}, {"counters", 3}, {"seconds", "x"}}}}}}) {
        const auto comparison = compare(theirs(), empty);
        ASSERT_TRUE(comparison) << empty;
        EXPECT_TRUE(comparison->figures.empty()) << empty;
    }
}
