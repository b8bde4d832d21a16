// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/search.h"
#include "core/session/state.h"

namespace cuda_agent::policy {

/// One judged candidate of the planner's own.
struct Attempt {
    std::string name;
    bool failed = true;
    bool wrong = false; ///< it failed by its answer
    bool full = false;  ///< verified in full
    double seconds = 0;
    double fractionOfLimit = 0;
    double againstCompile = 0; ///< the verdict's speed-up, whose baselines ran beside the candidate
    std::string problem;
};

/// What the turns so far say, and all that the planner remembers.
struct Transcript {
    std::vector<Attempt> attempts;
    std::vector<std::string> written; ///< names of candidates, each where it was written first
    std::string inFolder;             ///< name of the candidate that the folder holds
    int turns = 0;       ///< all, the engineer's too: for ids, which no two turns share
    int policyTurns = 0; ///< what counts against the limit

    /// The number under which a candidate was first written, or the next free one: a candidate that
    /// is written again is the same to the letter, so that its verdicts are about one thing.
    int version(std::string_view name) const;

    /// The fastest correct candidate that did not fail a full check.
    const Attempt *best() const;
    /// True when the last attempt passed in full.
    bool confirmed() const;
    /// Attempts since the best time last fell by more than this fraction.
    std::size_t sinceImprovement(double fraction) const;
    std::vector<Trial> trials() const;
};

Transcript readTranscript(const std::vector<session::Turn> &turns);

} // namespace cuda_agent::policy
