// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/event.h"

#include <map>
#include <optional>
#include <vector>

namespace cuda_agent::session {

struct ToolCall {
    std::string id;
    std::string tool;
    Json arguments = Json::object();
};
struct Observation {
    std::string id;    ///< of the call it answers
    bool ok = false;
    std::string text;  ///< what the policy reads
    Json data = Json::object(); ///< the same for programs
    double seconds = 0;
};

/// One ReAct turn.
struct Turn {
    int number = 0;
    std::string thought;
    std::vector<ToolCall> calls;
    std::vector<Observation> observations;
    std::optional<Json> compiled;
    std::optional<Json> verdict;
    std::map<std::string, std::string> candidate; ///< path -> blob, of the verdict
    bool ended = false;
};

/// The fold of a session log: everything a view, a replay or a resume needs.
struct State {
    Json start = Json::object();       ///< payload of sessionStarted
    Json description = Json::object(); ///< payload of taskDescribed
    Json baselines = Json::object();
    std::vector<Turn> turns;
    std::map<std::string, std::string> files; ///< workspace now: path -> blob
    int bestTurn = 0;                  ///< correct and fastest so far; 0 when none
    double bestSeconds = 0;
    std::optional<Json> end;           ///< payload of sessionEnded
    std::vector<std::string> notes;
    std::int64_t events = 0;

    /// Applies the next event. Pure: no files, no clock.
    void apply(const Event &event);
};
State fold(const std::vector<Event> &events);

} // namespace cuda_agent::session
