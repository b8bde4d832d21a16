// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/printer.h"

#include "core/judge/regression.h"
#include "core/judge/sanitized.h"

#include <cmath>

namespace cuda_agent::app {

namespace {

struct Options {
    TaskOptions task;
    std::vector<std::string> candidates;
    std::string against;
    std::string strength = "full";
    std::string baseline; ///< file of a stored verdict
    double tolerance = 5; ///< per cent
    std::string junit;    ///< file to write
    bool sanitize = false;
    bool noTiming = false;
    std::string baselines; ///< folder of those measured before

    bool timing() const { return !sanitize && !noTiming; }
    std::string doing() const { return timing() ? "verifying and timing" : "verifying"; }
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

using Prepared = std::unique_ptr<judge::Judge>;

Result<Prepared> prepare(TaskRequest request, std::unique_ptr<device::Device> device,
                         Printer &printer, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(judge, judge::Judge::prepare(
                                 request.spec, std::move(device), request.judge,
                                 [&](const std::string &what) { printer.progress(what); }, stop));
    for (const auto &note : judge->notes())
        printer.line("note: " + note);
    return std::move(judge);
}

verify::Strength strengthOf(const Options &options) {
    return options.strength == "full" ? verify::Strength::full : verify::Strength::training;
}

/// The verdict, with what a checked run of whatever compiles says where one is asked for.
Result<judge::Verdict> verdictOf(judge::Judge &judge, const judge::Candidate &candidate,
                                 const Options &options, Printer &printer, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(verdict, judge.judge(candidate, strengthOf(options), stop));
    if (!options.sanitize || !verdict.compiled)
        return std::move(verdict);
    printer.progress("checking every access of the kernels");
    CUDA_AGENT_ASSIGN(report, judge::sanitizeCandidate(judge, candidate, stop));
    verdict.sanitizer = std::move(report);
    return std::move(verdict);
}

/// 0 when the candidate is correct and a checked run, where there was one, found nothing.
int codeOf(const Json &verdict) {
    const bool clean = !verdict.contains("sanitizer") || verdict["sanitizer"]["clean"].get<bool>();
    return verdict["correct"].get<bool>() && clean ? 0 : 1;
}

/// The task with what the options say of its judge. Errors: request.
Result<TaskRequest> requestOf(const Options &options) {
    CUDA_AGENT_ASSIGN(request, openTask(options.task));
    request.judge.timing = options.timing();
    request.judge.baselines = options.baselines;
    return std::move(request);
}

/// Judges one of several candidates; what is wrong with it does not keep the others from their
/// turn. Errors: stopped.
Result<Json> judgeOne(judge::Judge &judge, const std::string &path, const Options &options,
                      Printer &printer, std::stop_token stop) {
    const auto read = [&]() -> Result<judge::Verdict> {
        CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(path));
        if (options.sanitize)
            CUDA_AGENT_TRY(judge::canSanitize(judge.deviceInfo()));
        return verdictOf(judge, candidate, options, printer, stop);
    };
    auto verdict = read();
    if (!verdict && verdict.error().kind == ErrorKind::stopped)
        return tl::unexpected(verdict.error());
    Json json = verdict ? judge::toJson(*verdict)
                        : Json{{"error",
                                {{"message", verdict.error().message},
                                 {"exit_code", exitCode(verdict.error().kind)}}}};
    json["candidate"] = path;
    return json;
}

/// Many candidates of one task, which is prepared once: a verdict a line as soon as it is there.
/// The exit code is that of the worst.
Result<int> checkAll(const Options &options, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(request, requestOf(options));
    CUDA_AGENT_ASSIGN(device, device::openNamed(options.task.device));
    Printer printer(options.task.json);
    CUDA_AGENT_ASSIGN(judge, prepare(std::move(request), std::move(device), printer, stop));
    int worst = 0;
    for (const auto &path : options.candidates) {
        printer.progress(options.doing() + " " + path);
        CUDA_AGENT_ASSIGN(json, judgeOne(*judge, path, options, printer, stop));
        const bool judged = !json.contains("error");
        const int code = judged ? codeOf(json) : json["error"]["exit_code"].get<int>();
        worst = std::max(worst, code);
        if (options.task.json) {
            fmt::print("{}\n", json.dump());
            std::fflush(stdout);
            continue;
        }
        printer.line(path);
        if (judged)
            printer.verdict(json);
        else
            printer.line("error: " + json["error"]["message"].get<std::string>());
    }
    return worst;
}

Result<int> check(const Options &options, std::stop_token stop) {
    if (options.candidates.size() > 1) {
        if (!options.against.empty() || !options.baseline.empty() || !options.junit.empty())
            return requestError("--against, --baseline and --junit take one candidate, not {}",
                                options.candidates.size());
        return checkAll(options, std::move(stop));
    }
    std::optional<Json> stored;
    if (!options.baseline.empty()) {
        CUDA_AGENT_ASSIGN(json, readJsonFile(options.baseline));
        stored = std::move(json);
    }
    CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(options.candidates.front()));
    std::optional<judge::Candidate> other;
    if (!options.against.empty()) {
        CUDA_AGENT_ASSIGN(read, judge::readCandidate(options.against));
        other = std::move(read);
    }
    CUDA_AGENT_ASSIGN(request, requestOf(options));
    CUDA_AGENT_ASSIGN(device, device::openNamed(options.task.device));
    // Before the task is prepared, which takes a while.
    for (const auto *each : {&candidate, other ? &*other : nullptr})
        if (const auto *module = each ? std::get_if<modules::Candidate>(each) : nullptr)
            CUDA_AGENT_TRY(modules::checkForm(*module, request.judge.rules, device->info().kind));
    if (options.sanitize)
        CUDA_AGENT_TRY(judge::canSanitize(device->info()));
    Printer printer(options.task.json);
    const std::string name = request.spec.name();
    CUDA_AGENT_ASSIGN(judge, prepare(std::move(request), std::move(device), printer, stop));
    if (other) {
        printer.progress("comparing two candidates");
        CUDA_AGENT_ASSIGN(comparison, judge->compare(candidate, *other, stop));
        if (options.task.json)
            fmt::print("{}\n", judge::toJson(comparison).dump(2));
        const int code = printComparison(printer, comparison);
        return code;
    }
    printer.progress(options.doing());
    CUDA_AGENT_ASSIGN(verdict, verdictOf(*judge, candidate, options, printer, stop));
    const auto json = judge::toJson(verdict);
    if (options.task.json)
        fmt::print("{}\n", json.dump(2));
    else
        printer.verdict(json);
    CUDA_AGENT_ASSIGN(asGood, report(options, name, json, stored, printer));
    return asGood ? codeOf(json) : 1;
}

} // namespace

Run addCheck(CLI::App &app) {
    auto options = std::make_shared<Options>();
    options->task.add(app);
    app.add_option("CANDIDATE", options->candidates,
                   "Folder with plan.json and its kernels, or with model_new.py and kernels/; or a "
                   "Python file with ModelNew (--rules kernelbench). Several are judged one after "
                   "the other, the task prepared once; with --json a verdict a line")
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
    auto *sanitize = app.add_flag(
        "--sanitize", options->sanitize,
        "In place of timing, run the kernels once with every access looked at: out of bounds, "
        "uninitialised memory, data races, barriers, undefined arithmetic. On the cpu by checks of "
        "this program, on cuda by compute-sanitizer. Exit 1 when something is found");
    addBaselines(app, options->baselines);
    auto *noTiming =
        app.add_flag("--no-timing", options->noTiming,
                     "Verify only, in a fraction of the time: no baselines, no speed-up");
    for (auto *option : {baseline, junit, sanitize, noTiming})
        option->excludes("--against");
    for (auto *option : {sanitize, noTiming})
        option->excludes(baseline)->excludes("--baselines");
    return [options](std::stop_token stop) { return check(*options, std::move(stop)); };
}

} // namespace cuda_agent::app
