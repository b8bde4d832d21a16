// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/audit.h"

#include "core/base/hash.h"

#include <algorithm>
#include <array>
#include <set>

namespace cuda_agent::synthesis {

namespace {

constexpr std::size_t mostDetails = 50;
/// What hangs on the inputs that are drawn: the judge draws several, and a wrong answer has to pass
/// with all of them.
constexpr std::array ofOneDraw{"indistinct", "redundant operator", "unused"};

Result<void> lookAtTexts(const Recipe &recipe, const TaskSet &set, Proposer &proposer, Audit &audit,
                         const std::stop_token &stop) {
    std::set<std::string> texts, normal, graphs;
    for (const auto &task : set.tasks) {
        audit.textDuplicates += texts.insert(sha256Hex(task.candidate->code)).second ? 0 : 1;
        Candidate again = *task.candidate;
        CUDA_AGENT_TRY(proposer.look(again, stop));
        const auto graph = task.checked->figures.value("graph_hash", std::string());
        const bool known = !normal.insert(again.exactHash).second ||
                           (!graph.empty() && !graphs.insert(graph).second);
        audit.duplicates += known ? 1 : 0;
        audit.benchmark += again.similarity > recipe.similarity ? 1 : 0;
    }
    return {};
}

} // namespace

Result<Audit> auditOf(const Recipe &recipe, const TaskSet &set, Filter &filter, Proposer &proposer,
                      const std::function<void(std::size_t, std::size_t)> &done,
                      std::stop_token stop) {
    Audit audit;
    CUDA_AGENT_TRY(lookAtTexts(recipe, set, proposer, audit, stop));
    std::vector<std::pair<std::string, const Candidate *>> drawn;
    for (const auto &task : set.tasks)
        drawn.emplace_back(sha256Hex(fmt::format("{}/audit/{}", recipe.seed, task.candidate->id)),
                           task.candidate);
    std::ranges::sort(drawn);
    drawn.resize(std::min(drawn.size(), static_cast<std::size_t>(recipe.audited)));
    std::vector<const Candidate *> again;
    std::map<std::size_t, const Candidate *> candidateOf;
    for (const auto &[key, candidate] : drawn) {
        again.push_back(candidate);
        candidateOf[candidate->index] = candidate;
    }
    std::vector<const Candidate *> passed, doubtful;
    const auto heard = [&](const Checked &checked) -> Result<bool> {
        if (checked.stage == Stage::check)
            done(++audit.run, again.size());
        if (checked.outcome == Outcome::passed)
            passed.push_back(candidateOf.at(checked.index));
        else if (checked.reason == "too fast" || checked.reason == "too slow")
            ++audit.drifted;
        else if (checked.stage != Stage::third &&
                 std::ranges::find(ofOneDraw, checked.reason) != ofOneDraw.end())
            doubtful.push_back(candidateOf.at(checked.index));
        else {
            ++(checked.reason == "other operators" ? audit.disagreements : audit.failures);
            if (audit.details.size() < mostDetails)
                audit.details.push_back(
                    fmt::format("{}: {}: {}", checked.index, checked.reason, checked.detail));
        }
        return true;
    };
    CUDA_AGENT_TRY(filter.run(Stage::check, again, Rigour::justSo, heard, stop));
    const auto byTheFirstDraw = passed.size();
    for (const auto look : {Stage::again, Stage::third})
        CUDA_AGENT_TRY(filter.run(look, std::exchange(doubtful, {}), Rigour::justSo, heard, stop));
    audit.byFurtherDraws = passed.size() - byTheFirstDraw;
    const auto timed = std::exchange(passed, {});
    CUDA_AGENT_TRY(filter.run(Stage::time, timed, Rigour::justSo, heard, stop));
    return audit;
}

} // namespace cuda_agent::synthesis
