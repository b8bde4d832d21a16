// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/tools/judge_summary.h"

#include <gtest/gtest.h>

namespace cuda_agent::tools {
namespace {

const Json correct{{"correct", true},
                   {"reward", 3},
                   {"times",
                    {{"candidate", {{"seconds", 0.00125}}},
                     {"eager", {{"seconds", 0.003125}}},
                     {"compile", {{"seconds", 0.001875}}}}},
                   {"speedup", {{"eager", 2.5}, {"compile", 1.5}}},
                   {"fraction_of_limit", 0.91},
                   {"limit_seconds", 0.0011375},
                   {"limited_by", "memory"},
                   {"kernels", {{{"name", "rows"}, {"registers", 40}, {"spill_bytes", 0}}}}};

TEST(Summary, SaysWhatAPersonWantsToKnow) {
    EXPECT_EQ(summaryOf({{"correct", false}, {"problem", "guard zones: wrote outside"}}),
              "guard zones: wrote outside");
    EXPECT_EQ(summaryOf(correct), "correct, reward 3: 1.250 ms, 2.50x eager, 1.50x torch.compile, "
                                  "91 % of this machine's limit");
    EXPECT_EQ(formatSeconds(1.5e-5), "15.0 us");
    EXPECT_EQ(formatSeconds(2), "2.00 s");
}

TEST(Summary, ReportsEvidenceAndResources) {
    const std::string report = reportOf(correct);
    EXPECT_NE(report.find("baselines: compile 1.875 ms, eager 3.125 ms\n"), std::string::npos);
    EXPECT_NE(report.find("kernel rows: 40 registers a thread, 0 bytes spilled\n"),
              std::string::npos);
    const std::string wrong = reportOf({{"correct", false},
                                        {"problem", "does not compile"},
                                        {"failed_check", {{"name", "random"}, {"index", 7}}},
                                        {"diagnostics",
                                         {{{"file", "kernels/a.cu"},
                                           {"line", 3},
                                           {"column", 7},
                                           {"severity", "error"},
                                           {"message", "expected ';'"}}}}});
    EXPECT_EQ(wrong, "does not compile\nkernels/a.cu:3:7: error: expected ';'\n"
                     "failed check: {\"index\":7,\"name\":\"random\"}\n");
}

TEST(Summary, FieldsOfAnotherTypeAreAbsent) {
    // Verdicts are read back from logs that anybody may have written.
    for (const Json &verdict :
         {Json(), Json("text"), Json::array({1, 2}), Json{{"correct", "yes"}},
          Json{{"correct", true}}, Json{{"correct", true}, {"times", 7}, {"reward", "high"}},
          Json{{"correct", false}, {"problem", {{"a", 1}}}},
          Json{{"correct", true},
               {"times", {{"candidate", "fast"}, {"eager", 3}, {"compile", {{"seconds", "x"}}}}},
               {"speedup", {{"eager", nullptr}}},
               {"flags", {1, "odd", nullptr}},
               {"kernels", {"k", {{"name", 5}, {"registers", "many"}}}},
               {"diagnostics", {3, {{"line", "x"}, {"message", 4}}}},
               {"failed_check", 12}}}) {
        EXPECT_FALSE(summaryOf(verdict).empty());
        EXPECT_NE(reportOf(verdict).find(summaryOf(verdict)), std::string::npos);
        EXPECT_FALSE(profileOf(verdict, verdict, verdict).empty());
    }
    EXPECT_EQ(summaryOf({{"correct", true}, {"reward", 1}}), "correct, reward 1, not timed");
    EXPECT_EQ(reportOf({{"correct", "yes"}, {"flags", {1, "odd"}}}), "not correct\nflag: odd\n");
}

TEST(Summary, ProfilesAgainstMeasuredCeilings) {
    const std::string profile =
        profileOf(correct,
                  {{"ceilings",
                    {{"copy_bytes_per_second", 4e12},
                     {"fp32_flops_per_second", 5e13},
                     {"tf32_flops_per_second", 3e14},
                     {"half_flops_per_second", 7e14}}}},
                  {{"counted_bytes", 2.5e9}, {"matmul_flops", 1e10}, {"convolution_flops", 0}});
    EXPECT_NE(profile.find("2000 GB/s are achieved of 4000 GB/s that a copy reaches here (50 %)"),
              std::string::npos)
        << profile;
    EXPECT_NE(profile.find("10.00 GFLOP, 8.00 TFLOP/s achieved"), std::string::npos) << profile;
    EXPECT_NE(profile.find("50.0 in fp32, 300.0 in TF32, 700.0 in 16-bit types\n"),
              std::string::npos)
        << profile;
    EXPECT_NE(profile.find("are counted from the task"), std::string::npos);
}

} // namespace
} // namespace cuda_agent::tools
