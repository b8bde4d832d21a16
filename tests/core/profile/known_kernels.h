// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/profile/derive.h"
#include "core/profile/findings.h"

// Kernels whose counters follow from their code, worked out by hand: what each warp asks for, times
// the warps. The card is like an H200: 132 SMs, a copy ceiling of 4.24 TB/s, 51 TFLOP/s in fp32.

namespace cuda_agent::profile::known {

constexpr double elements = 1 << 26; ///< floats in, floats out: 256 MiB each
constexpr double bytes = 4 * elements;

inline Report emptyReport() {
    Report report;
    report.device.kind = device::Kind::cuda;
    report.device.name = "NVIDIA H200";
    report.device.architecture = "sm_90";
    report.device.multiprocessors = 132;
    report.device.cacheBytes = 50u << 20;
    report.ceilings.copyBytesPerSecond = 4.24e12;
    report.ceilings.fp32FlopsPerSecond = 51e12;
    report.ceilings.tf32FlopsPerSecond = 370e12;
    report.ceilings.halfFlopsPerSecond = 700e12;
    report.ceilings.levels = {{"L1/shared", 33u << 20, 25e12}, {"L2", 50u << 20, 7e12}};
    return report;
}

/// A launch of `blocks` of `threads`, with the occupancy that its resources allow.
inline Launch launchOf(const char *name, std::uint32_t blocks, std::uint32_t threads,
                       double seconds, int registers = 32, std::int64_t shared = 0) {
    Launch launch;
    launch.name = name;
    launch.step = 0;
    launch.label = std::string("kernels/k.cu:") + name + " (step 0)";
    launch.file = "kernels/k.cu";
    launch.line = 3;
    launch.seconds = launch.low = launch.high = seconds;
    launch.grid = {blocks, 1, 1};
    launch.block = {threads, 1, 1};
    launch.registers = registers;
    launch.spillBytes = 0;
    launch.sharedStatic = 0;
    launch.sharedDynamic = shared;
    device::BlockNeeds needs;
    needs.threads = static_cast<int>(threads);
    needs.registers = registers;
    needs.dynamicShared = shared;
    launch.theoretical = device::occupancyOf(*device::findArchitecture("sm_90"), needs);
    return launch;
}

/// out[i] = in[i] with float4: a warp's request is 32 x 16 bytes = 16 sectors, all used.
/// 2^26 / 4 threads, 2^19 warps; 2 x 256 MiB in 134.2 us are 4.0 TB/s, 94.3 % of the ceiling.
inline Launch copy() {
    constexpr double warps = elements / 4 / 32;
    Launch launch = launchOf("copy", 1 << 16, 256, 2 * bytes / 4.0e12, 14);
    launch.countedBytes = static_cast<std::uint64_t>(2 * bytes);
    launch.counters = {
        {"dram__bytes_read.sum", bytes},
        {"dram__bytes_write.sum", bytes},
        {"lts__t_bytes.sum", 2 * bytes},
        {"l1tex__t_bytes.sum", 2 * bytes},
        {"smsp__sass_data_bytes_mem_shared.sum", 0},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", warps},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 16 * warps},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", bytes},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", warps},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 16 * warps},
        {"smsp__sass_data_bytes_mem_global_op_st.sum", bytes},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 0},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 0},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 88},
        {"smsp__issue_active.avg.pct_of_peak_sustained_active", 6},
        {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 45},
        {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1},
        {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", 4}};
    return launch;
}

/// out[i] = in[(i % 32) * n / 32 + i / 32]: each lane of a request has a sector of its own, of
/// which it uses 4 bytes of 32. L2 gives the rest away, so DRAM reads what the copy reads twice.
inline Launch stridedCopy() {
    constexpr double warps = elements / 32;
    Launch launch = launchOf("strided_copy", 1 << 18, 256, 400e-6, 10);
    launch.countedBytes = static_cast<std::uint64_t>(2 * bytes);
    launch.counters = {{"dram__bytes_read.sum", 2 * bytes},
                       {"dram__bytes_write.sum", bytes},
                       {"l1tex__t_bytes.sum", 32 * 32 * warps + bytes},
                       {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", warps},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 32 * warps},
                       {"smsp__sass_data_bytes_mem_global_op_ld.sum", bytes},
                       {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", warps},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 4 * warps},
                       {"smsp__sass_data_bytes_mem_global_op_st.sum", bytes}};
    return launch;
}

/// A transpose through tile[32][32], whose columns lie in one bank: a column read takes 32 passes
/// where one would do, a row write one. 2^21 warps of each; in 4 M cycles a bank pipe that serves a
/// pass a cycle on each of 132 SMs is busy for 2^26 / (132 * 4e6) = 12.7 % of them.
inline Launch conflictingTranspose() {
    constexpr double warps = elements / 32;
    Launch launch = launchOf("transpose", 1 << 16, 256, 300e-6, 32, 4096);
    launch.countedBytes = static_cast<std::uint64_t>(2 * bytes);
    launch.counters = {{"dram__bytes_read.sum", bytes},
                       {"dram__bytes_write.sum", bytes},
                       {"sm__cycles_elapsed.max", 4e6},
                       {"smsp__inst_executed_op_shared_ld.sum", warps},
                       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 32 * warps},
                       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 31 * warps},
                       {"smsp__inst_executed_op_shared_st.sum", warps},
                       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", warps},
                       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0}};
    return launch;
}

/// 96 KiB of shared memory for 128 threads: two blocks of four warps, 8 of the 64 that an SM of
/// sm_90 can hold.
inline Launch fewWarps() {
    Launch launch = launchOf("few_warps", 2640, 128, 500e-6, 32, 98304);
    launch.counters = {
        {"dram__bytes_read.sum", bytes},
        {"dram__bytes_write.sum", bytes},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 12.1},
        {"smsp__issue_active.avg.pct_of_peak_sustained_active", 8},
        {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 18},
        {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1},
        {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", 6}};
    return launch;
}

/// 2048^3 by tensor cores in half: 2 x 2048^3 operations, 17.18 G; in 100 us 172 T a second.
inline Launch halfProduct() {
    Launch launch = launchOf("half_product", 4096, 128, 100e-6, 44, 2560);
    launch.counters = {{"dram__bytes_read.sum", 32e6},
                       {"dram__bytes_write.sum", 16e6},
                       {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", 2.0 * 2048 * 2048 * 2048},
                       {"smsp__inst_executed.sum", 1e8},
                       {"smsp__thread_inst_executed_pred_on.sum", 32e8}};
    return launch;
}

/// The report of one call of these launches, which takes `span` seconds (0: as long as they do).
inline Report reportOf(std::vector<Launch> launches, double span = 0) {
    Report report = emptyReport();
    report.launches = std::move(launches);
    for (const auto &launch : report.launches)
        report.spanSeconds += launch.seconds;
    if (span > 0)
        report.spanSeconds = span;
    for (auto &launch : report.launches)
        deriveLaunch(launch, report);
    deriveTotals(report);
    report.findings = findingsIn(report);
    return report;
}

inline const Finding *find(const Report &report, std::string_view rule) {
    for (const auto &finding : report.findings)
        if (finding.rule == rule)
            return &finding;
    return nullptr;
}

} // namespace cuda_agent::profile::known
