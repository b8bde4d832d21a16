// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/html_plots.h"
#include "core/bench/report.h"

#include <algorithm>

namespace cuda_agent::bench {

namespace {

constexpr const char *style = R"css(
:root { --back: #fff; --text: #1c1e21; --dim: #667; --line: #d5d9de; --series-1: #1864ab;
  --series-2: #b35c00; --series-3: #2b8a3e; --bad: #b02a37; }
@media (prefers-color-scheme: dark) { :root { --back: #1b1d20; --text: #e4e6e9; --dim: #9aa3ad;
  --line: #3a3f45; --series-1: #74b3f0; --series-2: #f0a050; --series-3: #69c77d; --bad: #ff8787; } }
body { background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif;
  max-width: 1180px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; } h3 { font-size: 1em; }
.dim { color: var(--dim); } .bad { color: var(--bad); }
table { border-collapse: collapse; margin: .5em 0; }
th, td { border-bottom: 1px solid var(--line); padding: .2em .7em; text-align: left;
  vertical-align: top; }
th { white-space: nowrap; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.groups td { white-space: nowrap; }
table.results th { cursor: pointer; position: sticky; top: 0; background: var(--back); }
.plots { display: flex; flex-wrap: wrap; gap: 1em; } .plots svg { width: 560px; max-width: 100%; }
svg text { fill: var(--dim); font-size: 11px; } svg .grid { stroke: var(--line); }
svg .one { stroke: var(--text); stroke-dasharray: 4 3; }
svg polyline { fill: none; stroke-width: 2; }
.s1 { stroke: var(--series-1); } .s2 { stroke: var(--series-2); } .s3 { stroke: var(--series-3); }
svg .t1 { fill: var(--series-1); } svg .t2 { fill: var(--series-2); }
svg .t3 { fill: var(--series-3); }
.d1 { fill: var(--series-1); } .d2 { fill: var(--series-2); }
.bar { background: var(--series-1); height: .7em; min-width: 1px; }
.phases td:last-child { width: 20em; }
)css";

constexpr const char *script = R"js(
for (const head of document.querySelectorAll("table.results th"))
  head.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0], at = head.cellIndex;
    const up = head.dataset.up = head.dataset.up === "1" ? "0" : "1";
    const key = row => row.cells[at].dataset.key ?? row.cells[at].textContent;
    const rows = [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b), n = parseFloat(x) - parseFloat(y);
      return (Number.isNaN(n) ? x.localeCompare(y, undefined, {numeric: true}) : n)
        * (up === "1" ? 1 : -1);
    });
    body.append(...rows);
  });
)js";

std::string cell(const std::string &text) {
    return "<td>" + escaped(text) + "</td>";
}
/// A figure, and what it sorts by.
std::string figure(const std::string &text, double key) {
    return fmt::format("<td class=\"n\" data-key=\"{}\">{}</td>", key, escaped(text));
}
std::string figure(const std::string &text) {
    return "<td class=\"n\">" + escaped(text) + "</td>";
}

std::string groupTable(const Summary &summary) {
    std::string html =
        "<table class=\"groups\"><tr><th></th><th class=\"n\">judged</th><th "
        "class=\"n\">correct</th><th "
        "class=\"n\">at the limit</th><th>over</th><th class=\"n\">more than 5 % faster</th><th "
        "class=\"n\">so or at the limit</th><th class=\"n\">geometric mean</th><th "
        "class=\"n\">failures counted as stock</th></tr>\n";
    for (const auto &group : summary.groups)
        for (std::size_t i = 0; i < group.against.size(); ++i) {
            const auto &each = group.against[i];
            html += "<tr>";
            if (i == 0)
                html +=
                    cell(group.name) + figure(std::to_string(group.judged)) +
                    figure(fmt::format("{} ({:.0f} %)", group.correct, 100 * group.passRate())) +
                    figure(fastText(group, group.limit));
            else
                html += "<td></td><td></td><td></td><td></td>";
            html += cell(each.name == "best_stock" ? "best stock" : each.name) +
                    figure(fastText(group, each.faster)) +
                    figure(fastText(group, each.fasterOrAtLimit)) +
                    figure(meanText(group, each.geometricMean)) +
                    figure(meanText(group, each.geometricMeanOfAll)) + "</tr>\n";
        }
    return html + "</table>\n";
}

std::string causeTable(const char *title, const std::vector<Cause> &causes) {
    if (causes.empty())
        return {};
    std::string html = fmt::format("<h3>{}</h3>\n<table><tr><th class=\"n\">tasks</th><th>cause"
                                   "</th><th>which</th></tr>\n",
                                   title);
    for (const auto &cause : causes)
        html += "<tr>" + figure(std::to_string(cause.tasks.size())) + cell(cause.what) +
                cell(fmt::format("{}", fmt::join(cause.tasks, ", "))) + "</tr>\n";
    return html + "</table>\n";
}

std::string recordRow(const Record &record, bool samples) {
    std::string html = "<tr>" + cell(record.task) + cell(record.name);
    if (samples)
        html += figure(record.sample >= 0 ? std::to_string(record.sample) : "");
    const bool correct = record.outcome == Outcome::correct;
    std::string outcome(nameOf(record.outcome));
    if (record.algebra)
        outcome += ", by algebra";
    html += correct ? cell(outcome) : "<td class=\"bad\">" + escaped(outcome) + "</td>";
    for (const char *time : {"/times/candidate/seconds", "/times/eager/seconds",
                             "/times/compile/seconds", "/best_stock/seconds"}) {
        const double seconds = positiveAt(record.verdict, time).value_or(0);
        html += figure(timeText(seconds), seconds);
    }
    for (const char *over : {"eager", "compile", "best_stock"}) {
        const auto speedup = record.speedup(over);
        html += figure(factorText(speedup), speedup.value_or(0));
    }
    const double limit = record.fractionOfLimit();
    html += figure(limit > 0 ? fmt::format("{:.0f} %", 100 * limit) : "-", limit) +
            figure(fmt::format("{:.1f} s", record.seconds), record.seconds) +
            cell(record.cause.substr(0, 300));
    return html + "</tr>\n";
}

std::string recordTable(const std::vector<const Record *> &records) {
    const bool samples =
        std::ranges::any_of(records, [](const Record *record) { return record->sample > 0; });
    std::string html = "<table class=\"results\"><thead><tr><th>task</th><th>name</th>";
    if (samples)
        html += "<th class=\"n\">sample</th>";
    html += "<th>outcome</th>";
    for (const char *title : {"candidate", "eager", "compile", "best stock", "over eager",
                              "over compile", "over best stock", "of limit", "took"})
        html += fmt::format("<th class=\"n\">{}</th>", title);
    html += "<th>cause</th></tr></thead><tbody>\n";
    for (const auto *record : records)
        html += recordRow(*record, samples);
    return html + "</tbody></table>\n";
}

std::string modeSection(const Summary &summary, const std::vector<Record> &all) {
    std::vector<const Record *> records, algebra;
    for (const auto &record : all)
        if (record.numerics == summary.numerics) {
            records.push_back(&record);
            if (record.algebra && record.outcome == Outcome::correct)
                algebra.push_back(&record);
        }
    std::string html =
        fmt::format("<h2>Numerics: {} <span class=\"dim\">{}</span></h2>\n",
                    escaped(task::nameOf(summary.numerics)), meaningOf(summary.numerics));
    html += groupTable(summary);
    html += "<div class=\"plots\">\n";
    if (summary.groups.front().measured())
        html += fastPPlot(summary.groups.front());
    for (const char *over : {"compile", "best_stock"})
        html += speedupPlot(records, over);
    html += "</div>\n";
    if (!algebra.empty())
        html += fmt::format(
            "<h3>By algebra</h3>\n<p>{} of the correct ones compute something that is the same in "
            "exact arithmetic only; they stand in the figures above, and here apart.</p>\n{}",
            algebra.size(), recordTable(algebra));
    html += causeTable("Failures", summary.causes);
    html += causeTable("Not judged", summary.unjudged);
    if (const auto phases = phasesTable(summary); !phases.empty())
        html += "<h3>Where the time went</h3>\n<p class=\"dim\">Wall time of all workers together."
                "</p>\n" +
                phases;
    return html + "<h3>Every task</h3>\n" + recordTable(records);
}

} // namespace

std::vector<std::string> versionsOf(const std::vector<Record> &records) {
    std::vector<std::string> lines;
    for (const auto &record : records)
        for (const auto &[key, value] : record.versions.items()) {
            const std::string line =
                key + ": " + (value.is_string() ? value.get<std::string>() : value.dump());
            if (std::ranges::find(lines, line) == lines.end())
                lines.push_back(line);
        }
    return lines;
}

std::string factorText(std::optional<double> factor) {
    return factor ? fmt::format("{:.2f}x", *factor) : "-";
}

std::string fastText(const Group &group, std::size_t count) {
    return group.measured() ? std::to_string(count) : "-";
}

std::string meanText(const Group &group, double mean) {
    return factorText(mean > 0 && group.measured() ? std::optional(mean) : std::nullopt);
}

std::string timeText(double seconds) {
    if (seconds <= 0)
        return "-";
    if (seconds < 1e-3)
        return fmt::format("{:.1f} us", 1e6 * seconds);
    if (seconds < 1)
        return fmt::format("{:.3f} ms", 1e3 * seconds);
    return fmt::format("{:.2f} s", seconds);
}

std::string htmlReport(const Heading &heading, const std::vector<Record> &records,
                       const std::vector<Summary> &summaries) {
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
        "name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}</style>"
        "\n</head>\n<body>\n<h1>{0}</h1>\n",
        escaped(heading.title), style);
    if (!heading.whole)
        html += "<p class=\"bad\">Not all tasks have been evaluated yet; the same command goes on."
                "</p>\n";
    html += "<p class=\"dim\">";
    for (const auto &version : versionsOf(records))
        html += escaped(version) + "<br>\n";
    html += fmt::format("cost: {:.0f} device seconds", heading.deviceSeconds);
    if (heading.busyShare)
        html += fmt::format("<br>\nGPU busy: {:.0f} % of the last run", 100 * *heading.busyShare);
    html += "</p>\n<details><summary>Settings</summary><pre>" + escaped(heading.settings.dump(2)) +
            "</pre></details>\n";
    for (const auto &summary : summaries)
        html += modeSection(summary, records);
    return html + "<script>" + script + "</script>\n</body>\n</html>\n";
}

} // namespace cuda_agent::bench
