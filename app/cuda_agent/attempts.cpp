// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/attempts.h"

#include "app/cuda_agent/printer.h"

#include "core/tools/judge_summary.h"

#include <thread>

namespace cuda_agent::app {

namespace {

std::string lanesText(const agent::BestOfRequest &request, const agent::Lanes &lanes) {
    std::string text = fmt::format("{} attempts, each with its own budget; ", request.attempts);
    const std::string place =
        lanes.gpus > 0
            ? fmt::format("{} GPU{}", lanes.gpus, lanes.gpus == 1 ? "" : "s")
            : fmt::format("a CPU with {} hardware threads", std::thread::hardware_concurrency());
    text += fmt::format("{} at once on {}", lanes.atOnce, place);
    if (lanes.atOnce < request.attempts)
        text += fmt::format(", the other{} wait{}", request.attempts - lanes.atOnce == 1 ? "" : "s",
                            request.attempts - lanes.atOnce == 1 ? "s" : "");
    return text;
}

std::string times(const Json &verdict, const char *name) {
    const double factor = verdict.value("speedup", Json::object()).value(name, 0.0);
    return factor > 0 ? fmt::format("{:.2f}x", factor) : std::string("-");
}

void printTable(Printer &printer, const agent::BestOf &outcome) {
    printer.line(fmt::format("\n{:>7}  {:>5}  {:<7}  {:>10}  {:>8}  {:>8}  {:>6}", "attempt",
                             "turns", "correct", "time", "eager", "compile", "reward"));
    for (const auto &attempt : outcome.attempts) {
        std::string row = fmt::format("{:>7}  {:>5}  {:<7}", attempt.number, attempt.turns,
                                      attempt.correct() ? "yes" : "no");
        if (attempt.correct())
            row += fmt::format("  {:>10}  {:>8}  {:>8}  {:>6}",
                               tools::formatSeconds(attempt.verdict.value(
                                   "/times/candidate/seconds"_json_pointer, 0.0)),
                               times(attempt.verdict, "eager"), times(attempt.verdict, "compile"),
                               attempt.verdict.value("reward", 1));
        if (attempt.error)
            row += "  failed: " + attempt.error->message;
        else if (!attempt.correct())
            row += "  " + attempt.reason;
        printer.line(row);
    }
    if (!outcome.comparison.is_object())
        return;
    const Json &difference = outcome.comparison["difference"];
    printer.line(fmt::format("in turns: attempt {} against attempt {}: {:+.2f} % time "
                             "[{:+.2f} % .. {:+.2f} %]",
                             outcome.comparison["a"].get<int>(), outcome.comparison["b"].get<int>(),
                             100 * difference.value("relative", 0.0),
                             100 * difference.value("low", 0.0),
                             100 * difference.value("high", 0.0)));
}

} // namespace

Result<int> runAttempts(const agent::BestOfRequest &request, bool json, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(lanes, agent::lanesFor(request));
    Printer printer(json);
    printer.line(lanesText(request, lanes));
    std::vector<std::unique_ptr<Printer>> printers;
    for (int i = 0; i <= request.attempts; ++i)
        printers.push_back(
            std::make_unique<Printer>(json, i == 0 ? "[=] " : fmt::format("[{}] ", i)));
    agent::BestOfListener listener;
    listener.event = [&](int attempt, const session::Event &event) {
        printers[static_cast<std::size_t>(attempt)]->event(event);
    };
    listener.progress = [&](int attempt, const std::string &what) {
        printers[static_cast<std::size_t>(attempt)]->progress(what);
    };
    CUDA_AGENT_ASSIGN(outcome, agent::runBestOf(request, listener, stop));
    const auto folder = request.one.session;
    if (json) {
        Json all = outcome.best > 0 ? outcome.verdict : Json{{"correct", false}};
        all.update(agent::toJson(outcome));
        all["session"] = folder.string();
        fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
    }
    printTable(printer, outcome);
    if (outcome.best == 0) {
        printer.line("no attempt found a correct candidate");
        return 1;
    }
    printer.line(
        fmt::format("\nbest: attempt {}, in {}", outcome.best, (folder / "best").string()));
    printer.verdict(outcome.verdict);
    return 0;
}

} // namespace cuda_agent::app
