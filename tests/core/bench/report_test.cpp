// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/html_plots.h"
#include "core/bench/report.h"
#include "tests/core/bench/records.h"

#include <gtest/gtest.h>

namespace cuda_agent::bench {
namespace {

bool holds(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

std::vector<Record> hostile() {
    auto algebra = correct("1/3", 100, 50);
    algebra.algebra = true;
    auto bad = failed("1/2", Outcome::wrong, "</td><script>alert('1')</script> | `x` & \"y\"");
    bad.name = "<b>|name\n# title";
    return {correct("1/1", 4, 2), bad, algebra};
}

const Heading heading{"suite <1>: planner", {{"suite", "</pre>"}}, 12.4, 0.75, false};

TEST(Reports, WhatComesFromOutsideIsEscapedInHtml) {
    const auto records = hostile();
    const auto html = htmlReport(heading, records, summarise(records));
    EXPECT_FALSE(holds(html, "<script>alert"));
    EXPECT_FALSE(holds(html, "</pre>\""));
    EXPECT_FALSE(holds(html, "<b>"));
    EXPECT_TRUE(holds(html, "&lt;script&gt;alert(&#39;1&#39;)"));
    EXPECT_TRUE(holds(html, "<title>suite &lt;1&gt;: planner</title>"));
}

TEST(Reports, ThePageIsSelfContained) {
    const auto records = hostile();
    const auto html = htmlReport(heading, records, summarise(records));
    for (const char *outside : {"http://", "https://", "src=", "@import", "url("})
        EXPECT_FALSE(holds(html, outside)) << outside;
    EXPECT_TRUE(holds(html, "<svg"));
    EXPECT_TRUE(holds(html, "Not all tasks have been evaluated yet"));
    EXPECT_TRUE(holds(html, "GPU busy: 75 %"));
    EXPECT_TRUE(holds(html, "By algebra"));
    EXPECT_TRUE(holds(html, "4.00x"));
}

TEST(Reports, TheSpeedupPlotHasOneMarkForEachCorrectRecord) {
    const auto records = hostile();
    std::vector<const Record *> all;
    for (const auto &record : records)
        all.push_back(&record);
    const auto svg = speedupPlot(all, "eager");
    std::size_t marks = 0;
    for (auto at = svg.find("<circle"); at != svg.npos; at = svg.find("<circle", at + 1))
        ++marks;
    EXPECT_EQ(marks, 2u);
    EXPECT_TRUE(holds(svg, "1/3 task_3: 100.00x"));
    EXPECT_TRUE(speedupPlot({&records[1]}, "eager").empty());
}

TEST(Reports, MarkdownCellsStayCells) {
    const auto records = hostile();
    const auto text = markdownReport(heading, records, summarise(records));
    EXPECT_FALSE(holds(text, "\n# title"));
    EXPECT_TRUE(holds(text, "\\<b>\\|name # title"));
    EXPECT_TRUE(holds(text, "- device: a card"));
    EXPECT_TRUE(holds(text, "correct, by algebra"));
    EXPECT_TRUE(holds(text, "| all | 3 | 2 | 0 | eager | 2 | 2 | 20.00x |"));
}

TEST(Reports, NothingJudgedIsNoCrash) {
    const std::vector<Record> records{failed("1/1", Outcome::machine, "no GPU")};
    EXPECT_TRUE(holds(htmlReport(heading, records, summarise(records)), "no GPU"));
    EXPECT_TRUE(holds(markdownReport(heading, records, summarise(records)), "no GPU"));
    EXPECT_TRUE(holds(htmlReport(heading, {}, {}), "</html>"));
}

TEST(Reports, FiguresReadWell) {
    EXPECT_EQ(timeText(0), "-");
    EXPECT_EQ(timeText(12.34e-6), "12.3 us");
    EXPECT_EQ(timeText(1.5e-3), "1.500 ms");
    EXPECT_EQ(timeText(2), "2.00 s");
    EXPECT_EQ(factorText(std::nullopt), "-");
    EXPECT_EQ(factorText(1.234), "1.23x");
}

} // namespace
} // namespace cuda_agent::bench
