// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/core/profile/known_kernels.h"
#include "tests/widgets/plot/judged_session.h"

namespace cuda_agent::widgets::profiled {

/// A row-wise kernel with 1.5 GB at L1, half of it at DRAM, 3.2 G operations in 150 us: a DRAM
/// ceiling of 4.24 TB/s is 84 % reached.
inline profile::Launch softmax() {
    profile::Launch launch = profile::known::launchOf("softmax", 8192, 256, 150e-6, 40, 2048);
    launch.countedBytes = 536'870'912;
    launch.counters = {
        {"dram__bytes_read.sum", 268'435'456},
        {"dram__bytes_write.sum", 268'435'456},
        {"lts__t_bytes.sum", 800'000'000},
        {"l1tex__t_bytes.sum", 1'400'000'000},
        {"smsp__sass_data_bytes_mem_shared.sum", 100'000'000},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 2'097'152},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 67'108'864},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", 268'435'456},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1'000'000'000},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 200'000'000},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 1'000'000'000},
        {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", 0},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 71.5},
        {"smsp__issue_active.avg.pct_of_peak_sustained_active", 22},
        {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 18},
        {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1}};
    launch.line = 12;
    return launch;
}

/// 2048^3 by tensor cores, as `known::halfProduct`, with all three memories; it spills.
inline profile::Launch product() {
    profile::Launch launch = profile::known::halfProduct();
    launch.counters["lts__t_bytes.sum"] = 400e6;
    launch.counters["l1tex__t_bytes.sum"] = 900e6;
    launch.counters["smsp__sass_data_bytes_mem_shared.sum"] = 700e6;
    launch.counters["l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"] = 60e6;
    launch.counters["l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"] = 30e6;
    launch.spillBytes = 96;
    launch.line = 31;
    return launch;
}

/// A copy that asks for eight times the sectors it needs; no arithmetic.
inline profile::Launch copy() {
    profile::Launch launch = profile::known::stridedCopy();
    launch.counters["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] = 0;
    launch.counters["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"] = 0;
    launch.counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] = 0;
    return launch;
}

/// As the agent's tool logs it: the report without the raw counters.
inline Json logged(const profile::Report &report) {
    Json json = profile::toJson(report);
    for (auto &launch : json["launches"])
        launch.erase("counters");
    return json;
}

/// Three kernels on an H200, one call, with gaps; notes as of a driver that samples nothing.
inline Json onGpu() {
    profile::Report report = profile::known::reportOf({softmax(), product(), copy()}, 800e-6);
    report.source = "CUPTI activity and counters";
    report.label = "NVIDIA H200";
    report.notes = {"program counters were not sampled"};
    return logged(report);
}

/// Two steps on a host: a kernel, whose operations no plan tells, and a product.
inline Json onCpu() {
    profile::Report report;
    report.device.kind = device::Kind::cpu;
    report.device.name = "Some Processor";
    report.ceilings = {20e9, 400e9, 0, 0, {{"L1d", 64 << 10, 400e9}, {"L3", 32 << 20, 60e9}}};
    report.source = "host clock";
    report.label = "CPU device times: they say nothing about GPU times";
    report.spanSeconds = 3.1e-3;
    report.countedBytes = 12'000'000;
    report.countedOperations = 1e8;
    profile::Launch kernel;
    kernel.kind = profile::LaunchKind::step;
    kernel.name = "bias";
    kernel.label = "kernels/k.cu:bias (step 0)";
    kernel.file = "kernels/k.cu";
    kernel.line = 4;
    kernel.step = 0;
    kernel.seconds = kernel.low = kernel.high = 1e-3;
    kernel.countedBytes = 8'000'000;
    profile::Launch product = kernel;
    product.name = "gemm";
    product.label = "gemm (step 1)";
    product.file.clear();
    product.step = 1;
    product.seconds = product.low = product.high = 2e-3;
    product.countedBytes = 10'000'000;
    product.countedOperations = 1e8;
    report.launches = {kernel, product};
    for (auto &launch : report.launches)
        profile::deriveLaunch(launch, report);
    profile::deriveTotals(report);
    report.findings = profile::findingsIn(report);
    return logged(report);
}

/// A session whose turns write, judge and profile.
class Session : public judged::Session {
  public:
    Session() { begin(0, true, "cuda"); }

    /// A turn that judges a candidate of this content and, with `profile`, profiles it.
    Session &turn(int number, const char *blob, const Json &profile,
                  const char *author = "policy") {
        using session::EventType;
        const Json verdict = correctVerdict(0.0016);
        add(EventType::turnStarted, number, {{"author", author}});
        for (const char *path : {"kernels/k.cu", "plan.json"})
            add(EventType::fileWritten, number,
                {{"path", path}, {"blob", blob}, {"bytes", 1}, {"author", author}});
        add(EventType::action, number,
            {{"id", "c"}, {"tool", "Profile"}, {"arguments", Json::object()}});
        add(EventType::compiled, number, {{"ok", true}, {"kernels", Json::array()}});
        add(EventType::verdictGiven, number,
            {{"verdict", verdict}, {"candidate", {{"kernels/k.cu", blob}, {"plan.json", blob}}}});
        Json data{{"verdict", verdict}};
        if (!profile.is_null())
            data["profile"] = profile;
        add(EventType::observation, number,
            {{"id", "c"}, {"ok", true}, {"text", "timed"}, {"data", data}, {"seconds", 2.0}});
        add(EventType::turnEnded, number, Json::object());
        return *this;
    }
};

} // namespace cuda_agent::widgets::profiled
