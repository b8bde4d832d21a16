// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/summary.h"

#include "core/reward/reward.h"

#include <algorithm>
#include <cmath>
#include <regex>

namespace cuda_agent::bench {

namespace {

bool judged(const Record &record) {
    switch (record.outcome) {
    case Outcome::missing:
    case Outcome::unusable:
    case Outcome::machine:
        return false;
    default:
        return true;
    }
}

Against against(const std::string &name, const std::vector<const Record *> &records) {
    Against result{name, 0, 0, 0, 0, std::vector<double>(fastPs().size(), 0.0)};
    double logs = 0;
    std::size_t counted = 0;
    for (const auto *record : records) {
        const auto speedup = record->speedup(name);
        const bool limit = record->fractionOfLimit() >= reward::atLimit;
        if (!speedup) { // right, but without a time of that setting to compare with
            result.fasterOrAtLimit += limit ? 1 : 0;
            continue;
        }
        ++counted;
        logs += std::log(*speedup);
        result.faster += *speedup > reward::clearlyFaster ? 1 : 0;
        result.fasterOrAtLimit += *speedup > reward::clearlyFaster || limit ? 1 : 0;
        for (std::size_t i = 0; i < fastPs().size(); ++i)
            result.fastP[i] += *speedup > fastPs()[i] ? 1 : 0;
    }
    if (counted > 0)
        result.geometricMean = std::exp(logs / static_cast<double>(counted));
    if (!records.empty()) {
        const auto all = static_cast<double>(records.size());
        result.geometricMeanOfAll = std::exp(logs / all);
        for (auto &share : result.fastP)
            share /= all;
    }
    return result;
}

Group groupOf(const std::string &name, const std::vector<const Record *> &records) {
    Group group;
    group.name = name;
    group.records = records.size();
    std::vector<const Record *> counting;
    for (const auto *record : records) {
        ++group.outcomes[record->outcome];
        if (!judged(*record))
            continue;
        counting.push_back(record);
        if (record->outcome != Outcome::correct)
            continue;
        ++group.correct;
        group.timed += positiveAt(record->verdict, "/times/candidate/seconds") ? 1 : 0;
        group.limit += record->fractionOfLimit() >= reward::atLimit ? 1 : 0;
        group.algebra += record->algebra ? 1 : 0;
    }
    group.judged = counting.size();
    for (const char *over : {"eager", "compile", "best_stock"})
        group.against.push_back(against(over, counting));
    return group;
}

/// What two failures of one cause share: the place in a file is left out, digits become one mark,
/// so does what stands in quotation marks or brackets, and all after the first sentence goes.
std::string commonPart(std::string cause) {
    static const std::regex place(R"(^[^ ]*\.(py|cu|cpp|json)(:\d+)*: )");
    cause = std::regex_replace(cause.substr(0, 1000), place, "");
    std::string text;
    char closing = 0;
    for (std::size_t i = 0; i < cause.size() && text.size() < 100; ++i) {
        const char c = cause[i];
        if (closing != 0) {
            closing = c == closing ? char(0) : closing;
            continue;
        }
        if (c == '\n' || (c == ':' && text.find(": ") != text.npos))
            break;
        const bool opens = c == '(' || c == '[' || c == '\'' || c == '"';
        if (opens && (c != '\'' || i == 0 || cause[i - 1] == ' ')) {
            closing = c == '(' ? ')' : c == '[' ? ']' : c;
            continue;
        }
        if (c >= '0' && c <= '9') {
            if (!text.ends_with('#'))
                text += '#';
            continue;
        }
        if (c == ' ' && text.ends_with(' '))
            continue;
        text += c;
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == ':' || text.back() == ','))
        text.pop_back();
    return text.empty() ? "no reason was told" : text;
}

/// The check that failed and how a process ended say more than the sentence about one element.
std::string reasonOf(const Record &record) {
    const auto text = [&](const char *pointer) {
        const Json::json_pointer at(pointer);
        return record.verdict.is_object() && record.verdict.contains(at) &&
                       record.verdict.at(at).is_string()
                   ? record.verdict.at(at).get<std::string>()
                   : std::string();
    };
    const auto check = text("/failed_check/name");
    const auto fault = text("/fault/kind");
    if (check.empty())
        return commonPart(record.cause);
    return fault.empty() ? check : check + ", " + fault;
}

std::vector<Cause> causesOf(const std::vector<const Record *> &records, bool ofJudged) {
    std::map<std::string, Cause> found;
    for (const auto *record : records) {
        if (record->outcome == Outcome::correct || judged(*record) != ofJudged)
            continue;
        const auto what = fmt::format("{}: {}", nameOf(record->outcome), reasonOf(*record));
        auto &cause = found[what];
        cause.what = what;
        cause.tasks.push_back(record->sample > 0
                                  ? fmt::format("{} sample {}", record->task, record->sample)
                                  : record->task);
    }
    std::vector<Cause> causes;
    for (auto &[what, cause] : found)
        causes.push_back(std::move(cause));
    std::ranges::stable_sort(causes, std::greater<>(),
                             [](const Cause &cause) { return cause.tasks.size(); });
    return causes;
}

Json toJson(const Against &against) {
    Json fast = Json::array();
    for (std::size_t i = 0; i < fastPs().size(); ++i)
        fast.push_back({fastPs()[i], against.fastP[i]});
    return {{"faster", against.faster},
            {"faster_or_at_limit", against.fasterOrAtLimit},
            {"geometric_mean", against.geometricMean},
            {"geometric_mean_failures_as_stock", against.geometricMeanOfAll},
            {"fast_p", std::move(fast)}};
}

} // namespace

const std::vector<double> &fastPs() {
    static const std::vector<double> values = [] {
        std::vector<double> all;
        for (int i = 0; i <= 12; ++i)
            all.push_back(0.25 * i);
        for (const double p : {4.0, 6.0, 8.0})
            all.push_back(p);
        return all;
    }();
    return values;
}

double Group::passRate() const {
    return judged > 0 ? static_cast<double>(correct) / static_cast<double>(judged) : 0;
}

std::string_view meaningOf(task::Numerics numerics) {
    switch (numerics) {
    case task::Numerics::standard:
        return "like for like: PyTorch's defaults on both sides";
    case task::Numerics::tf32:
        return "like for like: TF32 on both sides";
    case task::Numerics::published:
        return "as published: the candidate may use TF32, the baseline keeps PyTorch's defaults";
    }
    return "";
}

std::vector<Summary> summarise(const std::vector<Record> &records) {
    std::vector<Summary> summaries;
    for (const auto numerics :
         {task::Numerics::standard, task::Numerics::tf32, task::Numerics::published}) {
        std::vector<const Record *> all;
        std::map<std::string, std::vector<const Record *>> levels;
        for (const auto &record : records)
            if (record.numerics == numerics) {
                all.push_back(&record);
                levels[record.level].push_back(&record);
            }
        if (all.empty())
            continue;
        Summary summary;
        summary.numerics = numerics;
        summary.groups.push_back(groupOf("all", all));
        if (levels.size() > 1)
            for (const auto &[level, some] : levels)
                summary.groups.push_back(
                    groupOf(level.empty() ? "no level" : "level " + level, some));
        summary.causes = causesOf(all, true);
        summary.unjudged = causesOf(all, false);
        for (const auto *record : all) {
            summary.seconds += record->seconds;
            for (const auto &[phase, seconds] : record->phases)
                summary.phases[phase] += seconds;
        }
        summaries.push_back(std::move(summary));
    }
    return summaries;
}

Json toJson(const Summary &summary) {
    Json groups = Json::array();
    for (const auto &group : summary.groups) {
        Json json{{"name", group.name},       {"records", group.records},
                  {"judged", group.judged},   {"correct", group.correct},
                  {"timed", group.timed},     {"pass_rate", group.passRate()},
                  {"algebra", group.algebra}, {"outcomes", Json::object()}};
        for (const auto &[outcome, count] : group.outcomes)
            json["outcomes"][std::string(nameOf(outcome))] = count;
        if (group.measured()) {
            json["at_limit"] = group.limit;
            for (const auto &each : group.against)
                json["against"][each.name] = toJson(each);
        }
        groups.push_back(std::move(json));
    }
    const auto causes = [](const std::vector<Cause> &all) {
        Json list = Json::array();
        for (const auto &cause : all)
            list.push_back({{"cause", cause.what}, {"tasks", cause.tasks}});
        return list;
    };
    return {{"numerics", task::nameOf(summary.numerics)},
            {"groups", std::move(groups)},
            {"failures", causes(summary.causes)},
            {"not_judged", causes(summary.unjudged)},
            {"phases", summary.phases},
            {"seconds", summary.seconds}};
}

} // namespace cuda_agent::bench
