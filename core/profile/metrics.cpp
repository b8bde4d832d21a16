// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/metrics.h"

#include <array>

namespace cuda_agent::profile {

namespace {

constexpr std::array plain = {
    // Bytes by memory.
    "dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes_op_read.sum",
    "dram__bytes_op_write.sum", "lts__t_bytes.sum", "lts__t_sector_hit_rate.pct",
    "l1tex__t_bytes.sum", "l1tex__t_sector_hit_rate.pct", "smsp__sass_data_bytes_mem_shared.sum",
    "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum",
    // How it is accessed.
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "smsp__sass_data_bytes_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    // Operations.
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "sm__ops_path_tensor_src_fp16.sum",
    "sm__ops_path_tensor_src_fp16_dst_fp16.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
    "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
    "sm__ops_path_tensor_src_fp8.sum", "sm__ops_path_tensor_src_int8.sum",
    "sm__ops_path_tensor_src_fp64.sum",
    // How busy the multiprocessors are.
    "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__cycles_active.avg",
    "sm__cycles_elapsed.max", "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "smsp__inst_executed.sum", "smsp__thread_inst_executed_pred_on.sum"};

constexpr std::array reasons = {
    StallReason{"long_scoreboard", "for a load from L1, L2 or DRAM"},
    StallReason{"short_scoreboard", "for shared memory or a special function"},
    StallReason{"barrier", "for the rest of their block at a barrier"},
    StallReason{"membar", "for a memory fence"},
    StallReason{"lg_throttle", "because the queue of global and local accesses is full"},
    StallReason{"mio_throttle",
                "because the queue of shared-memory and special instructions is full"},
    StallReason{"tex_throttle", "because the queue of texture accesses is full"},
    StallReason{"math_pipe_throttle", "because the arithmetic units are busy"},
    StallReason{"wait", "for the fixed latency of the instruction before"},
    StallReason{"branch_resolving", "for the target of a branch"},
    StallReason{"no_instruction", "for the next instruction to be fetched"},
    StallReason{"imc_miss", "for a constant that is not in the cache"},
    StallReason{"drain", "for their last stores to leave"},
    StallReason{"dispatch_stall", "for the dispatcher"},
    StallReason{"gmma", "for a warpgroup's matrix product"},
    StallReason{"sleeping", "because they sleep"},
    StallReason{"misc", "for another reason"},
    StallReason{"not_selected", "though ready, because another warp issues"},
    StallReason{"selected", "not: they issue"}};

} // namespace

std::span<const StallReason> stallReasons() {
    return reasons;
}

std::string stallMetric(std::string_view name) {
    return "smsp__average_warps_issue_stalled_" + std::string(name) + "_per_issue_active.ratio";
}

std::vector<std::string> wantedMetrics() {
    std::vector<std::string> names(plain.begin(), plain.end());
    for (const auto &reason : reasons)
        names.push_back(stallMetric(reason.name));
    return names;
}

} // namespace cuda_agent::profile
