// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/endurance/manifest.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace cuda_agent::endurance {

namespace {

constexpr std::size_t fullEvery = 10; ///< untimed ones, in full strength

// Written out, as the standard's distributions differ between libraries.
std::size_t below(std::mt19937_64 &random, std::size_t count) {
    return static_cast<std::size_t>(random() % count);
}
double unit(std::mt19937_64 &random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
}
template <typename T>
void shuffle(std::vector<T> &list, std::mt19937_64 &random) {
    for (std::size_t i = list.size(); i > 1; --i)
        std::swap(list[i - 1], list[below(random, i)]);
}

/// `count` of `side`: each once while there is room, then by weight.
void drawSide(const Manifest &manifest, std::vector<std::size_t> side, std::size_t count,
              std::mt19937_64 &random, std::vector<Turn> &turns) {
    shuffle(side, random);
    const auto once = std::min(side.size(), count);
    for (std::size_t i = 0; i < once; ++i)
        turns.push_back({side[i], 0, false});
    const double all = std::accumulate(side.begin(), side.end(), 0.0, [&](double sum, auto entry) {
        return sum + manifest.entries[entry].weight;
    });
    for (std::size_t i = once; i < count; ++i) {
        double left = unit(random) * all;
        std::size_t at = 0;
        while (at + 1 < side.size() && (left -= manifest.entries[side[at]].weight) >= 0)
            ++at;
        turns.push_back({side[at], 0, false});
    }
}

} // namespace

Result<Manifest> manifestFromJson(const Json &json) {
    Manifest manifest;
    std::string at = "the manifest";
    try {
        for (const auto &each : json.at("tasks")) {
            at = fmt::format("task {}", manifest.tasks.size());
            Task task;
            task.file = each.at("file").get<std::string>();
            task.sets = each.at("sets").get<std::vector<std::string>>();
            CUDA_AGENT_ASSIGN(rules, modules::rulesFromName(each.at("rules").get<std::string>()));
            task.rules = rules;
            task.timing = each.at("timing").get<bool>();
            manifest.tasks.push_back(std::move(task));
        }
        at = "\"accusing\"";
        manifest.accusing = json.at("accusing").get<std::vector<std::string>>();
        for (const auto &each : json.at("entries")) {
            at = fmt::format("entry {}", manifest.entries.size());
            Entry entry;
            entry.name = each.at("name").get<std::string>();
            entry.task = each.at("task").get<std::size_t>();
            entry.path = each.at("path").get<std::string>();
            entry.wanted = each.at("wanted").get<std::vector<std::string>>();
            entry.honest = each.at("honest").get<bool>();
            entry.module = each.at("module").get<bool>();
            entry.full = each.at("full").get<bool>();
            entry.weight = each.at("weight").get<double>();
            if (entry.task >= manifest.tasks.size() || entry.wanted.empty() || !(entry.weight > 0))
                return requestError("{} ('{}') of the manifest names a task that is not there, no "
                                    "wanted place, or no weight above 0",
                                    at, entry.name);
            manifest.entries.push_back(std::move(entry));
        }
    } catch (const Json::exception &problem) {
        return requestError("{} cannot be used: {}", at, problem.what());
    }
    const auto honest = std::ranges::count_if(manifest.entries, &Entry::honest);
    if (honest == 0 || honest == std::ssize(manifest.entries))
        return requestError("the manifest needs honest entries and others; {} of its {} are honest",
                            honest, manifest.entries.size());
    return manifest;
}

Draw draw(const Manifest &manifest, std::size_t count, std::uint64_t seed, double vary) {
    std::mt19937_64 random(seed);
    std::vector<std::size_t> honest, hostile;
    for (std::size_t i = 0; i < manifest.entries.size(); ++i)
        (manifest.entries[i].honest ? honest : hostile).push_back(i);
    Draw result;
    drawSide(manifest, honest, count / 2, random, result.turns);
    drawSide(manifest, hostile, count - count / 2, random, result.turns);
    shuffle(result.turns, random);
    for (std::size_t i = 0; i < result.turns.size(); ++i) {
        auto &turn = result.turns[i];
        turn.variation = unit(random) < vary ? i + 1 : 0;
        const auto &entry = manifest.entries[turn.entry];
        const bool chosen = below(random, fullEvery) == 0;
        turn.full = entry.full || (chosen && !manifest.tasks[entry.task].timing);
    }
    std::set<std::pair<std::size_t, bool>> seen;
    std::stable_partition(result.turns.begin(), result.turns.end(), [&](const Turn &turn) {
        const auto &entry = manifest.entries[turn.entry];
        const bool first = seen.insert({entry.task, entry.module}).second;
        result.warmUp += first ? 1 : 0;
        return first;
    });
    result.warmUp = std::max(result.warmUp, (count + 9) / 10);
    return result;
}

void varyTexts(judge::Candidate &candidate, std::uint64_t variation) {
    std::visit(
        [&](auto &each) {
            for (auto &[path, text] : each.files)
                if (path.ends_with(".cu"))
                    text += fmt::format("\n// variation {}\n", variation);
        },
        candidate);
}

std::string placeOf(const Result<judge::Verdict> &verdict) {
    if (!verdict) {
        switch (verdict.error().kind) {
        case ErrorKind::request:
            return "request";
        case ErrorKind::machine:
            return "machine";
        case ErrorKind::stopped:
            return "stopped";
        case ErrorKind::failed:
            return "error";
        }
    }
    if (!verdict->compiled)
        return "compile";
    if (verdict->correct)
        return "passed";
    const auto *failed = verdict->verification.failed();
    return failed ? failed->name : "start";
}

std::optional<std::string> complaint(const Manifest &manifest, const Entry &entry,
                                     const Result<judge::Verdict> &verdict) {
    const auto place = placeOf(verdict);
    const auto holds = [](const std::vector<std::string> &texts, const std::string &text) {
        return std::ranges::find(texts, text) != texts.end();
    };
    if (place == "passed")
        for (const auto &flag : verdict->flags) {
            for (const auto &wanted : entry.wanted)
                if (wanted.starts_with("flag:") && flag.find(wanted.substr(5)) != flag.npos)
                    return {};
            for (const auto &accusing : manifest.accusing)
                if (entry.honest && flag.find(accusing) != flag.npos)
                    return fmt::format("{}: accused: {}", entry.name, flag);
        }
    if (holds(entry.wanted, place))
        return {};
    std::string wanted;
    for (const auto &each : entry.wanted)
        wanted += (wanted.empty() ? "" : " or ") + each;
    return fmt::format("{}: {} where {} is right: {}", entry.name, place, wanted,
                       verdict ? verdict->problem : verdict.error().message);
}

} // namespace cuda_agent::endurance
