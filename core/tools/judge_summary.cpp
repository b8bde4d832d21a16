// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/judge_summary.h"

#include <fmt/ranges.h>

namespace cuda_agent::tools {

namespace {

// A verdict may come from a log that anybody may have written: a field of another type is absent.
const Json &field(const Json &object, const char *name) {
    static const Json none;
    const auto found = object.is_object() ? object.find(name) : object.end();
    return object.is_object() && found != object.end() ? *found : none;
}
double number(const Json &object, const char *name) {
    const Json &value = field(object, name);
    return value.is_number() ? value.get<double>() : 0;
}
std::string text(const Json &object, const char *name, std::string otherwise) {
    const Json &value = field(object, name);
    return value.is_string() ? value.get<std::string>() : otherwise;
}
bool truth(const Json &object, const char *name) {
    const Json &value = field(object, name);
    return value.is_boolean() && value.get<bool>();
}
std::string shown(const Json &value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}
double numberAt(const Json &json, const char *outer, const char *inner) {
    return number(field(json, outer), inner);
}

std::string kernelLines(const Json &verdict) {
    std::string lines;
    for (const auto &kernel : field(verdict, "kernels")) {
        std::vector<std::string> facts;
        const auto add = [&](const char *key, const char *what) {
            if (const Json &value = field(kernel, key); value.is_number())
                facts.push_back(fmt::format("{} {}", value.dump(), what));
        };
        add("registers", "registers a thread");
        add("spill_bytes", "bytes spilled");
        add("shared_bytes", "bytes of static shared memory");
        add("stack_bytes", "bytes of stack");
        if (!facts.empty())
            lines +=
                fmt::format("kernel {}: {}\n", text(kernel, "name", "?"), fmt::join(facts, ", "));
    }
    return lines;
}

std::string baselineLine(const Json &verdict) {
    std::vector<std::string> parts;
    const Json &times = field(verdict, "times");
    if (times.is_object())
        for (const auto &[name, time] : times.items())
            if (name != "candidate" && time.is_object())
                parts.push_back(fmt::format("{} {}", name, formatSeconds(number(time, "seconds"))));
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
    if (!truth(verdict, "correct"))
        return text(verdict, "problem", "not correct");
    const double seconds = number(field(field(verdict, "times"), "candidate"), "seconds");
    std::string line = fmt::format("correct, reward {:.0f}{}", number(verdict, "reward"),
                                   seconds > 0 ? ": " + formatSeconds(seconds) : ", not timed");
    const Json &speedup = field(verdict, "speedup");
    for (const auto &[name, shownAs] : {std::pair{"eager", "eager"}, {"compile", "torch.compile"}})
        if (const Json &value = field(speedup, name); value.is_number())
            line += fmt::format(", {:.2f}x {}", value.get<double>(), shownAs);
    if (const Json &value = field(verdict, "fraction_of_limit"); value.is_number())
        line += fmt::format(", {:.0f} % of this machine's limit", 100 * value.get<double>());
    return line;
}

std::string diagnosticLines(const Json &diagnostics) {
    constexpr std::size_t most = 20;
    std::string lines;
    std::size_t count = 0;
    for (const auto &each : diagnostics) {
        if (++count > most) {
            lines += fmt::format("and {} more\n", diagnostics.size() - most);
            break;
        }
        lines += fmt::format("{}:{:.0f}:{:.0f}: {}: {}\n", text(each, "file", "?"),
                             number(each, "line"), number(each, "column"),
                             text(each, "severity", "error"), text(each, "message", ""));
    }
    return lines;
}

std::string reportOf(const Json &verdict) {
    std::string report = summaryOf(verdict) + "\n";
    report += diagnosticLines(field(verdict, "diagnostics"));
    if (const Json &check = field(verdict, "failed_check"); !check.is_null())
        report += fmt::format("failed check: {}\n", shown(check));
    report += baselineLine(verdict);
    report += kernelLines(verdict);
    for (const auto &flag : field(verdict, "flags"))
        if (flag.is_string())
            report += fmt::format("flag: {}\n", flag.get<std::string>());
    return report;
}

std::string profileOf(const Json &verdict, const Json &baselines, const Json &description) {
    std::string report = summaryOf(verdict) + "\n";
    const double seconds = numberAt(field(verdict, "times"), "candidate", "seconds");
    if (!(seconds > 0))
        return reportOf(verdict);
    const double bytes = number(description, "counted_bytes");
    const double copy = numberAt(baselines, "ceilings", "copy_bytes_per_second");
    report += fmt::format("memory: {:.1f} MB must be read and written at least, so {:.0f} GB/s are "
                          "achieved",
                          bytes / 1e6, bytes / seconds / 1e9);
    if (copy > 0)
        report += fmt::format(" of {:.0f} GB/s that a copy reaches here ({:.0f} %)", copy / 1e9,
                              100 * bytes / seconds / copy);
    report += "\n";
    const double flops =
        number(description, "matmul_flops") + number(description, "convolution_flops");
    if (flops > 0) {
        report += fmt::format("products: {:.2f} GFLOP, {:.2f} TFLOP/s achieved; this machine does "
                              "{:.1f} in fp32, {:.1f} in TF32",
                              flops / 1e9, flops / seconds / 1e12,
                              numberAt(baselines, "ceilings", "fp32_flops_per_second") / 1e12,
                              numberAt(baselines, "ceilings", "tf32_flops_per_second") / 1e12);
        const double half = numberAt(baselines, "ceilings", "half_flops_per_second");
        if (half > 0)
            report += fmt::format(", {:.1f} in 16-bit types", half / 1e12);
        report += "\n";
    }
    report += fmt::format("limit: {} by {}", formatSeconds(number(verdict, "limit_seconds")),
                          text(verdict, "limited_by", "?"));
    if (const double launch = number(verdict, "limit_launch_seconds"); launch > 0)
        report += fmt::format(", {} of them to launch a kernel", formatSeconds(launch));
    report += "\n";
    report += baselineLine(verdict);
    report += kernelLines(verdict);
    report += "these bytes and operations are counted from the task\n";
    return report;
}

} // namespace cuda_agent::tools
