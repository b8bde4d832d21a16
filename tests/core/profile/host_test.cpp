// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The host side of CUPTI needs its library, but no GPU: it knows the metrics of every chip.
#include "core/profile/metrics.h"
#include "core/profile/process/counters.h"
#include "core/profile/process/sampling.h"
#include "core/profile/profiler.h"
#include "core/toolchain/compiler.h"

#include <gtest/gtest.h>

#include <set>

namespace cuda_agent::profile::process {

namespace {

class CuptiHost : public testing::Test {
  protected:
    void SetUp() override {
        std::vector<std::string> folders;
        for (const auto &folder : cuptiFolders())
            folders.push_back(folder);
        const auto loaded = Cupti::load(folders);
        if (!loaded)
            GTEST_SKIP() << loaded.error().text;
        cupti_ = *loaded;
    }
    const Cupti *cupti_ = nullptr;
};
class CuptiChip : public CuptiHost, public testing::WithParamInterface<const char *> {};

bool has(const std::vector<std::string> &names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

TEST_P(CuptiChip, HasWhatAReportIsMadeOf) {
    auto host = Host::open(*cupti_, GetParam(), {});
    ASSERT_TRUE(host) << toJson(host.error());
    const auto schedule = host->schedule(wantedMetrics());
    ASSERT_TRUE(schedule) << toJson(schedule.error());
    EXPECT_EQ(schedule->metrics.size() + schedule->leftOut.size(), wantedMetrics().size());
    EXPECT_GE(schedule->passes, 2u);
    EXPECT_LE(schedule->passes, 40u) << "each is a run of the candidate";
    EXPECT_FALSE(schedule->config.empty());
    const auto &there = schedule->metrics;
    EXPECT_TRUE(has(there, "dram__bytes_read.sum") || has(there, "dram__bytes_op_read.sum"));
    EXPECT_TRUE(has(there, "dram__bytes_write.sum") || has(there, "dram__bytes_op_write.sum"));
    for (const char *name :
         {"lts__t_bytes.sum", "l1tex__t_bytes.sum", "smsp__sass_data_bytes_mem_shared.sum",
          "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
          "sm__warps_active.avg.pct_of_peak_sustained_active",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
          "smsp__sass_data_bytes_mem_global_op_ld.sum",
          "smsp__issue_active.avg.pct_of_peak_sustained_active"})
        EXPECT_TRUE(has(there, name)) << name;
    for (const char *reason : {"long_scoreboard", "barrier", "wait", "no_instruction"})
        EXPECT_TRUE(has(there, stallMetric(reason))) << reason;
    // Turing's tensor cores have no counter of operations.
    const bool counts = has(there, "sm__ops_path_tensor_src_fp16.sum") ||
                        has(there, "sm__ops_path_tensor_src_fp16_dst_fp32.sum");
    EXPECT_EQ(counts, std::string_view(GetParam()) != "TU102");
}

INSTANTIATE_TEST_SUITE_P(Chips, CuptiChip,
                         testing::Values("TU102", "GA100", "GA102", "AD102", "GH100", "GB100",
                                         "GB202"),
                         [](const auto &chip) { return std::string(chip.param); });

TEST_F(CuptiHost, AnUnknownMetricIsLeftOutAndAnUnknownChipRefused) {
    auto host = Host::open(*cupti_, "GH100", {});
    ASSERT_TRUE(host);
    const auto schedule = host->schedule({"dram__bytes_read.sum", "dram__prayers.sum"});
    ASSERT_TRUE(schedule);
    EXPECT_EQ(schedule->leftOut, std::vector<std::string>{"dram__prayers.sum"});
    // One that settles the machine has a pass to itself, though both would fit into one.
    auto settled = Host::open(*cupti_, "GH100", {});
    const auto more = settled->schedule({"dram__bytes_read.sum"}, "gpu__time_duration.sum");
    ASSERT_TRUE(more);
    EXPECT_EQ(more->metrics,
              (std::vector<std::string>{"gpu__time_duration.sum", "dram__bytes_read.sum"}));
    EXPECT_EQ(schedule->passes, 1u);
    EXPECT_EQ(more->passes, 2u);
    auto other = Host::open(*cupti_, "GH100", {});
    const auto none = other->schedule({"dram__prayers.sum"});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().call, "cuptiProfilerHostConfigAddMetrics");

    const auto unknown = Host::open(*cupti_, "XX100", {});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().call, "cuptiProfilerHostInitialize");
    EXPECT_NE(unknown.error().status, 0);
    EXPECT_TRUE(unknown.error().name.starts_with("CUPTI_ERROR_")) << unknown.error().name;
}

// Instructions of a kernel lead back to the lines that its author wrote.
TEST_F(CuptiHost, LinesOfInstructions) {
    auto compiler = toolchain::makeCudaCompiler("sm_90");
    if (!compiler)
        GTEST_SKIP() << compiler.error().message;
    toolchain::Source source;
    source.path = "kernels/k.cu";
    source.entries = {"k"};
    source.text = R"(// line 1
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * 256 + threadIdx.x;

    float v = x[i];
    v = sqrtf(v);

    y[i] = v;
}
)";
    const auto outcome = (*compiler)->compile(source);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const auto &binary = std::get<toolchain::Binary>(*outcome);
    const Cubins cubins(*cupti_, binary.file.parent_path());
    ASSERT_EQ(cubins.sums().size(), 1u) << "the facts beside it are no cubin";
    std::set<int> lines;
    for (std::uint64_t offset = 0; offset < 64 * 16; offset += 16)
        if (const auto place = cubins.lineOf(cubins.sums()[0], "k", offset)) {
            EXPECT_EQ(place->file, "k.cu");
            lines.insert(place->line);
        }
    for (const int line : {3, 5, 6, 8})
        EXPECT_TRUE(lines.contains(line)) << line;
    EXPECT_FALSE(lines.contains(4) || lines.contains(7));
    EXPECT_FALSE(cubins.lineOf(cubins.sums()[0], "other", 0));
    EXPECT_FALSE(cubins.lineOf(cubins.sums()[0] + 1, "k", 0));
}

} // namespace cuda_agent::profile::process
