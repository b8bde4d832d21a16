// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/card.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <set>

namespace cuda_agent::synthesis {

namespace {

using Counts = std::map<std::string, std::size_t>;

/// Half decades of a call's time.
std::string timeClass(double seconds) {
    const double step = std::floor(std::log10(seconds * 1e3) * 2);
    const auto edge = [](double at) { return std::pow(10, at / 2); };
    return fmt::format("{:.3g} to {:.3g} ms", edge(step), edge(step + 1));
}

double edgeOf(const std::string &name) {
    return std::strtod(name.c_str(), nullptr);
}

/// What the planner's reward and turns say of a task.
std::string difficultyClass(const Json &difficulty) {
    if (!difficulty.is_object())
        return "not measured";
    const auto turns = difficulty.value("turns", 0);
    return difficulty.value("reward", 0.0) <= 0 ? "not right in any turn"
           : turns <= 1                         ? "right in the first turn"
                                                : fmt::format("right after {} turns", turns);
}

Json asJson(const Counts &counts) {
    Json json = Json::object();
    for (const auto &[name, count] : counts)
        json[name] = count;
    return json;
}

/// What the independent audits of the published set of 6,000 found (arXiv 2602.24286).
struct Published {
    const char *what;
    const char *key;
    const char *published;
};
constexpr Published audits[]{
    {"byte-identical duplicates", "text_duplicates", "352 of 6,000"},
    {"same but for names and spelling, or the same operator graph", "duplicates", "not known"},
    {"`ops` disagree with what runs", "label_disagreements", "550 of 6,000"},
    {"overlap with KernelBench", "benchmark_overlaps", "126 of 6,000"},
    {"fail when run again", "failures", "about 1,200 of 6,000"},
};

void addTable(std::string &text, const char *title, const Json &counts, double all,
              std::size_t most = 1000) {
    text += fmt::format("\n## {}\n\n| | tasks | |\n|---|---|---|\n", title);
    std::vector<std::pair<std::string, std::size_t>> rows;
    for (const auto &[name, count] : counts.items())
        rows.emplace_back(name, count.get<std::size_t>());
    if (!rows.empty() && rows.front().first.ends_with(" ms"))
        std::ranges::sort(rows, {}, [](const auto &row) { return edgeOf(row.first); });
    else if (rows.size() > 12)
        std::ranges::stable_sort(rows, std::greater(), [](const auto &row) { return row.second; });
    for (std::size_t i = 0; i < rows.size() && i < most; ++i)
        text += fmt::format("| {} | {} | {:.1f} % |\n", rows[i].first, rows[i].second,
                            100 * static_cast<double>(rows[i].second) / std::max(all, 1.0));
    if (rows.size() > most)
        text += fmt::format("\nand {} more, all in card.json.\n", rows.size() - most);
}

} // namespace

Json toJson(const Audit &audit) {
    return {{"text_duplicates", audit.textDuplicates},
            {"duplicates", audit.duplicates},
            {"benchmark_overlaps", audit.benchmark},
            {"run", audit.run},
            {"label_disagreements", audit.disagreements},
            {"failures", audit.failures},
            {"by_further_draws", audit.byFurtherDraws},
            {"time_drifted", audit.drifted},
            {"details", audit.details}};
}

Result<Audit> auditFromJson(const Json &json) {
    Audit audit;
    try {
        json.at("text_duplicates").get_to(audit.textDuplicates);
        json.at("duplicates").get_to(audit.duplicates);
        json.at("benchmark_overlaps").get_to(audit.benchmark);
        json.at("run").get_to(audit.run);
        json.at("label_disagreements").get_to(audit.disagreements);
        json.at("failures").get_to(audit.failures);
        audit.byFurtherDraws = json.value("by_further_draws", std::size_t{0}); // since later
        json.at("time_drifted").get_to(audit.drifted);
        json.at("details").get_to(audit.details);
    } catch (const Json::exception &problem) {
        return requestError("no audit: {}", problem.what());
    }
    return audit;
}

Json cardOf(const Recipe &recipe, const TaskSet &set, std::size_t proposed,
            const std::map<std::string, std::size_t> &rejected, const Json &crawl,
            const Audit &audit, const Json &versions) {
    Counts sources, levels, splits, dtypes, times, numbers, operators, families, difficulties;
    std::size_t backward = 0, fromThree = 0, blocks = 0, measured = 0, sped = 0;
    double logs = 0;
    for (const auto &task : set.tasks) {
        const auto ops = task.checked->figures.value("ops", std::vector<std::string>());
        ++sources[task.candidate->source];
        ++levels[std::to_string(task.level)];
        ++difficulties[difficultyClass(task.difficulty)];
        measured += task.difficulty.is_object() ? 1 : 0;
        ++splits[task.split];
        ++dtypes[task.candidate->dtype];
        ++times[timeClass(task.timed->seconds)];
        ++numbers[fmt::format("{} operator{}", ops.size(), ops.size() == 1 ? "" : "s")];
        for (const auto &name : std::set<std::string>(ops.begin(), ops.end()))
            ++operators[name];
        for (const auto &name : std::set<std::string>(task.candidate->families.begin(),
                                                      task.candidate->families.end()))
            ++families[name];
        backward += task.candidate->backward ? 1 : 0;
        fromThree += ops.size() >= 3 ? 1 : 0;
        blocks += task.candidate->source == "transformers" ? 1 : 0;
        if (task.compiled->seconds > 0) {
            logs += std::log(task.timed->seconds / task.compiled->seconds);
            ++sped;
        }
    }
    Counts crawled;
    if (crawl.is_array())
        for (const auto &entry : crawl)
            ++crawled[entry.value("kept", false) ? "kept"
                                                 : entry.value("reason", std::string("?"))];
    Json card{{"name", recipe.name},
              {"seed", recipe.seed},
              {"tasks", set.tasks.size()},
              {"proposed", proposed},
              {"operators_distinct", operators.size()},
              {"with_three_or_more", fromThree},
              {"transformers", blocks},
              {"backward", backward},
              {"sources", asJson(sources)},
              {"levels", asJson(levels)},
              {"splits", asJson(splits)},
              {"dtypes", asJson(dtypes)},
              {"times", asJson(times)},
              {"numbers", asJson(numbers)},
              {"operators", asJson(operators)},
              {"families", asJson(families)},
              {"rejected", asJson(rejected)},
              {"crawl", asJson(crawled)},
              {"audit", toJson(audit)},
              {"recipe", toJson(recipe)},
              {"versions", versions}};
    if (measured > 0)
        card["difficulties"] = asJson(difficulties);
    if (sped > 0)
        card["compile_over_eager"] = std::exp(logs / static_cast<double>(sped));
    return card;
}

std::string cardAsMarkdown(const Json &card) {
    const auto all = card["tasks"].get<double>();
    std::string text = fmt::format(
        "# {}\n\n{} tasks from {} candidates, seed {}. {} distinct "
        "operators; {} tasks of three or more operators, {} of "
        "transformers modules, {} with a backward pass.",
        card["name"].get<std::string>(), card["tasks"].dump(), card["proposed"].dump(),
        card["seed"].dump(), card["operators_distinct"].dump(), card["with_three_or_more"].dump(),
        card["transformers"].dump(), card["backward"].dump());
    if (card.contains("compile_over_eager"))
        text += fmt::format(" `torch.compile` over eager: {:.2f}x (geometric mean).",
                            card["compile_over_eager"].get<double>());
    text += "\n\n| | |\n|---|---|\n";
    for (const auto &[name, version] : card["versions"].items())
        text += fmt::format("| {} | {} |\n", name,
                            version.is_string() ? version.get<std::string>() : version.dump());
    text += "\n## Audit\n\n| | published set | this set |\n|---|---|---|\n";
    const auto &audit = card["audit"];
    for (const auto &row : audits) {
        const bool again =
            row.key == std::string("failures") || row.key == std::string("label_disagreements");
        text += fmt::format("| {} | {} | {}{} |\n", row.what, row.published, audit[row.key].dump(),
                            again ? fmt::format(" of {} run once more", audit["run"].dump()) : "");
    }
    if (audit["by_further_draws"].get<std::size_t>() > 0)
        text +=
            fmt::format("\nOf those run once more, {} needed a second or third draw of inputs to "
                        "be told from a wrong answer; the judge makes five.\n",
                        audit["by_further_draws"].dump());
    if (audit["time_drifted"].get<std::size_t>() > 0)
        text +=
            fmt::format("\nOf those run once more, the time of {} lay outside the range then.\n",
                        audit["time_drifted"].dump());
    addTable(text, "Sources", card["sources"], all);
    addTable(text, "Number of operators", card["numbers"], all);
    addTable(text, "Levels", card["levels"], all);
    if (card.contains("difficulties"))
        addTable(text, "Difficulty, as a policy's sessions found it", card["difficulties"], all);
    addTable(text, "Splits", card["splits"], all);
    addTable(text, "Element types", card["dtypes"], all);
    addTable(text, "Eager time of a call", card["times"], all);
    addTable(text, "Families of operators", card["families"], all, 40);
    addTable(text, "Operators", card["operators"], all, 60);
    addTable(text, "Candidates that were refused", card["rejected"],
             card["proposed"].get<double>());
    addTable(
        text, "What the crawl found", card["crawl"],
        [&] {
            double sum = 0;
            for (const auto &entry : card["crawl"])
                sum += entry.get<double>();
            return sum;
        }(),
        60);
    return text;
}

} // namespace cuda_agent::synthesis
