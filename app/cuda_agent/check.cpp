// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/printer.h"

#include "core/judge/regression.h"

#include <cmath>

namespace cuda_agent::app {

namespace {

struct Options {
    TaskOptions task;
    std::string candidate;
    std::string against;
    std::string strength = "full";
    std::string baseline; ///< file of a stored verdict
    double tolerance = 5; ///< per cent
    std::string junit;    ///< file to write
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

/// Compares with the stored verdict and writes the JUnit file, as far as they are asked for.
/// Returns whether nothing got worse.
Result<bool> report(const Options &options, const std::string &name, const Json &verdict,
                    const std::optional<Json> &stored, Printer &printer) {
    std::vector<std::string> worse;
    if (stored) {
        CUDA_AGENT_ASSIGN(found, judge::regressions(*stored, verdict, options.tolerance / 100));
        worse = std::move(found);
        for (const auto &what : worse)
            printer.line("worse than " + options.baseline + ": " + what);
        if (worse.empty())
            printer.line("not worse than " + options.baseline);
    }
    if (!options.junit.empty())
        CUDA_AGENT_TRY(writeFileAtomically(
            options.junit, judge::junitXml(name, verdict, stored ? &worse : nullptr)));
    return worse.empty();
}

Result<int> check(const Options &options, std::stop_token stop) {
    std::optional<Json> stored;
    if (!options.baseline.empty()) {
        CUDA_AGENT_ASSIGN(json, readJsonFile(options.baseline));
        stored = std::move(json);
    }
    CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(options.candidate));
    std::optional<judge::Candidate> other;
    if (!options.against.empty()) {
        CUDA_AGENT_ASSIGN(read, judge::readCandidate(options.against));
        other = std::move(read);
    }
    CUDA_AGENT_ASSIGN(request, openTask(options.task));
    CUDA_AGENT_ASSIGN(device, device::openNamed(options.task.device));
    // Before the task is prepared, which takes a while.
    for (const auto *each : {&candidate, other ? &*other : nullptr})
        if (const auto *module = each ? std::get_if<modules::Candidate>(each) : nullptr)
            CUDA_AGENT_TRY(modules::checkForm(*module, request.judge.rules, device->info().kind));
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
    CUDA_AGENT_ASSIGN(asGood, report(options, request.spec.name(), json, stored, printer));
    return verdict.correct && asGood ? 0 : 1;
}

} // namespace

Run addCheck(CLI::App &app) {
    auto options = std::make_shared<Options>();
    options->task.add(app);
    app.add_option("CANDIDATE", options->candidate,
                   "Folder with plan.json and its kernels, or with model_new.py and kernels/; or a "
                   "Python file with ModelNew (--rules kernelbench)")
        ->required();
    app.add_option("--against", options->against,
                   "Another candidate folder: time both in turns and compare");
    app.add_option("--strength", options->strength, "Strength of verification and timing")
        ->check(CLI::IsMember({"full", "training"}))
        ->capture_default_str();
    auto *baseline =
        app.add_option("--baseline", options->baseline,
                       "Stored verdict (what --json printed): exit 1 when it got worse since");
    app.add_option("--tolerance", options->tolerance,
                   "Per cent of speed-up that may be lost against the stored verdict")
        ->check(CLI::Range(0.0, 100.0))
        ->capture_default_str()
        ->needs(baseline);
    auto *junit = app.add_option("--junit", options->junit, "Write the checks as a JUnit XML file");
    for (auto *option : {baseline, junit})
        option->excludes("--against");
    return [options](std::stop_token stop) { return check(*options, std::move(stop)); };
}

} // namespace cuda_agent::app
