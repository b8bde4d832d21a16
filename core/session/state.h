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
    std::string id; ///< of the call it answers
    bool ok = false;
    std::string text;           ///< what the policy reads
    Json data = Json::object(); ///< the same for programs
    double seconds = 0;
};

/// What language models were paid for, as their endpoints count it. Zero where they do not say.
struct Usage {
    std::int64_t promptTokens = 0;
    std::int64_t cachedTokens = 0; ///< of the prompt's, read from the endpoint's cache
    std::int64_t answerTokens = 0; ///< reasoning included
    double cost = 0;               ///< in the currency of the endpoint's prices; 0 without prices
    double seconds = 0;            ///< waiting for answers, retries included
    int answers = 0;

    void add(const Json &answer); ///< payload of modelAnswered
};

/// One ReAct turn.
struct Turn {
    int number = 0;
    std::string author = "policy"; ///< or "engineer": edits and checks made by hand
    bool fresh = false;            ///< the policy began anew: it was not shown the turns before
    std::string thought;
    std::string streaming; ///< of a thought that is being written; empty once it is whole
    Usage usage;
    std::vector<ToolCall> calls;
    std::vector<Observation> observations;
    std::optional<Json> compiled;                 ///< the last one of the turn
    std::optional<Json> verdict;                  ///< the last one of the turn
    std::map<std::string, std::string> candidate; ///< path -> blob, of the verdict
    bool ended = false;                           ///< false: still running, or cut off by a crash
    bool correct() const;                         ///< by its verdict
    double seconds() const; ///< its candidate's time of a call by its verdict; 0: it was not timed
};

/// The fold of a session log: everything a view, a replay or a resume needs.
struct State {
    Json start = Json::object();       ///< payload of sessionStarted, with the budget of now
    Json description = Json::object(); ///< payload of taskDescribed
    Json baselines = Json::object();
    Json knowledge; ///< payload of knowledgeOffered; null when there was none
    std::vector<Turn> turns;
    std::map<std::string, std::string> files; ///< workspace now: path -> blob
    Usage usage; ///< of all turns, cut-off ones included: what was paid for stays paid for
    /// Correct and fastest so far, by the standing verdict on each candidate; 0 when none.
    int bestTurn = 0;
    double bestSeconds = 0;
    Json bestVerdict;                                 ///< null when none
    std::map<std::string, std::string> bestCandidate; ///< path -> blob, of that verdict
    std::optional<Json> end;                          ///< payload of sessionEnded
    std::vector<std::string> notes;
    std::int64_t events = 0;

    /// Applies the next event. Pure: no files, no clock. Payload fields that are missing or of
    /// another type than described are taken as absent.
    ///
    /// A turnStarted with the number of a turn that never ended replaces that turn: it was cut off
    /// by a crash and is done again. Its files, verdicts and best candidate are taken back, so that
    /// the state is what the policy saw before it; files that the engineer wrote stay.
    void apply(const Event &event);

    /// Turns that a resumed session counts as done: all but one that was cut off.
    std::vector<Turn> endedTurns() const;

  private:
    /// The standing verdict on one candidate.
    struct Judged {
        int turn = 0;
        std::map<std::string, std::string> candidate;
        Json verdict;
        bool correct = false;
        bool full = false;
        double seconds = 0;
    };
    /// What the turn changed besides itself, to be taken back when it turns out to be cut off.
    struct Undo {
        std::map<std::string, std::string> files;           ///< as they were when it started
        std::vector<std::pair<std::size_t, Judged>> judged; ///< replaced verdicts, oldest first
        std::size_t judgedCount = 0;                        ///< when it started
    };
    /// A candidate that only has a training verdict must be this much faster than one that was
    /// verified in full to be the best.
    static constexpr double fullWorth = 1.02;
    Turn *turn(int number);
    void startTurn(const Event &event);
    void judge(const Event &event);
    static bool better(const Judged &a, const Judged &b);
    void chooseBest();
    void setBest(const Judged *best);

    std::vector<Judged> judged_;
    std::map<std::map<std::string, std::string>, std::size_t> judgedAt_; ///< candidate -> place
    std::optional<std::size_t> best_;                                    ///< place in judged_
    Undo undo_;
};
State fold(const std::vector<Event> &events);

} // namespace cuda_agent::session
