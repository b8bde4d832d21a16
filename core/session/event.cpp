// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/event.h"

#include <array>

namespace cuda_agent::session {

namespace {

struct Name {
    EventType type;
    std::string_view text;
};
constexpr std::array<Name, 18> names{{
    {EventType::sessionStarted, "sessionStarted"},
    {EventType::taskDescribed, "taskDescribed"},
    {EventType::baselinesMeasured, "baselinesMeasured"},
    {EventType::budgetSet, "budgetSet"},
    {EventType::knowledgeOffered, "knowledgeOffered"},
    {EventType::turnStarted, "turnStarted"},
    {EventType::textStreamed, "textStreamed"},
    {EventType::thought, "thought"},
    {EventType::modelAnswered, "modelAnswered"},
    {EventType::action, "action"},
    {EventType::observation, "observation"},
    {EventType::fileWritten, "fileWritten"},
    {EventType::fileRemoved, "fileRemoved"},
    {EventType::compiled, "compiled"},
    {EventType::verdictGiven, "verdictGiven"},
    {EventType::turnEnded, "turnEnded"},
    {EventType::note, "note"},
    {EventType::sessionEnded, "sessionEnded"},
}};

} // namespace

std::string_view nameOf(EventType type) {
    for (const Name &name : names)
        if (name.type == type)
            return name.text;
    return "unknown";
}

Result<EventType> eventTypeFromName(std::string_view name) {
    for (const Name &candidate : names)
        if (candidate.text == name)
            return candidate.type;
    return requestError("'{}' is not an event type of this program; read the log with a newer one",
                        name);
}

} // namespace cuda_agent::session
