// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/terminal.h"

#include "core/base/elapsed.h"
#include "core/learn/corpus/corpus.h"

#include <chrono>

namespace cuda_agent::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto lineEvery = std::chrono::seconds(10); ///< where there is no bar
constexpr std::size_t mostReasons = 12;

struct Options {
    learn::CorpusOptions corpus;
    std::string device = "cuda";
    std::string numerics = "default";
    bool json = false;
};

void printJudged(Terminal &terminal, const learn::JudgedCounts &counts) {
    terminal.line(fmt::format("first turns: {} correct, {} wrong, {} do not compile; {} repaired, "
                              "{} improved, {} mistakes not found; {} verdicts",
                              counts.correct, counts.wrong, counts.notCompiled, counts.repaired,
                              counts.improved, counts.unfound, counts.verdicts));
    if (counts.own > 0)
        terminal.line(fmt::format("{:>8} of the wrong ones are a policy's own", counts.own));
    if (counts.machine + counts.tooLong + counts.unmended + counts.refused > 0)
        terminal.line(fmt::format("dropped: {} as the machine failed, {} too long, {} whose repair "
                                  "is wrong, too, {} with a call that a tool refused",
                                  counts.machine, counts.tooLong, counts.unmended, counts.refused));
    for (const auto &[turns, count] : counts.turns)
        terminal.line(fmt::format("{:>8} of {} {}", count, turns, turns == "1" ? "turn" : "turns"));
    for (const auto &[reward, count] : counts.rewards)
        terminal.line(fmt::format("{:>8} end with reward {}", count, reward));
}

void printEnd(Terminal &terminal, const learn::CorpusSummary &summary,
              const std::filesystem::path &folder) {
    std::vector<std::pair<std::size_t, std::string>> reasons;
    for (const auto &[reason, count] : summary.reasons)
        reasons.emplace_back(count, reason);
    std::ranges::sort(reasons, std::greater());
    terminal.line(fmt::format("{} documents, {:.1f} MB, of {} of {} tasks, in {}",
                              summary.documents, static_cast<double>(summary.bytes) / 1e6,
                              summary.written, summary.tasks, spanText(summary.seconds)));
    for (const auto &[name, spread] : summary.sizes)
        terminal.line(fmt::format("{:>10}: {} bytes in the median, {} at 90 %, {} at most", name,
                                  spread.median, spread.most90, spread.maximum));
    for (const auto &[kind, count] : summary.mutations)
        terminal.line(fmt::format("{:>8} with a {}", count, kind));
    if (summary.judged)
        printJudged(terminal, *summary.judged);
    for (std::size_t i = 0; i < reasons.size() && i < mostReasons; ++i)
        terminal.line(fmt::format("{:>8} without: {}", reasons[i].first, reasons[i].second));
    if (reasons.size() > mostReasons)
        terminal.line(fmt::format("         and {} more reasons in summary.json",
                                  reasons.size() - mostReasons));
    terminal.line((folder / "corpus.jsonl.gz").string());
}

Result<int> corpus(Options options, const std::stop_token &stop) {
    auto &request = options.corpus;
    request.target = options.device == "cuda" ? learn::h200Target() : learn::cpuTarget();
    CUDA_AGENT_ASSIGN(numerics, task::numericsFromName(options.numerics));
    request.numerics = numerics;
    if (std::ranges::find(request.splits, "all") != request.splits.end())
        request.splits.clear();
    Terminal terminal(options.json ? stderr : stdout);
    const auto begin = Clock::now();
    auto last = begin;
    const auto progress = [&](const learn::CorpusProgress &now) {
        const double seconds = secondsSince(begin);
        auto text = fmt::format("{} of {} tasks, {} documents", now.done, now.tasks, now.documents);
        if (now.verdicts > 0)
            text += fmt::format(", {} verdicts", now.verdicts);
        if (now.done > 0)
            text +=
                fmt::format(", about {} left", spanText(seconds / static_cast<double>(now.done) *
                                                        static_cast<double>(now.tasks - now.done)));
        terminal.bar(now.done, now.tasks, text);
        if (terminal.interactive() || Clock::now() - last < lineEvery)
            return;
        last = Clock::now();
        terminal.line(text);
    };
    auto summary = learn::makeCorpus(request, progress, stop);
    if (!summary && summary.error().kind == ErrorKind::stopped)
        summary.error().message = "stopped; no corpus was written, what the tasks are and "
                                  "the verdicts are kept, and the same command goes on from there";
    CUDA_AGENT_TRY(summary);
    printEnd(terminal, *summary, request.out);
    if (options.json)
        fmt::print("{}\n", learn::toJson(*summary).dump(2));
    return summary->documents > 0 ? 0 : 1;
}

} // namespace

Run addCorpus(CLI::App &app) {
    auto options = std::make_shared<Options>();
    auto &corpus = options->corpus;
    app.add_option("SET", corpus.set, "Set of tasks (.jsonl, .jsonl.gz), as synthesize makes it")
        ->required();
    app.add_option("--out", corpus.out, "Folder of the corpus")->required();
    app.add_option("--per-task", corpus.perTask, "Documents of each task")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--best-of", corpus.bestOf,
                   "Candidates that are drawn for a document, which has the one that the planner "
                   "expects to be the fastest; 1: any, as a base model that still has to learn "
                   "which are fast reads them; 0: what the planner would try first, and any for "
                   "further documents of a task")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    app.add_option("--seed", corpus.seed, "Of all that is drawn")->capture_default_str();
    app.add_option("--device", options->device,
                   "What candidates are planned for: cuda (an H200, which need not be there, but "
                   "with --judge this machine's GPU) or cpu")
        ->check(CLI::IsMember({"cuda", "cpu"}))
        ->capture_default_str();
    app.add_option("--numerics", options->numerics, "default, tf32 or published")
        ->check(CLI::IsMember({"default", "tf32", "published"}))
        ->capture_default_str();
    app.add_option("--split", corpus.splits, "Splits of the set to take, or all")
        ->capture_default_str();
    app.add_option("--tasks", corpus.tasks, "Take the first ones only (default: all)")
        ->check(CLI::Range(1, 10'000'000));
    app.add_option("--seconds", corpus.seconds,
                   "Begin no task after so many, and write the corpus of the others (default: no "
                   "end)")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--broken", corpus.brokenShare,
                   "Share of documents with a mistake made on purpose, which the record names")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--renamed", corpus.renamedShare,
                   "Share of tasks whose parameters get drawn names, in their source, too, so that "
                   "a model copies names instead of knowing them; none with --judge")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option(
           "--resized", corpus.resizedShare,
           "Share of tasks whose batch is cut to a part of it, as of tasks that have to fit "
           "a machine, so that not all sizes are round ones; none with --judge")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--longest", corpus.mostBytes,
                   "Bytes of a document at most; longer candidates are left out")
        ->check(CLI::Range(1000, 1'000'000))
        ->capture_default_str();
    auto *judge = app.add_flag(
        "--judge", corpus.judge,
        "Play every candidate before the judge on the device, which must be there: documents with "
        "what the tools answered, a repair of what failed, and an end");
    app.add_option("--improved", corpus.improvedShare,
                   "Share of correct candidates that a faster one follows, where one is known")
        ->needs(judge)
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_flag(
           "!--untimed", corpus.timing,
           "Judge for being correct alone: no times are in the documents, and nothing is improved")
        ->needs("--judge");
    app.add_option("--tries", corpus.tries,
                   "Folder of a policy's sessions, such as a run of train. With --judge what it "
                   "wrote first and was wrong becomes documents, too, that go on with a candidate "
                   "of the planner's; without, the documents are of these sessions alone, with "
                   "what was answered in them")
        ->check(CLI::ExistingDirectory);
    app.add_option("--baselines", corpus.baselines,
                   "Folder of baselines: those measured before on such a device are taken, new "
                   "ones are added (default: measure)")
        ->needs(judge);
    app.add_option("--jobs", corpus.jobs,
                   "Tasks at a time (default: one a core; with --judge one on a CPU and three on "
                   "each GPU)")
        ->check(CLI::Range(1, 256));
    app.add_flag("--json", options->json,
                 "Print the summary as JSON on standard output; progress goes to standard error");
    app.footer("Exit codes: 0 the corpus is there; 1 no task gives a document; 2 the set is "
               "unusable; 3 the machine failed; 130 stopped.");
    return [options](std::stop_token stop) { return app::corpus(*options, stop); };
}

} // namespace cuda_agent::app
