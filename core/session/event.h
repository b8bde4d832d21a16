// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace cuda_agent::session {

/// What happened, one per log line. Names are stable; fields may be added, never renamed.
/// The payload of each type is described in core/session/README.md.
enum class EventType {
    sessionStarted, ///< task, overrides, device, numerics, rules, policy, program version
    taskDescribed,  ///< inputs, outputs, graph
    baselinesMeasured,
    budgetSet,        ///< turns, budget: what a resumed session may take from here on
    knowledgeOffered, ///< text, records: what earlier sessions found, as the policy is told it
    turnStarted,      ///< turn
    textStreamed,     ///< turn, text: a piece of the thought that is being written
    thought,          ///< turn, text
    modelAnswered, ///< turn, model, tokens, cost, seconds: what one answer of a language model took
    action,        ///< turn, call id, tool, arguments
    observation,   ///< turn, call id, ok, text, data, seconds
    fileWritten,   ///< turn, path, blob, bytes, author
    fileRemoved,   ///< turn, path, author
    compiled,      ///< turn, ok, diagnostics, log blob, seconds
    verdictGiven,  ///< turn, verdict, candidate (map path -> blob)
    turnEnded,     ///< turn
    note,          ///< text; something a reader should know (resumed, machine trouble); of a turn
                   ///< that begins anew: fresh
    sessionEnded,  ///< reason, best turn
};
std::string_view nameOf(EventType type);
Result<EventType> eventTypeFromName(std::string_view name);

/// Immutable once logged.
struct Event {
    std::int64_t sequence = 0; ///< 0, 1, 2, ... without gaps
    double time = 0;           ///< seconds since the epoch
    EventType type = EventType::note;
    int turn = 0; ///< 0 before the first turn
    Json data = Json::object();
};

} // namespace cuda_agent::session
