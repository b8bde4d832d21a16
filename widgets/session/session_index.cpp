// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/session_index.h"

#include "widgets/base/text.h"

#include <algorithm>

namespace cuda_agent::widgets {

using session::EventType;

namespace {

VerdictFigures figuresOf(const Json &verdict) {
    VerdictFigures figures;
    const Json &speedup = partOf(verdict, "speedup");
    figures.compiled = truthOf(verdict, "compiled");
    figures.correct = truthOf(verdict, "correct");
    figures.reward = static_cast<int>(numberOf(verdict, "reward", -1));
    figures.seconds = numberOf(partOf(partOf(verdict, "times"), "candidate"), "seconds");
    figures.limitSeconds = numberOf(verdict, "limit_seconds");
    figures.againstEager = numberOf(speedup, "eager");
    figures.againstCompile = numberOf(speedup, "compile");
    figures.fractionOfLimit = numberOf(verdict, "fraction_of_limit");
    return figures;
}

} // namespace

void SessionIndex::append(Event event) {
    const std::size_t at = events_.size();
    byType_[event.type].push_back(at);
    if (event.type == EventType::turnStarted && event.turn > 0) {
        attemptsOf_[event.turn].push_back(attempts_.size());
        attempts_.push_back({event.turn, textOf(event.data, "author") == QLatin1String("engineer"),
                             at, at + 1, false});
    } else if (event.turn > 0) {
        if (attempts_.empty() || attempts_.back().number != event.turn) {
            // A log that forgot turnStarted: the turn begins with what is there.
            if (!attemptsOf_.contains(event.turn)) {
                attemptsOf_[event.turn].push_back(attempts_.size());
                attempts_.push_back({event.turn, false, at, at + 1, false});
            }
        }
        TurnRange &turn = attempts_[attemptsOf_[event.turn].back()];
        turn.end = at + 1;
        turn.ended = turn.ended || event.type == EventType::turnEnded;
        const Json &verdict = partOf(event.data, "verdict");
        if (event.type == EventType::verdictGiven && !verdict.empty()) {
            verdicts_.push_back(figuresOf(verdict));
            verdicts_.back().event = at;
            verdicts_.back().turn = event.turn;
            verdicts_.back().engineer = turn.engineer;
        }
        if (event.type == EventType::observation &&
            partOf(partOf(event.data, "data"), "profile").is_object())
            profiles_.push_back({at, event.turn, turn.engineer});
    }
    if (event.type == EventType::fileWritten || event.type == EventType::fileRemoved) {
        std::string path = textOf(event.data, "path").toStdString();
        if (!path.empty())
            writes_.emplace_back(
                std::move(path),
                FileVersion{textOf(event.data, "blob").toStdString(), event.turn,
                            textOf(event.data, "author") == QLatin1String("engineer"), at});
    }
    const int bestTurn = state_.bestTurn;
    const double bestSeconds = state_.bestSeconds;
    state_.apply(event);
    if (state_.bestTurn != bestTurn || state_.bestSeconds != bestSeconds)
        best_.push_back({at, state_.bestTurn, state_.bestSeconds});
    events_.push_back(std::move(event));
}

const TurnRange *SessionIndex::attempt(int number, std::size_t cursor) const {
    const auto found = attemptsOf_.find(number);
    if (found == attemptsOf_.end())
        return nullptr;
    for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
        if (attempts_[*at].begin < cursor)
            return &attempts_[*at];
    }
    return nullptr;
}

std::vector<const TurnRange *> SessionIndex::turns(std::size_t cursor) const {
    std::vector<const TurnRange *> result;
    result.reserve(attemptsOf_.size());
    for (const auto &[number, places] : attemptsOf_) {
        if (const TurnRange *turn = attempt(number, cursor))
            result.push_back(turn);
    }
    return result;
}

int SessionIndex::turnCount(std::size_t cursor) const {
    if (cursor >= events_.size())
        return static_cast<int>(attemptsOf_.size());
    return static_cast<int>(turns(cursor).size());
}

const TurnRange *SessionIndex::turn(int number, std::size_t cursor) const {
    return attempt(number, cursor);
}

int SessionIndex::turnAt(std::size_t cursor) const {
    // The last attempt that began before the cursor.
    const auto after =
        std::partition_point(attempts_.begin(), attempts_.end(),
                             [&](const TurnRange &turn) { return turn.begin < cursor; });
    return after == attempts_.begin() ? 0 : std::prev(after)->number;
}

const session::Event *SessionIndex::lastIn(int number, EventType type, std::size_t cursor) const {
    const TurnRange *turn = attempt(number, cursor);
    if (!turn)
        return nullptr;
    for (std::size_t i = std::min(turn->end, cursor); i-- > turn->begin;) {
        if (events_[i].type == type && events_[i].turn == number)
            return &events_[i];
    }
    return nullptr;
}

const session::Event *SessionIndex::last(EventType type, std::size_t cursor) const {
    const auto found = byType_.find(type);
    if (found == byType_.end())
        return nullptr;
    const auto after = std::lower_bound(found->second.begin(), found->second.end(), cursor);
    return after == found->second.begin() ? nullptr : &events_[*std::prev(after)];
}

std::vector<const VerdictFigures *> SessionIndex::verdicts(std::size_t cursor) const {
    std::vector<const VerdictFigures *> result;
    for (const VerdictFigures &figures : verdicts_) {
        if (figures.event >= cursor)
            break;
        // What a turn came to that was cut off and done again never happened.
        const TurnRange *turn = attempt(figures.turn, cursor);
        if (!turn || figures.event < turn->begin)
            continue;
        if (!result.empty() && result.back()->turn == figures.turn)
            result.back() = &figures;
        else
            result.push_back(&figures);
    }
    return result;
}

std::vector<ProfileEvent> SessionIndex::profiles(std::size_t cursor) const {
    std::vector<ProfileEvent> result;
    for (const ProfileEvent &profile : profiles_) {
        if (profile.event >= cursor)
            break;
        const TurnRange *turn = attempt(profile.turn, cursor);
        if (!turn || profile.event < turn->begin)
            continue; // of a turn that was cut off
        if (!result.empty() && result.back().turn == profile.turn)
            result.back() = profile;
        else
            result.push_back(profile);
    }
    return result;
}

std::map<std::string, FileVersion> SessionIndex::files(std::size_t cursor) const {
    std::map<std::string, FileVersion> result;
    for (const auto &[path, version] : writes_) {
        if (version.event >= cursor)
            break;
        // What a turn wrote that was cut off and done again never happened.
        const TurnRange *turn = version.turn > 0 ? attempt(version.turn, cursor) : nullptr;
        if (turn && version.event < turn->begin && !version.engineer)
            continue;
        if (events_[version.event].type == EventType::fileRemoved)
            result.erase(path);
        else
            result[path] = version;
    }
    return result;
}

std::map<std::string, FileVersion> SessionIndex::filesAfterTurn(int number,
                                                                std::size_t cursor) const {
    const TurnRange *turn = attempt(number, cursor);
    return turn ? files(std::min(turn->end, cursor)) : std::map<std::string, FileVersion>();
}

SessionIndex::Best SessionIndex::best(std::size_t cursor) const {
    const auto after = std::partition_point(best_.begin(), best_.end(),
                                            [&](const Best &best) { return best.event < cursor; });
    return after == best_.begin() ? Best{} : *std::prev(after);
}

} // namespace cuda_agent::widgets
