// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/datasheet.h"
#include "core/profile/metrics.h"
#include "tests/core/profile/known_kernels.h"

#include <gtest/gtest.h>

#include <set>

namespace cuda_agent::profile {

namespace {

const Roof *roofNamed(const std::vector<Roof> &roofs, std::string_view name) {
    for (const auto &roof : roofs)
        if (roof.name == name)
            return &roof;
    return nullptr;
}

} // namespace

TEST(Derive, CopyComesToItsBytesAndShares) {
    const Report report = known::reportOf({known::copy()});
    const Launch &launch = report.launches[0];
    EXPECT_EQ(launch.traffic.dram(), 2 * known::bytes);
    EXPECT_EQ(launch.traffic.l2, 2 * known::bytes);
    EXPECT_EQ(launch.globalLoads.sectorsPerRequest(), 16);
    EXPECT_EQ(launch.globalLoads.leastSectorsPerRequest(), 16);
    EXPECT_EQ(launch.operations.fp32, 0);
    EXPECT_EQ(launch.operations.fp16, std::nullopt) << "no counter, no figure";
    const Roof *dram = roofNamed(launch.roofs, "DRAM");
    ASSERT_NE(dram, nullptr);
    EXPECT_NEAR(dram->rate, 4.0e12, 1);
    EXPECT_NEAR(*dram->ofMeasured, 4.0 / 4.24, 1e-9);
    EXPECT_NEAR(*dram->ofDatasheet, 4.0 / 4.8, 1e-9);
    EXPECT_EQ(dram->intensity, 0);
    // 256 threads, 14 registers: 8 blocks of 8 warps; 65536 blocks are 62.06 rounds of 132 x 8.
    EXPECT_EQ(launch.theoretical->blocks, 8);
    EXPECT_NEAR(*launch.waves, 65536.0 / (132 * 8), 1e-9);
    EXPECT_NEAR(*launch.tail, 1 - 65536.0 / (132 * 8) / 63, 1e-9);
    EXPECT_EQ(launch.achievedOccupancy, 0.88);
    ASSERT_EQ(launch.stalls.size(), 3u);
    EXPECT_EQ(launch.stalls[0].name, "long_scoreboard");
    EXPECT_NEAR(launch.stalls[0].share, 0.9, 1e-12);
}

TEST(Derive, OperationsCountPairsAndMultiplyAdds) {
    Launch launch = known::launchOf("k", 1, 32, 1e-6);
    const auto instructions = [&](const char *name, double count) {
        launch.counters[fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum", name)] =
            count;
    };
    instructions("fadd", 1);
    instructions("fmul", 10);
    instructions("ffma", 100);
    instructions("hadd", 1);
    instructions("hmul", 10);
    instructions("hfma", 100);
    launch.counters["sm__ops_path_tensor_src_fp16_dst_fp16.sum"] = 7;
    launch.counters["sm__ops_path_tensor_src_fp16_dst_fp32.sum"] = 8;
    launch.counters["sm__ops_path_tensor_src_tf32_dst_fp32.sum"] = 9;
    const Report report = known::reportOf({launch});
    const Operations &operations = report.launches[0].operations;
    EXPECT_EQ(operations.fp32, 211);
    EXPECT_EQ(operations.fp16, 2 + 20 + 400);
    EXPECT_EQ(operations.fp64, std::nullopt);
    EXPECT_EQ(operations.tensorFp16, 15);
    EXPECT_EQ(operations.tensor(), 24);
    EXPECT_EQ(operations.all(), 211 + 422 + 24);
}

TEST(Derive, ChipsThatHaveOneCounterForHalfProducts) {
    Launch launch = known::launchOf("k", 1, 32, 1e-6);
    launch.counters["sm__ops_path_tensor_src_fp16.sum"] = 20;
    launch.counters["dram__bytes_op_read.sum"] = 5;
    launch.counters["dram__bytes_op_write.sum"] = 6;
    const Report report = known::reportOf({launch});
    EXPECT_EQ(report.launches[0].operations.tensorFp16, 20);
    EXPECT_EQ(report.launches[0].traffic.dram(), 11);
}

TEST(Derive, NoTimeGivesNoRates) {
    Launch launch = known::copy();
    launch.seconds = 0;
    const Report report = known::reportOf({launch});
    EXPECT_TRUE(report.launches[0].roofs.empty());
    EXPECT_TRUE(report.roofs.empty());
    EXPECT_EQ(report.gapShare, std::nullopt);
    EXPECT_TRUE(report.findings.empty());
}

TEST(Derive, SumsNeedEveryLaunch) {
    Launch bare = known::launchOf("bare", 132, 128, 1e-6);
    const Report both = known::reportOf({known::copy(), bare});
    EXPECT_EQ(both.traffic.dramRead, std::nullopt) << "one launch has no counter";
    Launch memset = bare;
    memset.kind = LaunchKind::memset;
    const Report filled = known::reportOf({known::copy(), memset, known::stridedCopy()});
    EXPECT_EQ(filled.traffic.dramRead, 3 * known::bytes) << "fills have no counters of their own";
    EXPECT_NEAR(filled.busySeconds, 2 * known::bytes / 4.0e12 + 401e-6, 1e-12);
    EXPECT_NEAR(filled.launches[0].share, filled.launches[0].seconds / filled.busySeconds, 1e-12);
}

TEST(Derive, GapsAreWhatTheLaunchesLeave) {
    const Report report = known::reportOf({known::copy()}, 200e-6);
    EXPECT_NEAR(*report.gapShare, 1 - 2 * known::bytes / 4.0e12 / 200e-6, 1e-9);
    const Report overlapping = known::reportOf({known::copy()}, 100e-6);
    EXPECT_EQ(overlapping.gapShare, 0) << "never negative";
}

TEST(Derive, Waves) {
    EXPECT_EQ(wavesOf(0, 132, 2), std::nullopt);
    EXPECT_EQ(wavesOf(10, 132, 0), std::nullopt);
    const auto whole = wavesOf(264, 132, 2);
    EXPECT_EQ(whole->waves, 1);
    EXPECT_EQ(whole->tail, 0);
    const auto more = wavesOf(284, 132, 2);
    EXPECT_NEAR(more->waves, 1.07576, 1e-5);
    EXPECT_NEAR(more->tail, 0.46212, 1e-5);
}

TEST(Derive, OnTheCpuThePlanCounts) {
    Report report = known::emptyReport();
    report.device.kind = device::Kind::cpu;
    report.ceilings = {20e9, 400e9, 0, 0, {}};
    Launch launch;
    launch.kind = LaunchKind::step;
    launch.seconds = 1e-3;
    launch.countedBytes = 10'000'000;
    launch.countedOperations = 1e8;
    report.launches = {launch};
    report.countedBytes = 8'000'000;
    report.spanSeconds = 2e-3;
    deriveLaunch(report.launches[0], report);
    deriveTotals(report);
    const auto &roofs = report.launches[0].roofs;
    ASSERT_EQ(roofs.size(), 2u);
    EXPECT_EQ(roofs[0].name, "counted bytes");
    EXPECT_NEAR(*roofs[0].ofMeasured, 0.5, 1e-12);
    EXPECT_NEAR(*roofs[0].intensity, 10, 1e-12);
    EXPECT_NEAR(*roofs[1].ofMeasured, 0.25, 1e-12);
    EXPECT_EQ(report.gapShare, std::nullopt);
    ASSERT_EQ(report.roofs.size(), 1u) << "the task counts no operations";
    EXPECT_NEAR(*report.roofs[0].ofMeasured, 0.2, 1e-12);
}

TEST(Datasheet, KnowsCardsByWholeNames) {
    EXPECT_EQ(datasheetOf("NVIDIA H200")->bytesPerSecond, 4.8e12);
    EXPECT_EQ(datasheetOf("NVIDIA H200 NVL")->fp32, 60e12);
    EXPECT_EQ(datasheetOf("NVIDIA L40S")->bytesPerSecond, 0.864e12);
    EXPECT_EQ(datasheetOf("NVIDIA L4")->bytesPerSecond, 0.3e12);
    EXPECT_FALSE(datasheetOf("NVIDIA L40"));
    EXPECT_FALSE(datasheetOf("AMD EPYC"));
}

TEST(Metrics, EveryNameOnce) {
    const auto names = wantedMetrics();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    EXPECT_GT(names.size(), 60u);
}

} // namespace cuda_agent::profile
