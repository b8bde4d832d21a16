// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/tasks.h"

#include "core/base/hash.h"
#include "core/base/names.h"
#include "core/synthesis/proposed.h"

#include <algorithm>
#include <set>

namespace cuda_agent::synthesis {

namespace {

constexpr std::size_t longestName = 60;
// Levels by what a kernel author has to hold together.
constexpr std::size_t simpleGraph = 8, middlingGraph = 24;
constexpr std::size_t middlingOperators = 3;
constexpr int highestLevel = 3;
/// No single pair or kind may make up more than this part of a split, or it would be about it
/// alone.
constexpr double largestPart = 0.34;

/// What an endpoint has written tells its operators only when it runs.
std::vector<std::string> orOperators(const std::vector<std::string> &named, const SetTask &task) {
    return named.empty() ? task.checked->figures.value("ops", std::vector<std::string>()) : named;
}

std::set<std::string> fusionsOfTask(const SetTask &task) {
    return fusionsOf(task.candidate->source, orOperators(task.candidate->families, task));
}

std::set<std::string> kindsOfTask(const SetTask &task) {
    const auto &candidate = *task.candidate;
    return kindsOf(candidate.source, orOperators(candidate.kinds, task),
                   orOperators(candidate.families, task));
}

/// Gives `split` to about `share` of all tasks that have none yet: to those with one of some traits
/// that are drawn by the seed.
template <typename Traits>
void holdOut(std::vector<SetTask> &tasks, const std::string &split, double share,
             std::uint64_t seed, const Traits &traitsOf) {
    std::map<std::string, std::vector<SetTask *>> having;
    for (auto &task : tasks)
        for (const auto &trait : traitsOf(task))
            having[trait].push_back(&task);
    std::vector<std::pair<std::string, std::string>> order; // by chance, the same each time
    for (const auto &[trait, those] : having)
        order.emplace_back(sha256Hex(fmt::format("{}/{}/{}", seed, split, trait)), trait);
    std::ranges::sort(order);
    const double wanted = share * static_cast<double>(tasks.size());
    double held = 0;
    for (const auto &[key, trait] : order) {
        const auto &those = having[trait];
        const auto fresh = static_cast<double>(
            std::ranges::count_if(those, [](const auto *task) { return task->split.empty(); }));
        if (held + fresh > wanted || fresh > std::max(1.0, largestPart * wanted))
            continue;
        held += fresh;
        for (auto *task : those)
            if (task->split.empty())
                task->split = split;
    }
}

} // namespace

std::string nameOf(const Candidate &candidate, const std::vector<std::string> &kinds) {
    std::string name = fmt::format("{:06}", candidate.index);
    for (const auto &kind : kinds) {
        const std::string part = nameFrom(kind);
        if (name.size() + part.size() >= longestName)
            break;
        name += "_" + part;
    }
    return name + (candidate.backward ? "_backward" : "");
}

int levelOf(const Candidate &candidate, const Checked &checked, const Json &difficulty) {
    const auto graph = checked.figures.find("graph");
    const auto size = graph != checked.figures.end() ? graph->size() : 0;
    const auto operators = checked.figures.value("ops", Json::array()).size();
    int level = highestLevel;
    if (operators <= 1 && size <= simpleGraph && !candidate.backward)
        level = 1;
    else if (operators <= middlingOperators && size <= middlingGraph)
        level = 2;
    const auto reward = difficulty.find("reward"); // none in what is no object
    if (reward != difficulty.end() && reward->is_number() && reward->get<double>() <= 0)
        level = std::min(level + 1, highestLevel);
    return level;
}

Json SetTask::toJson() const {
    const auto &figures = checked->figures;
    Json json{{"name", name},
              {"level", std::to_string(level)},
              {"split", split},
              {"ops", figures.value("ops", Json::array())},
              {"data_source", candidate->source},
              {"code", candidate->code},
              {"kinds", candidate->kinds},
              {"families", candidate->families},
              {"dtype", candidate->dtype},
              {"backward", candidate->backward},
              {"seconds", timed->seconds},
              {"compile_seconds", compiled ? Json(compiled->seconds) : Json()}};
    for (const auto *key : {"memory_bytes", "operations", "counted_bytes", "graph", "graph_hash"})
        json[key] = figures.value(key, Json());
    json["difficulty"] = difficulty;
    return json;
}

TaskSet assemble(const Recipe &recipe, const std::vector<Entry> &entries,
                 const std::map<std::string, Json> &difficulty, Stage last) {
    TaskSet set;
    std::set<std::string> graphs;
    for (const auto &entry : entries) {
        if (set.tasks.size() == recipe.tasks)
            break;
        const auto passed = [&](Stage stage, const Checked *outcome) {
            return outcome ? outcome->outcome == Outcome::passed : stage > last;
        };
        if (!passed(Stage::check, entry.checked) || !passed(Stage::time, entry.timed) ||
            !passed(Stage::compile, entry.compiled) || !passed(Stage::again, entry.again) ||
            !passed(Stage::third, entry.third))
            continue;
        const auto graph = entry.checked->figures.value("graph_hash", std::string());
        if (!graph.empty() && !graphs.insert(graph).second) {
            ++set.rejected["same graph"];
            continue;
        }
        SetTask task;
        task.candidate = entry.candidate;
        task.checked = entry.checked;
        task.timed = entry.timed;
        task.compiled = entry.compiled;
        task.name = nameOf(*entry.candidate, orOperators(entry.candidate->kinds, task));
        if (const auto found = difficulty.find(entry.candidate->id); found != difficulty.end())
            task.difficulty = found->second;
        task.level = levelOf(*entry.candidate, *entry.checked, task.difficulty);
        set.tasks.push_back(std::move(task));
    }
    holdOut(set.tasks, "outer", recipe.outer, recipe.seed, kindsOfTask);
    holdOut(set.tasks, "held_out", recipe.heldOut, recipe.seed, fusionsOfTask);
    // The rest by chance. A part that is only drawn needs no trait.
    const auto limit = static_cast<std::uint64_t>(recipe.validation * 0x1p32);
    for (auto &task : set.tasks)
        if (task.split.empty()) {
            const auto key =
                sha256Hex(fmt::format("{}/validation/{}", recipe.seed, task.candidate->id));
            task.split =
                std::stoull(key.substr(0, 8), nullptr, 16) < limit ? "validation" : "train";
        }
    return set;
}

std::string linesOf(const TaskSet &set) {
    std::string text;
    for (const auto &task : set.tasks)
        text += task.toJson().dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    return text;
}

} // namespace cuda_agent::synthesis
