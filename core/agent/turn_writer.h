// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/recorder.h"

namespace cuda_agent::agent {

/// Numbers turns and writes their beginnings and ends. A turn begins with the first thing that is
/// said in it, which may be a piece of a model's answer long before there is an action. One thread.
class TurnWriter {
  public:
    explicit TurnWriter(session::Recorder &recorder) : recorder_(recorder) {}

    /// The turn under way, or a new one of this author's. A turn that was cut off is done again
    /// under its number. Errors: machine.
    Result<int> begin(const std::string &author = "policy");
    bool underWay() const { return number_ > 0; }
    /// Errors: machine.
    Result<void> end();

    /// Events of the turn under way, which begins if there is none. Errors: machine.
    Result<void> say(session::EventType type, Json data);

  private:
    session::Recorder &recorder_;
    int number_ = 0;
};

} // namespace cuda_agent::agent
