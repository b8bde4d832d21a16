// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/transcript.h"

#include <algorithm>

namespace cuda_agent::policy {

namespace {

Attempt attemptOf(const session::Turn &turn, const std::string &name, bool full) {
    Attempt attempt;
    attempt.name = name;
    attempt.full = full;
    if (!turn.verdict || !turn.verdict->is_object()) {
        attempt.problem = "there was no verdict";
        for (const session::Observation &observation : turn.observations) {
            if (!observation.ok && !observation.text.empty())
                attempt.problem = observation.text.substr(0, 300);
        }
        return attempt;
    }
    const Json &verdict = *turn.verdict;
    const Json times = verdict.value("times", Json::object());
    if (times.contains("candidate") && times["candidate"].is_object())
        attempt.seconds = times["candidate"].value("seconds", 0.0);
    attempt.fractionOfLimit = verdict.value("fraction_of_limit", 0.0);
    const Json speedup = verdict.value("speedup", Json::object());
    attempt.againstCompile = speedup.is_object() ? speedup.value("compile", 0.0) : 0;
    attempt.failed = !verdict.value("correct", false) || attempt.seconds <= 0;
    attempt.wrong =
        attempt.failed && verdict.contains("failed_check") && !verdict.contains("fault");
    attempt.problem = verdict.value("problem", "");
    if (attempt.failed && attempt.problem.empty())
        attempt.problem = verdict.value("correct", false) ? "it could not be timed" : "it is wrong";
    return attempt;
}

} // namespace

Transcript readTranscript(const std::vector<session::Turn> &turns) {
    Transcript result;
    result.turns = static_cast<int>(turns.size());
    for (const session::Turn &turn : turns) {
        if (turn.author != "policy") { // the folder may hold anything now
            result.inFolder.clear();
            continue;
        }
        ++result.policyTurns;
        bool verified = false;
        bool full = false;
        for (const session::ToolCall &call : turn.calls) {
            if (call.tool == "Write" && call.arguments.value("path", "") == "plan.json") {
                const auto plan = parseJson(call.arguments.value("content", ""), "plan.json");
                result.inFolder = plan && plan->is_object() ? plan->value("name", "") : "";
                if (std::ranges::find(result.written, result.inFolder) == result.written.end())
                    result.written.push_back(result.inFolder);
            }
            if (call.tool == "Verify") {
                verified = true;
                full = call.arguments.value("strength", "") == "full";
            }
        }
        if (verified && !result.inFolder.empty())
            result.attempts.push_back(attemptOf(turn, result.inFolder, full));
    }
    return result;
}

int Transcript::version(std::string_view name) const {
    return static_cast<int>(std::ranges::find(written, name) - written.begin()) + 1;
}

const Attempt *Transcript::best() const {
    const Attempt *result = nullptr;
    for (const Attempt &attempt : attempts) {
        if (attempt.failed || (result != nullptr && attempt.seconds >= result->seconds))
            continue;
        const bool refuted = std::any_of(attempts.begin(), attempts.end(), [&](const Attempt &a) {
            return a.name == attempt.name && a.failed;
        });
        if (!refuted)
            result = &attempt;
    }
    return result;
}

bool Transcript::confirmed() const {
    return !attempts.empty() && attempts.back().full && !attempts.back().failed;
}

std::size_t Transcript::sinceImprovement(double fraction) const {
    double best = 0;
    std::size_t since = 0;
    for (const Attempt &attempt : attempts) {
        ++since;
        if (attempt.failed)
            continue;
        if (best == 0 || attempt.seconds < best * (1 - fraction))
            since = 0;
        if (best == 0 || attempt.seconds < best)
            best = attempt.seconds;
    }
    return since;
}

std::vector<Trial> Transcript::trials() const {
    std::vector<Trial> result;
    for (const Attempt &attempt : attempts)
        result.push_back({attempt.name, attempt.failed, attempt.seconds, attempt.wrong});
    return result;
}

} // namespace cuda_agent::policy
