// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agent/run.h"

namespace cuda_agent::agent {

inline constexpr int mostAttempts = 64;

/// Several attempts at one task.
struct BestOfRequest {
    /// What each of them is; its budget is that of one attempt. `session` is the folder of all,
    /// with the sessions in attempt-1, attempt-2, ..., and is not empty.
    RunRequest one;
    int attempts = 2;
    int atOnce = 0; ///< 0: one on each GPU; on cpu one for four hardware threads, at least one
};

/// How many attempts run at once, and on how many GPUs (0: on the CPU). Errors: machine.
struct Lanes {
    int atOnce = 1;
    int gpus = 0;
};
Result<Lanes> lanesFor(const BestOfRequest &request);

/// How one attempt went.
struct Attempt {
    int number = 0;
    std::filesystem::path folder;
    bool begun = false;
    int turns = 0; ///< that ended
    Json verdict;  ///< of its best candidate, by its own judge; null when none was correct
    int bestTurn = 0;
    std::string reason; ///< why it ended, also when it failed
    std::optional<Error> error;
    bool correct() const { return verdict.is_object(); }
};

struct BestOf {
    std::vector<Attempt> attempts; ///< all, by number
    int best = 0;                  ///< number of the winner; 0: no candidate was correct
    Json verdict;                  ///< of the winner, in full and by the one judge that compared
    Json comparison; ///< `difference` as in judge::Comparison, with `a` and `b` the attempts'
                     ///< numbers; null with fewer than two different candidates
};
/// {"best_attempt", "comparison", "attempts": [{"number", "session", "turns", "correct", "reason",
/// "error" {"message", "exit_code"}, "best_turn", "reward", "strength", "seconds", "speedup"}]};
/// what an attempt has not is absent.
Json toJson(const BestOf &outcome);

/// What is heard meanwhile. Called on several threads, never two at a time; `attempt` 0 is the
/// comparison at the end.
struct BestOfListener {
    std::function<void(int attempt, const session::Event &)> event;
    std::function<void(int attempt, const std::string &what)> progress;
};

/// Runs the attempts, in parallel as far as lanes allow; each has a session, a judge and a part of
/// the work of its own. Then judges their best candidates once more in full with one judge, times
/// the two fastest in turns, and copies the winner to `<folder>/best` and the outcome to
/// `<folder>/attempts.json`.
///
/// An attempt that fails for the machine's sake is named in the outcome and spoils no other.
/// Attempts that have ended in that folder count, those that were stopped go on. Blocks. Errors:
/// request (the task or the settings are unusable, another task's folder), machine (every attempt
/// failed so, or the comparison did), stopped (all logs are whole).
Result<BestOf> runBestOf(const BestOfRequest &request, const BestOfListener &listener,
                         std::stop_token stop);

} // namespace cuda_agent::agent
