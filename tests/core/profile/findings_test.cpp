// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/profile/known_kernels.h"

#include <gtest/gtest.h>

namespace cuda_agent::profile {

using known::find;
using known::reportOf;

TEST(Findings, ACopyAtTheLimitIsToldToStop) {
    const Report report = reportOf({known::copy()});
    ASSERT_EQ(report.findings.size(), 1u) << toJson(report)["findings"].dump(1);
    const Finding &finding = report.findings[0];
    EXPECT_EQ(finding.rule, "dram-bound");
    EXPECT_TRUE(finding.stop);
    EXPECT_EQ(finding.message, "copy is bound by DRAM at 94 % of its measured ceiling: stop here, "
                               "unless it can move or compute less");
    EXPECT_NEAR(finding.gain, 4.24 / 4.0, 1e-9);
    EXPECT_EQ(finding.file, "kernels/k.cu");
    EXPECT_EQ(finding.line, 3);
    EXPECT_NEAR(finding.evidence["of_measured"].get<double>(), 4.0 / 4.24, 1e-9);
}

TEST(Findings, BetweenBoundAndLimitItGoesOn) {
    Launch launch = known::copy();
    launch.seconds = 2 * known::bytes / (0.85 * 4.24e12);
    const Report report = reportOf({launch});
    ASSERT_NE(find(report, "dram-bound"), nullptr);
    EXPECT_FALSE(find(report, "dram-bound")->stop);
    EXPECT_NEAR(find(report, "dram-bound")->gain, 1 / 0.85, 1e-9);
}

TEST(Findings, UncoalescedLoads) {
    const Report report = reportOf({known::stridedCopy()});
    const Finding *finding = find(report, "uncoalesced-loads");
    ASSERT_NE(finding, nullptr);
    EXPECT_TRUE(finding->message.starts_with("uncoalesced loads in strided_copy: 32.0 sectors per "
                                             "request where 4.0 suffice"))
        << finding->message;
    EXPECT_NEAR(finding->gain, 8, 1e-9) << "no arithmetic limits it";
    EXPECT_EQ(find(report, "uncoalesced-stores"), nullptr);

    Launch without = known::stridedCopy();
    without.counters.erase("smsp__sass_data_bytes_mem_global_op_ld.sum");
    EXPECT_EQ(find(reportOf({without}), "uncoalesced-loads"), nullptr)
        << "32 sectors may be wide loads";
}

TEST(Findings, AShareOfTheCallBoundsTheGain) {
    // Half of the call, eight times as fast: 1 / (0.5 + 0.5 / 8).
    const Report report = reportOf({known::stridedCopy()}, 800e-6);
    EXPECT_NEAR(find(report, "uncoalesced-loads")->gain, 1 / (0.5 + 0.5 / 8), 1e-9);
    ASSERT_NE(find(report, "launch-gaps"), nullptr);
    EXPECT_NEAR(find(report, "launch-gaps")->gain, 2, 1e-9);
    EXPECT_EQ(find(report, "launch-gaps")->launch, -1);
    EXPECT_EQ(report.findings[0].rule, "launch-gaps") << "the largest gain first";
}

TEST(Findings, TrafficThatComesTwice) {
    // 3 x 256 MiB in 270 us are 2.98 TB/s, 70 % of the ceiling; the plan has 2 x 256 MiB.
    Launch launch = known::stridedCopy();
    launch.seconds = 270e-6;
    const Report report = reportOf({launch});
    const Finding *finding = find(report, "excess-dram-traffic");
    ASSERT_NE(finding, nullptr);
    EXPECT_NEAR(finding->gain, 1.5, 1e-9);
    launch.countedBytes = 1 << 20; // would fit into L2
    EXPECT_EQ(find(reportOf({launch}), "excess-dram-traffic"), nullptr);
}

TEST(Findings, BankConflicts) {
    const Report report = reportOf({known::conflictingTranspose()});
    const Finding *finding = find(report, "bank-conflicts-loads");
    ASSERT_NE(finding, nullptr);
    EXPECT_NEAR(finding->evidence["conflict_share"].get<double>(), 31.0 / 32, 1e-9);
    EXPECT_NEAR(finding->evidence["busy"].get<double>(), 67108864.0 / (132 * 4e6), 1e-9);
    EXPECT_NEAR(finding->gain, 1 / (1 - 67108864.0 / (132 * 4e6)), 1e-9)
        << "all that the pipe's time can give back";
    EXPECT_EQ(find(report, "bank-conflicts-stores"), nullptr);

    Launch idle = known::conflictingTranspose();
    idle.counters["sm__cycles_elapsed.max"] = 4e7; // 1.3 % busy
    EXPECT_EQ(find(reportOf({idle}), "bank-conflicts-loads"), nullptr);
}

TEST(Findings, LowOccupancyNamesItsLimiter) {
    const Report report = reportOf({known::fewWarps()});
    const Finding *finding = find(report, "low-occupancy");
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->message,
              "few_warps reaches 12 % occupancy, limited to 12 % by shared memory");
    EXPECT_EQ(finding->evidence["limiters"], "shared memory");
    EXPECT_EQ(finding->evidence["theoretical_occupancy"], 0.125);
    // 512 MiB in 500 us are 1.07 TB/s, a quarter of the ceiling.
    EXPECT_NEAR(finding->gain, 4.24e12 / (2 * known::bytes / 500e-6), 1e-9);
    const Finding *stall = find(report, "stall");
    ASSERT_NE(stall, nullptr);
    EXPECT_EQ(stall->evidence["stall"], "long_scoreboard");
    EXPECT_NEAR(stall->evidence["share"].get<double>(), 18.0 / 25, 1e-9);

    Launch busy = known::fewWarps();
    busy.counters["smsp__issue_active.avg.pct_of_peak_sustained_active"] = 85;
    const Report issuing = reportOf({busy});
    EXPECT_EQ(find(issuing, "low-occupancy"), nullptr) << "few warps keep it busy";
    EXPECT_EQ(find(issuing, "stall"), nullptr);
    EXPECT_NE(find(issuing, "issue-bound"), nullptr);
}

TEST(Findings, AStallHasTheLineWhereMostWait) {
    Launch launch = known::fewWarps();
    launch.lines = {{"kernels/k.cu", 20, 500, 0.5, "wait", 0.9},
                    {"kernels/k.cu", 17, 400, 0.4, "long_scoreboard", 0.8},
                    {"kernels/k.cu", 18, 100, 0.1, "long_scoreboard", 0.8}};
    const Report report = reportOf({launch});
    ASSERT_NE(find(report, "stall"), nullptr);
    EXPECT_EQ(find(report, "stall")->line, 17);
    EXPECT_TRUE(find(report, "stall")->message.ends_with("most of them in line 17"));
    launch.lines = {{"cuda_fp16.h", 17, 400, 0.4, "long_scoreboard", 0.8}};
    EXPECT_EQ(find(reportOf({launch}), "stall")->line, 3) << "not a line of the candidate";
}

TEST(Findings, BlocksOfDifferentLength) {
    Launch launch = known::fewWarps();
    launch.theoretical = known::launchOf("k", 2640, 128, 1, 32, 0).theoretical;
    launch.counters["sm__warps_active.avg.pct_of_peak_sustained_active"] = 30;
    const Report report = reportOf({launch});
    ASSERT_NE(find(report, "low-occupancy"), nullptr);
    EXPECT_NE(
        find(report, "low-occupancy")->message.find("30 % occupancy where 100 % are possible"),
        std::string::npos);
}

TEST(Findings, Tail) {
    // 284 blocks of 1024 threads, two an SM: 1.076 waves take the time of two.
    Launch launch = known::launchOf("tail", 284, 1024, 1e-3, 8);
    launch.counters = {{"dram__bytes_read.sum", 1e6}, {"dram__bytes_write.sum", 1e6}};
    const Report report = reportOf({launch});
    ASSERT_NE(find(report, "tail"), nullptr);
    EXPECT_NEAR(find(report, "tail")->gain, 2 / (284.0 / 264), 1e-9);
    launch.grid = {66, 1, 1};
    const Report small = reportOf({launch});
    ASSERT_NE(find(small, "small-grid"), nullptr);
    EXPECT_NEAR(find(small, "small-grid")->gain, 4, 1e-9);
}

TEST(Findings, Spills) {
    Launch launch = known::fewWarps();
    launch.spillBytes = 856;
    launch.counters["l1tex__t_bytes.sum"] = 4 * known::bytes;
    launch.counters["l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"] = known::bytes;
    launch.counters["l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"] = known::bytes;
    const Report report = reportOf({launch});
    ASSERT_NE(find(report, "spills"), nullptr);
    EXPECT_NEAR(find(report, "spills")->gain, 2, 1e-9);
    launch.counters["l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"] = 0;
    launch.counters["l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"] = 0;
    EXPECT_EQ(find(reportOf({launch}), "spills"), nullptr) << "on a way that was not taken";
}

TEST(Findings, DivergenceAndAtomics) {
    Launch launch = known::stridedCopy();
    launch.counters["smsp__inst_executed.sum"] = 1e6;
    launch.counters["smsp__thread_inst_executed_pred_on.sum"] = 16.5e6;
    launch.counters["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"] = known::elements / 32;
    const Report report = reportOf({launch});
    ASSERT_NE(find(report, "divergence"), nullptr);
    EXPECT_NEAR(find(report, "divergence")->gain, 32 / 16.5, 1e-9);
    ASSERT_NE(find(report, "atomics"), nullptr);
    EXPECT_NE(find(report, "atomics")->message.find("33 %"), std::string::npos);
}

TEST(Findings, TensorCoresBelowTheirCeiling) {
    const Report report = reportOf({known::halfProduct()});
    EXPECT_EQ(find(report, "tensor-bound"), nullptr);
    Launch fast = known::halfProduct();
    fast.seconds = 2.0 * 2048 * 2048 * 2048 / (0.93 * 700e12);
    const Report limit = reportOf({fast});
    ASSERT_NE(find(limit, "tensor-bound"), nullptr);
    EXPECT_TRUE(find(limit, "tensor-bound")->stop);
    EXPECT_EQ(find(limit, "divergence"), nullptr) << "all 32 lanes";
}

TEST(Findings, ALibrarysKernelIsOnlyHeldAgainstItsCeiling) {
    Launch launch = known::stridedCopy();
    launch.file.clear();
    launch.label = "gemm (step 0)";
    const Report report = reportOf({launch});
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].rule, "library-below-limit");
    // 768 MiB in 400 us are 2.01 TB/s.
    EXPECT_NEAR(report.findings[0].gain, 4.24e12 / (3 * known::bytes / 400e-6), 1e-9);
}

TEST(Findings, NothingWithoutCountersOrTime) {
    Launch bare = known::launchOf("bare", 132 * 8 * 40, 256, 1e-4);
    EXPECT_TRUE(reportOf({bare}).findings.empty());
    Launch brief = known::stridedCopy();
    brief.seconds = 1e-9;
    EXPECT_EQ(find(reportOf({known::copy(), brief}), "uncoalesced-loads"), nullptr)
        << "too short to matter";
}

} // namespace cuda_agent::profile
