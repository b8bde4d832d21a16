// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/from_session.h"

#include "core/session/log.h"
#include "core/session/state.h"

namespace cuda_agent::exporter {

namespace {

std::string textOf(const Json &object, const char *key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Json objectOf(const Json &object, const char *key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_object() ? *found : Json::object();
}

struct Judged {
    std::map<std::string, std::string> files; ///< path -> blob
    Json verdict;
};

Result<Judged> candidateOf(const session::State &state, int turn) {
    if (turn == 0) {
        if (state.bestTurn == 0)
            return failedError("the session has no correct candidate to export");
        return Judged{state.bestCandidate, state.bestVerdict};
    }
    if (turn > static_cast<int>(state.turns.size()))
        return requestError("the session has {} turns, not {}", state.turns.size(), turn);
    const auto &chosen = state.turns[static_cast<std::size_t>(turn) - 1];
    if (!chosen.correct())
        return failedError("turn {} of the session has no correct candidate to export", turn);
    return Judged{chosen.candidate, *chosen.verdict};
}

} // namespace

Result<Source> sourceFromSession(const std::filesystem::path &folder, int turn) {
    CUDA_AGENT_ASSIGN(contents, session::readLog(folder));
    const auto state = session::fold(contents.events);
    CUDA_AGENT_ASSIGN(judged, candidateOf(state, turn));
    Source source;
    const Json task = objectOf(state.start, "task");
    source.task = textOf(task, "name");
    if (source.task.empty() || textOf(task, "blob").empty())
        return requestError("'{}' does not tell its task", folder.string());
    CUDA_AGENT_ASSIGN(text, session::readBlob(folder, textOf(task, "blob")));
    source.text = std::move(text);
    const Json overrides = objectOf(state.start, "overrides");
    for (const auto &[name, value] : overrides.items())
        if (value.is_string())
            source.overrides[name] = value.get<std::string>();
    CUDA_AGENT_ASSIGN(numerics, task::numericsFromName(textOf(state.start, "numerics")));
    source.numerics = numerics;
    const Json device = objectOf(state.start, "device");
    source.device = textOf(device, "kind") == "cuda" ? device::Kind::cuda : device::Kind::cpu;
    source.deviceName = textOf(device, "name");
    source.architecture = textOf(device, "architecture");
    CUDA_AGENT_ASSIGN(description, task::descriptionFromJson(state.description));
    source.description = std::move(description);
    source.verdict = judged.verdict;
    for (const auto &[path, blob] : judged.files) {
        CUDA_AGENT_ASSIGN(content, session::readBlob(folder, blob));
        if (path != "plan.json") {
            source.kernels[path] = std::move(content);
            continue;
        }
        CUDA_AGENT_ASSIGN(json, parseJson(content, "plan.json"));
        CUDA_AGENT_ASSIGN(plan, plan::planFromJson(json));
        source.plan = std::move(plan);
    }
    if (!judged.files.contains("plan.json"))
        return requestError("the candidate has no plan.json; only plan candidates are exported");
    return source;
}

} // namespace cuda_agent::exporter
