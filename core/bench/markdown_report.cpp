// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/report.h"

namespace cuda_agent::bench {

namespace {

/// Text that stays in its cell and means itself.
std::string inCell(std::string_view text) {
    std::string result;
    for (const char c : text.substr(0, 200)) {
        if (c == '|' || c == '\\' || c == '`' || c == '<' || c == '*' || c == '_')
            result += '\\';
        result += c == '\n' || c == '\r' ? ' ' : c;
    }
    return result;
}

void addGroups(std::string &text, const Summary &summary) {
    text +=
        "| | judged | correct | at the limit | over | more than 5 % faster | so or at the limit "
        "| geometric mean | failures counted as stock |\n|---|---|---|---|---|---|---|---|---|\n";
    for (const auto &group : summary.groups)
        for (const auto &each : group.against) {
            text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", group.name,
                                group.judged, group.correct, fastText(group, group.limit),
                                each.name == "best_stock" ? "best stock" : each.name,
                                fastText(group, each.faster), fastText(group, each.fasterOrAtLimit),
                                meanText(group, each.geometricMean),
                                meanText(group, each.geometricMeanOfAll));
        }
}

void addFastP(std::string &text, const Group &group) {
    text += "\n| fast_p |";
    for (const double p : fastPs())
        text += fmt::format(" {:g} |", p);
    text += "\n|---|" + [&] {
        std::string rule;
        for (std::size_t i = 0; i < fastPs().size(); ++i)
            rule += "---|";
        return rule;
    }() + "\n";
    for (const auto &each : group.against) {
        text += fmt::format("| {} |", each.name == "best_stock" ? "best stock" : each.name);
        for (const double share : each.fastP)
            text += fmt::format(" {:.0f} % |", 100 * share);
        text += "\n";
    }
}

void addCauses(std::string &text, const char *title, const std::vector<Cause> &causes) {
    if (causes.empty())
        return;
    text += fmt::format("\n{}:\n\n| tasks | cause | which |\n|---|---|---|\n", title);
    for (const auto &cause : causes)
        text += fmt::format("| {} | {} | {} |\n", cause.tasks.size(), inCell(cause.what),
                            fmt::join(cause.tasks, ", "));
}

void addRecords(std::string &text, const std::vector<Record> &records, task::Numerics numerics) {
    text += "\n| task | name | outcome | time | over eager | over compile | over best stock | of "
            "limit | cause |\n|---|---|---|---|---|---|---|---|---|\n";
    for (const auto &record : records) {
        if (record.numerics != numerics)
            continue;
        const double time = positiveAt(record.verdict, "/times/candidate/seconds").value_or(0);
        const double limit = record.fractionOfLimit();
        text += fmt::format(
            "| {} | {} | {}{} | {} | {} | {} | {} | {} | {} |\n",
            record.sample > 0 ? fmt::format("{} sample {}", record.task, record.sample)
                              : record.task,
            inCell(record.name), inCell(nameOf(record.outcome)),
            record.algebra ? ", by algebra" : "", timeText(time),
            factorText(record.speedup("eager")), factorText(record.speedup("compile")),
            factorText(record.speedup("best_stock")),
            limit > 0 ? fmt::format("{:.0f} %", 100 * limit) : "-", inCell(record.cause));
    }
}

} // namespace

std::string markdownReport(const Heading &heading, const std::vector<Record> &records,
                           const std::vector<Summary> &summaries) {
    std::string text = fmt::format("# {}\n\n", inCell(heading.title));
    if (!heading.whole)
        text += "Not all tasks have been evaluated yet; the same command goes on.\n\n";
    for (const auto &version : versionsOf(records))
        text += "- " + inCell(version) + "\n";
    text += fmt::format("- cost: {:.0f} device seconds\n", heading.deviceSeconds);
    if (heading.busyShare)
        text += fmt::format("- GPU busy: {:.0f} % of the last run\n", 100 * *heading.busyShare);
    for (const auto &summary : summaries) {
        text += fmt::format("\n## Numerics: {}\n\n{}.\n\n", task::nameOf(summary.numerics),
                            meaningOf(summary.numerics));
        addGroups(text, summary);
        if (summary.groups.front().measured())
            addFastP(text, summary.groups.front());
        if (const auto algebra = summary.groups.front().algebra; algebra > 0)
            text += fmt::format("\n{} of the correct ones compute something that is the same in "
                                "exact arithmetic only (\"by algebra\" below).\n",
                                algebra);
        addCauses(text, "Failures", summary.causes);
        addCauses(text, "Not judged", summary.unjudged);
        addRecords(text, records, summary.numerics);
    }
    return text;
}

} // namespace cuda_agent::bench
