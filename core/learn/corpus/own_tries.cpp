// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/own_tries.h"

#include "core/session/log.h"

#include <algorithm>
#include <set>

namespace cuda_agent::learn {

namespace fs = std::filesystem;

namespace {

std::string textAt(const Json &json, const char *pointer) {
    const Json::json_pointer place(pointer);
    return json.contains(place) && json.at(place).is_string() ? json.at(place).get<std::string>()
                                                              : std::string();
}

std::optional<CandidateText> candidateOf(const fs::path &session, const session::Turn &turn) {
    const auto plan = turn.candidate.find("plan.json"), kernels = turn.candidate.find(kernelFile);
    if (turn.candidate.size() != 2 || plan == turn.candidate.end() ||
        kernels == turn.candidate.end())
        return {};
    const auto planText = session::readBlob(session, plan->second);
    auto kernelText = session::readBlob(session, kernels->second);
    auto json = planText ? parseJson(*planText, "plan.json")
                         : Result<Json>(tl::unexpected(planText.error()));
    if (!json || !kernelText)
        return {};
    return CandidateText{std::move(*kernelText), std::move(*json)};
}

std::vector<fs::path> sessionsBelow(const fs::path &folder) {
    std::vector<fs::path> sessions;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().filename() == "session.jsonl")
            sessions.push_back(entry->path().parent_path());
    std::ranges::sort(sessions);
    return sessions;
}

std::optional<OwnTry> tryOf(const fs::path &session, const session::State &state,
                            TriesWanted wanted) {
    const session::Turn &turn = state.turns.front();
    OwnTry own;
    own.thought = turn.thought;
    session::Observation judged;
    if (turn.verdict) {
        judged.data["verdict"] = *turn.verdict;
        own.verdict = verdictOf(judged);
    }
    if (wanted == TriesWanted::wrong) {
        if (!turn.verdict || turn.verdict->value("correct", true))
            return std::nullopt;
        auto written = candidateOf(session, turn);
        if (!written)
            return std::nullopt;
        own.written = std::move(*written);
        return own;
    }
    if (turn.calls.empty() || turn.calls.back().tool != "Verify" ||
        turn.observations.size() != turn.calls.size())
        return std::nullopt;
    auto written = chat::segmentOf({turn.thought, turn.calls, false, {}});
    auto source = session::readBlob(session, textAt(state.start, "/task/blob"));
    if (!written || !source)
        return std::nullopt;
    own.description = state.description;
    own.source = std::move(*source);
    own.device = textAt(state.start, "/device/name");
    own.turn = std::move(*written);
    own.answer = chat::observationsOf(turn.calls, turn.observations);
    return own;
}

std::string keyOf(const OwnTry &own, TriesWanted wanted) {
    return wanted == TriesWanted::wrong ? own.written.kernels + own.written.plan.dump()
                                        : own.turn.text;
}

} // namespace

Result<std::map<std::string, std::vector<OwnTry>>>
readOwnTries(const fs::path &folder, device::Kind kind, TriesWanted wanted) {
    std::map<std::string, std::vector<OwnTry>> tries;
    std::set<std::string> seen;
    for (const auto &session : sessionsBelow(folder)) {
        const auto log = session::readLog(session);
        if (!log)
            continue;
        const auto state = session::fold(log->events);
        const auto task = textAt(state.start, "/task/name");
        if (task.empty() || textAt(state.start, "/device/kind") != device::nameOf(kind) ||
            state.turns.empty())
            continue;
        auto own = tryOf(session, state, wanted);
        if (own && seen.insert(task + '\n' + keyOf(*own, wanted)).second)
            tries[task].push_back(std::move(*own));
    }
    if (tries.empty())
        return requestError(
            "no session below {} has a first turn on {} that was judged{}; give a run of 'train' "
            "or an evaluation",
            folder.string(), device::nameOf(kind),
            wanted == TriesWanted::wrong ? " and is wrong" : "");
    return tries;
}

} // namespace cuda_agent::learn
