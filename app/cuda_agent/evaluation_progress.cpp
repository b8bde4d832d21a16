// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/evaluation_progress.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cuda_agent::app {

namespace {

constexpr int barWidth = 24;

std::string spanText(double seconds) {
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 60)
        return fmt::format("{} s", whole);
    if (whole < 3600)
        return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::size_t columnsOf(std::FILE *file) {
    winsize size{};
    return ::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

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

EvaluationProgress::EvaluationProgress(bool json)
    : out_(json ? stderr : stdout), terminal_(::isatty(::fileno(out_)) != 0) {}

EvaluationProgress::~EvaluationProgress() {
    clear();
}

void EvaluationProgress::clear() {
    if (!shown_)
        return;
    fmt::print(out_, "\r\x1b[K");
    std::fflush(out_);
    shown_ = false;
}

void EvaluationProgress::line(const std::string &text) {
    clear();
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
}

void EvaluationProgress::bar(const bench::Status &status) {
    if (!terminal_)
        return;
    const double share = static_cast<double>(status.done) /
                         static_cast<double>(std::max<std::size_t>(1, status.all));
    const int full = static_cast<int>(share * barWidth);
    std::string text = fmt::format("[{:#<{}}{:.<{}}] {}/{}, {} correct", "", full, "",
                                   barWidth - full, status.done, status.all, status.correct);
    if (status.left)
        text += ", about " + spanText(*status.left) + " left";
    text += "  " + doing_;
    if (const auto columns = columnsOf(out_); text.size() >= columns)
        text.resize(columns - 1);
    clear();
    fmt::print(out_, "{}", text);
    std::fflush(out_);
    shown_ = true;
}

bench::Listener EvaluationProgress::listener() {
    bench::Listener listener;
    listener.begun = [this](const bench::Status &status) {
        status_ = status;
        line(status.done > 0 ? fmt::format("{} to evaluate, {} of {} are there already",
                                           status.all - status.done, status.done, status.all)
                             : fmt::format("{} to evaluate", status.all));
        bar(status_);
    };
    listener.finished = [this](const bench::Record &record, const bench::Status &status) {
        status_ = status;
        line(resultText(record));
        if (!terminal_ && status.left)
            line(fmt::format("{} of {}, {} correct, about {} left", status.done, status.all,
                             status.correct, spanText(*status.left)));
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
        line(fmt::format("\nnumerics {}: {}", task::nameOf(summary.numerics),
                         bench::meaningOf(summary.numerics)));
        line(fmt::format("{:>10} {:>7} {:>8} {:>9}  {:<11} {:>12} {:>16} {:>10}", "", "judged",
                         "correct", "at limit", "over", "5 % faster", "so or at limit",
                         "geo. mean"));
        for (const auto &group : summary.groups)
            for (const auto &each : group.against)
                line(fmt::format("{:>10} {:>7} {:>8} {:>9}  {:<11} {:>12} {:>16} {:>10}",
                                 group.name, group.judged, group.correct, group.limit, each.name,
                                 each.faster, each.fasterOrAtLimit,
                                 bench::factorText(each.geometricMean > 0
                                                       ? std::optional(each.geometricMean)
                                                       : std::nullopt)));
        for (const auto *causes : {&summary.causes, &summary.unjudged})
            for (const auto &cause : *causes)
                line(fmt::format("{:>4} x {}", cause.tasks.size(), cause.what));
    }
    line(fmt::format("\n{}{}",
                     outcome.whole ? ""
                                   : "not all is evaluated; the same command goes "
                                     "on\n",
                     (folder / "report.html").string()));
}

} // namespace cuda_agent::app
