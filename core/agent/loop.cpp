// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/agent/loop.h"

#include "core/agent/tools.h"

namespace cuda_agent::agent {

namespace fs = std::filesystem;
using session::EventType;

namespace {

/// Makes the candidate folder hold exactly the files that the log says.
Result<void> restoreFiles(const Recorder &recorder, const fs::path &folder) {
    std::error_code error;
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    if (error)
        return machineError("cannot make {}: {}", folder.string(), error.message());
    for (const auto &[path, blob] : recorder.state().files) {
        CUDA_AGENT_ASSIGN(text, session::readBlob(recorder.folder(), blob));
        CUDA_AGENT_TRY(writeFileAtomically(folder / path, text));
    }
    return {};
}

Result<void> runTurn(Workspace &workspace, const policy::Step &step, std::stop_token stop) {
    auto &recorder = *workspace.recorder;
    const auto &turns = recorder.state().turns;
    // A turn that was cut off is done again under its number.
    const int number =
        turns.empty() ? 1 : (turns.back().ended ? turns.back().number + 1 : turns.back().number);
    CUDA_AGENT_TRY(recorder.append(EventType::turnStarted, number, {{"author", workspace.author}}));
    if (!step.thought.empty())
        CUDA_AGENT_TRY(recorder.append(EventType::thought, number, {{"text", step.thought}}));
    for (const auto &call : step.calls) {
        CUDA_AGENT_TRY(
            recorder.append(EventType::action, number,
                            {{"id", call.id}, {"tool", call.tool}, {"arguments", call.arguments}}));
        CUDA_AGENT_ASSIGN(observation, callTool(workspace, call, number, stop));
        CUDA_AGENT_TRY(recorder.append(EventType::observation, number,
                                       {{"id", observation.id},
                                        {"ok", observation.ok},
                                        {"text", observation.text},
                                        {"data", observation.data},
                                        {"seconds", observation.seconds}}));
    }
    return recorder.append(EventType::turnEnded, number, Json::object());
}

int policyTurns(const std::vector<session::Turn> &turns) {
    return static_cast<int>(
        std::ranges::count_if(turns, [](const auto &turn) { return turn.author == "policy"; }));
}

} // namespace

fs::path candidateFolder(const fs::path &session) {
    return session / "candidate";
}

Result<void> runEngineerTurn(Recorder &recorder, judge::Judge &judge,
                             const std::vector<session::ToolCall> &calls, std::stop_token stop) {
    Workspace workspace{candidateFolder(recorder.folder()), &judge, &recorder, "engineer"};
    CUDA_AGENT_TRY(restoreFiles(recorder, workspace.folder));
    return runTurn(workspace, {"", calls, false, ""}, stop);
}

Result<std::string> runLoop(Recorder &recorder, judge::Judge &judge, policy::Policy &policy,
                            const LoopOptions &options, std::stop_token stop) {
    Workspace workspace{candidateFolder(recorder.folder()), &judge, &recorder};
    CUDA_AGENT_TRY(restoreFiles(recorder, workspace.folder));
    const auto rest = [&](bool resting) {
        if (options.resting)
            options.resting(resting);
    };
    for (;;) {
        if (options.control) {
            CUDA_AGENT_ASSIGN(order, options.control->next(stop, [&] { rest(true); }));
            rest(false);
            if (!order.calls.empty()) {
                CUDA_AGENT_TRY(runEngineerTurn(recorder, judge, order.calls, stop));
                continue;
            }
        }
        const auto turns = recorder.state().endedTurns();
        if (policyTurns(turns) >= options.turns)
            return "the turns are used up";
        CUDA_AGENT_ASSIGN(step, policy.next(turns, stop));
        if (!step.calls.empty() || !step.finished)
            CUDA_AGENT_TRY(runTurn(workspace, step, stop));
        if (step.finished)
            return step.reason;
    }
}

} // namespace cuda_agent::agent
