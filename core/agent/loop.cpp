// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/agent/loop.h"

#include "core/base/elapsed.h"

#include <algorithm>

namespace cuda_agent::agent {

namespace fs = std::filesystem;
using session::EventType;

namespace {

using Clock = std::chrono::steady_clock;
using Approve = std::function<Result<std::string>(const session::ToolCall &, std::stop_token)>;

Result<session::Observation> act(tools::Workspace &workspace, const session::ToolCall &call,
                                 const Approve &approve, const std::stop_token &stop) {
    if (approve) {
        CUDA_AGENT_ASSIGN(refusal, approve(call, stop));
        if (!refusal.empty()) {
            auto observation = tools::refuse(refusal);
            observation.id = call.id;
            return observation;
        }
    }
    return tools::callTool(workspace, call, stop);
}

Result<void> runTurn(tools::Workspace &workspace, TurnWriter &writer, const policy::Step &step,
                     const Approve &approve, const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(number, writer.begin(workspace.author));
    workspace.turn = number;
    std::string note =
        step.fresh ? "a new conversation: the model is not shown the turns before" : "";
    if (!step.departure.empty())
        note += (note.empty() ? "" : "; ") + step.departure;
    if (!note.empty())
        CUDA_AGENT_TRY(writer.say(EventType::note, {{"text", note}, {"fresh", step.fresh}}));
    if (!step.thought.empty())
        CUDA_AGENT_TRY(writer.say(EventType::thought, {{"text", step.thought}}));
    for (const auto &call : step.calls) {
        CUDA_AGENT_TRY(
            writer.say(EventType::action,
                       {{"id", call.id}, {"tool", call.tool}, {"arguments", call.arguments}}));
        CUDA_AGENT_ASSIGN(observation, act(workspace, call, approve, stop));
        CUDA_AGENT_TRY(writer.say(EventType::observation, {{"id", observation.id},
                                                           {"ok", observation.ok},
                                                           {"text", observation.text},
                                                           {"data", observation.data},
                                                           {"seconds", observation.seconds}}));
    }
    return writer.end();
}

int policyTurns(const std::vector<session::Turn> &turns) {
    return static_cast<int>(
        std::ranges::count_if(turns, [](const auto &turn) { return turn.author == "policy"; }));
}

/// Which part of the budget is used up, in words, or empty.
std::string usedUp(const Budget &budget, const session::State &state, int turns, double seconds) {
    if (turns >= budget.turns && budget.turns > 0)
        return "the turns are used up";
    if (budget.seconds > 0 && seconds >= budget.seconds)
        return fmt::format("the time of {:.0f} s is used up", budget.seconds);
    const auto tokens = state.usage.promptTokens + state.usage.answerTokens;
    if (budget.tokens > 0 && tokens >= budget.tokens)
        return fmt::format("the {} tokens are used up", budget.tokens);
    if (budget.cost > 0 && state.usage.cost >= budget.cost)
        return fmt::format("the cost of {} is used up", budget.cost);
    return {};
}

} // namespace

fs::path candidateFolder(const fs::path &session) {
    return session / "candidate";
}

Result<void> runEngineerTurn(tools::Workspace &workspace, TurnWriter &writer,
                             const Control::Order &order, std::stop_token stop) {
    CUDA_AGENT_TRY(workspace.restore());
    workspace.author = "engineer";
    const auto done = runTurn(workspace, writer, {order.message, order.calls, false, ""}, {}, stop);
    workspace.author = "policy";
    return done;
}

Result<std::string> runLoop(tools::Workspace &workspace, TurnWriter &writer, policy::Policy &policy,
                            const LoopOptions &options, std::stop_token stop) {
    CUDA_AGENT_TRY(workspace.restore());
    const auto start = Clock::now();
    const auto &state = workspace.recorder().state();
    const auto rest = [&](bool resting) {
        if (options.resting)
            options.resting(resting);
    };
    const auto done = [&] { return options.turnDone ? options.turnDone() : Result<void>(); };
    for (;;) {
        if (options.control) {
            CUDA_AGENT_ASSIGN(order, options.control->next(stop, [&] { rest(true); }));
            rest(false);
            if (order.engineer()) {
                CUDA_AGENT_TRY(runEngineerTurn(workspace, writer, order, stop));
                CUDA_AGENT_TRY(done());
                continue;
            }
        }
        const auto turns = state.endedTurns();
        const double seconds = secondsSince(start);
        if (auto what = usedUp(options.budget, state, policyTurns(turns), seconds); !what.empty())
            return what;
        if (options.enough > 0 && std::ranges::any_of(turns, [&](const session::Turn &turn) {
                return turn.verdict && turn.verdict->value("reward", 0) >= options.enough;
            }))
            return fmt::format("a candidate has the reward of {}", options.enough);
        CUDA_AGENT_ASSIGN(step, policy.next(turns, stop));
        if (writer.underWay() || !step.calls.empty() || !step.finished) {
            CUDA_AGENT_TRY(runTurn(workspace, writer, step, options.approve, stop));
            CUDA_AGENT_TRY(done());
        }
        if (step.finished)
            return step.reason;
    }
}

} // namespace cuda_agent::agent
