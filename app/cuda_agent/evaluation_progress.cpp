// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/evaluation_progress.h"

namespace cuda_agent::app {

namespace {

std::string resultText(const bench::Record &record) {
    std::string text = fmt::format("{:>8}  {:<36.36} {:<12}", record.task, record.name,
                                   bench::nameOf(record.outcome));
    if (record.outcome != bench::Outcome::correct)
        return text + "  " + record.cause.substr(0, 160);
    if (const auto speedup = record.speedup("compile"))
        text += fmt::format("  {} torch.compile", bench::factorText(speedup));
    if (const auto speedup = record.speedup("best_stock"))
        text += fmt::format("  {} best stock", bench::factorText(speedup));
    if (const double limit = record.fractionOfLimit(); limit > 0)
        text += fmt::format("  {:.0f} % of limit", 100 * limit);
    return text + (record.algebra ? "  by algebra" : "");
}

} // namespace

void EvaluationProgress::bar(const bench::Status &status) {
    auto text = fmt::format("{}/{}, {} correct", status.done, status.all, status.correct);
    if (status.left)
        text += ", about " + spanText(*status.left) + " left";
    terminal_.bar(status.done, status.all, text + "  " + doing_);
}

bench::Listener EvaluationProgress::listener() {
    bench::Listener listener;
    listener.begun = [this](const bench::Status &status) {
        status_ = status;
        terminal_.line(status.done > 0
                           ? fmt::format("{} to evaluate, {} of {} are there already",
                                         status.all - status.done, status.done, status.all)
                           : fmt::format("{} to evaluate", status.all));
        bar(status_);
    };
    listener.finished = [this](const bench::Record &record, const bench::Status &status) {
        status_ = status;
        terminal_.line(resultText(record));
        if (!terminal_.interactive() && status.left)
            terminal_.line(fmt::format("{} of {}, {} correct, about {} left", status.done,
                                       status.all, status.correct, spanText(*status.left)));
        bar(status_);
    };
    listener.doing = [this](const std::string &task, const std::string &what) {
        doing_ = task + ": " + what;
        bar(status_);
    };
    return listener;
}

void EvaluationProgress::summary(const bench::Evaluation &outcome,
                                 const std::filesystem::path &folder) {
    for (const auto &summary : outcome.summaries) {
        terminal_.line(fmt::format("\nnumerics {}: {}", task::nameOf(summary.numerics),
                                   bench::meaningOf(summary.numerics)));
        terminal_.line(fmt::format("{:>10} {:>7} {:>8} {:>9}  {:<11} {:>12} {:>16} {:>10}", "",
                                   "judged", "correct", "at limit", "over", "5 % faster",
                                   "so or at limit", "geo. mean"));
        for (const auto &group : summary.groups)
            for (const auto &each : group.against)
                terminal_.line(fmt::format("{:>10} {:>7} {:>8} {:>9}  {:<11} {:>12} {:>16} {:>10}",
                                           group.name, group.judged, group.correct,
                                           bench::fastText(group, group.limit), each.name,
                                           bench::fastText(group, each.faster),
                                           bench::fastText(group, each.fasterOrAtLimit),
                                           bench::meanText(group, each.geometricMean)));
        for (const auto *causes : {&summary.causes, &summary.unjudged})
            for (const auto &cause : *causes)
                terminal_.line(fmt::format("{:>4} x {}", cause.tasks.size(), cause.what));
    }
    terminal_.line(fmt::format("\n{}{}",
                               outcome.whole ? ""
                                             : "not all is evaluated; the same command goes "
                                               "on\n",
                               (folder / "report.html").string()));
}

} // namespace cuda_agent::app
