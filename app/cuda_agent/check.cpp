// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/printer.h"

#include <cmath>

namespace cuda_agent::app {

namespace {

struct Options {
    TaskOptions task;
    std::string candidate;
    std::string against;
    std::string strength = "full";
};

/// Two runs of the very same candidate differ by up to 0.9 % on an H200, whoever comes first: their
/// buffers lie elsewhere.
constexpr double leastDifference = 0.01;

int printComparison(Printer &printer, const judge::Comparison &comparison) {
    const auto json = judge::toJson(comparison);
    printer.line("A");
    printer.verdict(json["a"]);
    printer.line("B");
    printer.verdict(json["b"]);
    if (comparison.times) {
        const auto &difference = comparison.times->difference;
        printer.line(fmt::format(
            "A against B: {:+.2f} % time [{:+.2f} % .. {:+.2f} %], {}", 100 * difference.relative,
            100 * difference.low, 100 * difference.high,
            !difference.significant() || std::fabs(difference.relative) < leastDifference
                ? "no difference that matters"
            : difference.relative < 0 ? "A is faster"
                                      : "B is faster"));
    }
    return comparison.a.correct && comparison.b.correct ? 0 : 1;
}

Result<int> check(const Options &options, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(candidate, plan::readCandidate(options.candidate));
    std::optional<plan::Candidate> other;
    if (!options.against.empty()) {
        CUDA_AGENT_ASSIGN(read, plan::readCandidate(options.against));
        other = std::move(read);
    }
    CUDA_AGENT_ASSIGN(request, openTask(options.task));
    CUDA_AGENT_ASSIGN(device, device::openNamed(options.task.device));
    Printer printer(options.task.json);
    CUDA_AGENT_ASSIGN(judge, judge::Judge::prepare(
                                 request.spec, std::move(device), request.judge,
                                 [&](const std::string &what) { printer.progress(what); }, stop));
    for (const auto &note : judge->notes())
        printer.line("note: " + note);
    if (other) {
        printer.progress("comparing two candidates");
        CUDA_AGENT_ASSIGN(comparison, judge->compare(candidate, *other, stop));
        if (options.task.json)
            fmt::print("{}\n", judge::toJson(comparison).dump(2));
        const int code = printComparison(printer, comparison);
        return code;
    }
    printer.progress("verifying and timing");
    const auto strength =
        options.strength == "full" ? verify::Strength::full : verify::Strength::training;
    CUDA_AGENT_ASSIGN(verdict, judge->judge(candidate, strength, stop));
    const auto json = judge::toJson(verdict);
    if (options.task.json)
        fmt::print("{}\n", json.dump(2));
    else
        printer.verdict(json);
    return verdict.correct ? 0 : 1;
}

} // namespace

Run addCheck(CLI::App &app) {
    auto options = std::make_shared<Options>();
    options->task.add(app);
    app.add_option("CANDIDATE", options->candidate, "Folder with plan.json and its kernels")
        ->required();
    app.add_option("--against", options->against,
                   "Another candidate folder: time both in turns and compare");
    app.add_option("--strength", options->strength, "Strength of verification and timing")
        ->check(CLI::IsMember({"full", "training"}))
        ->capture_default_str();
    return [options](std::stop_token stop) { return check(*options, std::move(stop)); };
}

} // namespace cuda_agent::app
