// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_index.h"

#include "core/agent/loop.h"

namespace cuda_agent::widgets {

/// What a session has used up and what it may use up, at some moment of its log.
struct BudgetFigures {
    bool begun = false;   ///< the log says what the limits are
    bool model = false;   ///< a language model is or was asked: tokens and cost mean something
    int turns = 0;        ///< of the policy, the one under way counted in
    double seconds = 0;   ///< of the run, from its first turn to the last event
    double since = 0;     ///< when its first turn began, seconds since the epoch; 0 before
    session::Usage usage; ///< of the whole session
    agent::Budget limits; ///< zero: none

    std::int64_t tokens() const { return usage.promptTokens + usage.answerTokens; }
};

/// Keeps those figures while a cursor moves: forward by the events in between, back by starting
/// over.
class BudgetFold {
  public:
    /// `index` is the same one each time, until `clear`.
    const BudgetFigures &at(const SessionIndex &index, std::size_t cursor);
    void clear() { *this = BudgetFold(); }

  private:
    void take(const session::Event &event);

    BudgetFigures figures_;
    std::size_t folded_ = 0;
    bool awaitsTurn_ = false; ///< the run is prepared, its first turn not yet begun
};

} // namespace cuda_agent::widgets
