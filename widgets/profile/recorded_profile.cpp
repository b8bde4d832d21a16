// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/recorded_profile.h"

#include "widgets/base/text.h"

namespace cuda_agent::widgets {

using session::EventType;

namespace {

/// Path -> blob of what was judged last in a turn before an event; null when nothing was.
const Json &candidateOf(const SessionDocument &document, int turn, std::size_t before) {
    static const Json nothing;
    const auto *verdict = document.index().lastIn(turn, EventType::verdictGiven, before);
    return verdict ? partOf(verdict->data, "candidate") : nothing;
}

/// What the Profile tool says of launches that could not be measured, from the turn's observations.
QString reasonIn(const SessionDocument &document, int turn) {
    const auto *observation =
        document.index().lastIn(turn, EventType::observation, document.cursor());
    const QString text = observation ? textOf(observation->data, "text") : QString();
    const QString mark = QStringLiteral("launch by launch: ");
    for (const QString &line : text.split(QLatin1Char('\n')))
        if (line.startsWith(mark))
            return line.mid(mark.size());
    return {};
}

} // namespace

RecordedProfile recordedProfile(const SessionDocument &document) {
    RecordedProfile recorded;
    const SessionIndex &index = document.index();
    const int shown = document.shownTurn();
    if (shown == 0)
        return recorded;
    const Json &candidate = candidateOf(document, shown, document.cursor());
    const auto profiles = index.profiles(document.cursor());
    const ProfileEvent *found = nullptr;
    for (const ProfileEvent &profile : profiles)
        if (profile.turn == shown)
            found = &profile;
    for (auto profile = profiles.rbegin(); !found && profile != profiles.rend(); ++profile)
        if (candidate.is_object() && !candidate.empty() &&
            candidateOf(document, profile->turn, profile->event) == candidate)
            found = &*profile;
    if (!found) {
        recorded.other = profiles.empty() ? 0 : profiles.back().turn;
        recorded.reason = reasonIn(document, shown);
        return recorded;
    }
    recorded.json = &partOf(partOf(index.events()[found->event].data, "data"), "profile");
    recorded.turn = found->turn;
    recorded.engineer = found->engineer;
    return recorded;
}

} // namespace cuda_agent::widgets
