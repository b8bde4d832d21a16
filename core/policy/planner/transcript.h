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
    bool full = false; ///< verified in full
    double seconds = 0;
    double fractionOfLimit = 0;
    std::string problem;
};

/// What the turns so far say, and all that the planner remembers.
struct Transcript {
    std::vector<Attempt> attempts;
    std::string inFolder; ///< name of the candidate that the folder holds
    int versions = 0;     ///< candidates written
    int turns = 0;

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
