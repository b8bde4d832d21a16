// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/state.h"

#include <map>
#include <optional>
#include <vector>

namespace cuda_agent::widgets {

/// One attempt at a turn, as a range of events.
struct TurnRange {
    int number = 0;
    bool engineer = false; ///< edits and checks made by hand, else the policy's
    std::size_t begin = 0; ///< its turnStarted
    std::size_t end = 0;   ///< one past its last event
    bool ended = false;
};

/// The numbers of one verdict, read once: plots ask for those of all turns at every step of a
/// replay. Zero or -1 where the verdict does not say.
struct VerdictFigures {
    std::size_t event = 0; ///< its verdictGiven
    int turn = 0;
    bool engineer = false;
    bool compiled = false, correct = false;
    int reward = -1;
    double seconds = 0, limitSeconds = 0;
    double againstEager = 0, againstCompile = 0, fractionOfLimit = 0;
};

/// An observation that has a profile of a candidate: its payload's data.profile.
struct ProfileEvent {
    std::size_t event = 0; ///< the observation
    int turn = 0;
    bool engineer = false;
};

/// A file of the workspace at some moment.
struct FileVersion {
    std::string blob;
    int turn = 0;
    bool engineer = false;
    std::size_t event = 0; ///< its fileWritten
};

/// The events of a session, indexed so that its state *at any event* can be asked for without
/// folding again: replay steps back as fast as forward. A cursor is a number of events: what lies
/// at or behind it has not happened yet.
///
/// Grows at the end only. Not thread-safe; may be built on one thread and handed to another.
class SessionIndex {
  public:
    using Event = session::Event;

    void append(Event event);
    void reserve(std::size_t events) { events_.reserve(events); }

    const std::vector<Event> &events() const { return events_; }
    std::size_t size() const { return events_.size(); }

    /// Turns that have begun before the cursor, oldest first. A turn that was cut off by a crash
    /// and done again is there once, as it was done last.
    std::vector<const TurnRange *> turns(std::size_t cursor) const;
    int turnCount(std::size_t cursor) const;
    /// Null when it has not begun.
    const TurnRange *turn(int number, std::size_t cursor) const;
    /// The turn that the last event before the cursor belongs to; 0 before the first.
    int turnAt(std::size_t cursor) const;

    /// The last event of a type in a turn, before the cursor; null when there is none.
    const Event *lastIn(int turn, session::EventType type, std::size_t cursor) const;
    /// The last event of a type outside or inside of turns, before the cursor.
    const Event *last(session::EventType type, std::size_t cursor) const;

    /// The last verdict of each turn that has one before the cursor, oldest turn first.
    std::vector<const VerdictFigures *> verdicts(std::size_t cursor) const;

    /// The last profile of each turn that has one before the cursor, oldest turn first.
    std::vector<ProfileEvent> profiles(std::size_t cursor) const;

    /// The workspace: path -> version. With a turn: as it was at the end of that turn.
    std::map<std::string, FileVersion> files(std::size_t cursor) const;
    std::map<std::string, FileVersion> filesAfterTurn(int turn, std::size_t cursor) const;

    /// Correct and fastest at that moment; turn 0 when none.
    struct Best {
        std::size_t event = 0; ///< from here on
        int turn = 0;
        double seconds = 0;
    };
    Best best(std::size_t cursor) const;

    /// The fold at the end of the log.
    const session::State &state() const { return state_; }

  private:
    const TurnRange *attempt(int number, std::size_t cursor) const;

    std::vector<Event> events_;
    std::vector<TurnRange> attempts_;                    ///< in order of their begin
    std::map<int, std::vector<std::size_t>> attemptsOf_; ///< turn -> places in attempts_
    std::map<session::EventType, std::vector<std::size_t>> byType_;
    std::vector<VerdictFigures> verdicts_;
    std::vector<ProfileEvent> profiles_;
    std::vector<std::pair<std::string, FileVersion>> writes_; ///< every fileWritten, by path
    std::vector<Best> best_;
    session::State state_;
};

} // namespace cuda_agent::widgets
