// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sanitize/report.h"

#include <gtest/gtest.h>

namespace cuda_agent::sanitize {
namespace {

TEST(Report, ReadsWhatTheCheckerSays) {
    const auto report = fromChecker(Json::parse(R"json({"findings": [
        {"kind": "race", "step": "kernels/k.cu:k (step 0)", "buffer": "s", "message": "reads s",
         "count": 3, "place": {"file": "kernels/k.cu", "line": 7, "column": 5},
         "other": {"file": "kernels/k.cu", "line": 9, "column": 1}}], "left_out": 2})json"));
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(lineOf(report.findings[0]),
              "kernels/k.cu:7:5: race: reads s (the other access: kernels/k.cu:9:1) [3 times]");
    const auto json = toJson(report);
    EXPECT_EQ(json["clean"], false);
    EXPECT_EQ(json["left_out"], 2);
    EXPECT_EQ(json["findings"][0]["line"], 7);
    EXPECT_EQ(json["findings"][0]["other"]["line"], 9);
    EXPECT_EQ(toJson(Report{})["clean"], true);
}

/// The checking process runs the candidate's code, so its answer may be anything.
TEST(Report, BareNamesAreCompletedWhereOneFileHasThem) {
    sanitize::Report report;
    for (const char *file : {"k.cu", "both.cu", "kernels/k.cu", "", "other.cu"})
        report.findings.push_back({.tool = "",
                                   .kind = "race",
                                   .kernel = "",
                                   .buffer = "",
                                   .message = "",
                                   .place = sanitize::Place{file, 3, 0},
                                   .other = sanitize::Place{"k.cu", 4, 0}});
    sanitize::completePaths(report, {"kernels/k.cu", "kernels/both.cu", "more/both.cu", "ak.cu"});
    std::vector<std::string> files;
    for (const auto &finding : report.findings) {
        files.push_back(finding.place->file);
        EXPECT_EQ(finding.other->file, "kernels/k.cu");
    }
    EXPECT_EQ(files, (std::vector<std::string>{"kernels/k.cu", "both.cu", "kernels/k.cu", "",
                                               "other.cu"}));
}

TEST(Report, BelievesNothingButTheForm) {
    EXPECT_TRUE(fromChecker(Json::parse(R"({"findings": 7})")).findings.empty());
    EXPECT_TRUE(fromChecker(Json::parse(R"([1, 2])")).findings.empty());
    const auto report = fromChecker(Json::parse(R"({"findings": [3, {"kind": 5, "count": -1,
        "message": "\u001b[31mred", "place": {"line": 99999999999, "column": "x"}}]})"));
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, "");
    EXPECT_EQ(report.findings[0].count, 1u);
    EXPECT_EQ(report.findings[0].message.find('\033'), std::string::npos);
    EXPECT_EQ(report.findings[0].place->column, 0);
    Json many = Json::array();
    for (int i = 0; i < 1000; ++i)
        many.push_back({{"kind", "race"}});
    const auto cut = fromChecker({{"findings", many}});
    EXPECT_EQ(cut.findings.size() + cut.leftOut, 1000u);
    EXPECT_LE(cut.findings.size(), 200u);
}

} // namespace
} // namespace cuda_agent::sanitize
