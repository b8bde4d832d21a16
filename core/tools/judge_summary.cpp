// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/judge_summary.h"

#include <fmt/ranges.h>

namespace cuda_agent::tools {

namespace {

double numberAt(const Json &json, const char *outer, const char *inner) {
    const auto found = json.find(outer);
    return found != json.end() && found->is_object() ? found->value(inner, 0.0) : 0;
}

std::string kernelLines(const Json &verdict) {
    std::string text;
    for (const auto &kernel : verdict.value("kernels", Json::array())) {
        std::vector<std::string> facts;
        const auto add = [&](const char *key, const char *what) {
            if (kernel.contains(key))
                facts.push_back(fmt::format("{} {}", kernel[key].dump(), what));
        };
        add("registers", "registers a thread");
        add("spill_bytes", "bytes spilled");
        add("shared_bytes", "bytes of static shared memory");
        add("stack_bytes", "bytes of stack");
        if (!facts.empty())
            text +=
                fmt::format("kernel {}: {}\n", kernel.value("name", "?"), fmt::join(facts, ", "));
    }
    return text;
}

std::string baselineLine(const Json &verdict) {
    std::vector<std::string> parts;
    const Json times = verdict.value("times", Json::object());
    for (const auto &[name, time] : times.items())
        if (name != "candidate" && time.is_object())
            parts.push_back(fmt::format("{} {}", name, formatSeconds(time.value("seconds", 0.0))));
    return parts.empty() ? "" : fmt::format("baselines: {}\n", fmt::join(parts, ", "));
}

} // namespace

std::string formatSeconds(double seconds) {
    if (seconds < 1e-3)
        return fmt::format("{:.1f} us", seconds * 1e6);
    if (seconds < 1)
        return fmt::format("{:.3f} ms", seconds * 1e3);
    return fmt::format("{:.2f} s", seconds);
}

std::string summaryOf(const Json &verdict) {
    if (!verdict.value("correct", false))
        return verdict.value("problem", "not correct");
    const auto &times = verdict.at("times");
    std::string text = fmt::format("correct, reward {}: {}", verdict.at("reward").get<int>(),
                                   formatSeconds(times.at("candidate").at("seconds")));
    const auto speedup = verdict.value("speedup", Json::object());
    for (const auto *name : {"eager", "compile"})
        if (speedup.contains(name))
            text += fmt::format(", {:.2f}x {}", speedup.at(name).get<double>(),
                                std::string_view(name) == "eager" ? "eager" : "torch.compile");
    if (verdict.contains("fraction_of_limit"))
        text += fmt::format(", {:.0f} % of this machine's limit",
                            100 * verdict.at("fraction_of_limit").get<double>());
    return text;
}

std::string diagnosticLines(const Json &diagnostics) {
    constexpr std::size_t most = 20;
    std::string text;
    std::size_t shown = 0;
    for (const auto &each : diagnostics) {
        if (++shown > most) {
            text += fmt::format("and {} more\n", diagnostics.size() - most);
            break;
        }
        text += fmt::format("{}:{}:{}: {}: {}\n", each.value("file", "?"), each.value("line", 0),
                            each.value("column", 0), each.value("severity", "error"),
                            each.value("message", ""));
    }
    return text;
}

std::string reportOf(const Json &verdict) {
    std::string text = summaryOf(verdict) + "\n";
    if (verdict.contains("diagnostics"))
        text += diagnosticLines(verdict["diagnostics"]);
    if (verdict.contains("failed_check"))
        text += fmt::format(
            "failed check: {}\n",
            verdict["failed_check"].dump(-1, ' ', false, Json::error_handler_t::replace));
    text += baselineLine(verdict);
    text += kernelLines(verdict);
    for (const auto &flag : verdict.value("flags", Json::array()))
        text += fmt::format("flag: {}\n", flag.get<std::string>());
    return text;
}

std::string profileOf(const Json &verdict, const Json &baselines, const Json &description) {
    std::string text = summaryOf(verdict) + "\n";
    const double seconds =
        verdict.contains("times") ? numberAt(verdict["times"], "candidate", "seconds") : 0.0;
    if (seconds <= 0)
        return reportOf(verdict);
    const double bytes = description.value("counted_bytes", 0.0);
    const double copy = numberAt(baselines, "ceilings", "copy_bytes_per_second");
    text += fmt::format("memory: {:.1f} MB must be read and written at least, so {:.0f} GB/s are "
                        "achieved",
                        bytes / 1e6, bytes / seconds / 1e9);
    if (copy > 0)
        text += fmt::format(" of {:.0f} GB/s that a copy reaches here ({:.0f} %)", copy / 1e9,
                            100 * bytes / seconds / copy);
    text += "\n";
    const double flops =
        description.value("matmul_flops", 0.0) + description.value("convolution_flops", 0.0);
    if (flops > 0) {
        text += fmt::format("products: {:.2f} GFLOP, {:.2f} TFLOP/s achieved; this machine does "
                            "{:.1f} in fp32, {:.1f} in TF32",
                            flops / 1e9, flops / seconds / 1e12,
                            numberAt(baselines, "ceilings", "fp32_flops_per_second") / 1e12,
                            numberAt(baselines, "ceilings", "tf32_flops_per_second") / 1e12);
        const double half = numberAt(baselines, "ceilings", "half_flops_per_second");
        if (half > 0)
            text += fmt::format(", {:.1f} in 16-bit types", half / 1e12);
        text += "\n";
    }
    text += fmt::format("limit: {} by {}\n", formatSeconds(verdict.value("limit_seconds", 0.0)),
                        verdict.value("limited_by", "?"));
    text += baselineLine(verdict);
    text += kernelLines(verdict);
    text += "bytes and operations are counted from the task; this version reads no hardware "
            "counters\n";
    return text;
}

} // namespace cuda_agent::tools
