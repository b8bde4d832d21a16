// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

#include <vector>

namespace cuda_agent::widgets {

/// What speed-ups compare with.
enum class Against { eager, compile, limit };

/// What became of one turn, as of the cursor.
struct TurnResult {
    int turn = 0;
    bool correct = false;
    bool compiled = false;
    bool engineer = false;
    int reward = -1;
    double seconds = 0; ///< of the candidate; 0 when it was not timed
    double speedup = 0; ///< against what was asked for; 0 when unknown
};

/// A speed-up from which on a reward is given.
struct Milestone {
    int reward = 0;
    double speedup = 0;
};

struct ProgressData {
    std::vector<TurnResult> turns; ///< that have a verdict, ascending
    std::vector<Milestone> milestones;
    bool comparable = false; ///< the log has what to compare with
};

/// Milestones follow core/reward: 1 is any correct candidate, 2 takes less than eager / 1.05, 3
/// less than both eager / 1.05 and compile / 1.05. A compile that was not measured has no third
/// one.
ProgressData progressOf(const SessionDocument &document, Against against);

} // namespace cuda_agent::widgets
