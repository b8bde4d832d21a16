// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/session/log.h"
#include "core/session/state.h"

namespace cuda_agent::session {

/// The writer's end of a session: appends to the log and keeps the fold in step with it, so that
/// nothing is ever in one and not in the other. Owns both. One thread.
class Recorder {
  public:
    /// `state` is the fold of what `log` already holds.
    Recorder(Log log, State state) : log_(std::move(log)), state_(std::move(state)) {}

    /// Errors: machine (disk full, ...); the state is then unchanged.
    Result<void> append(EventType type, int turn, Json data) {
        CUDA_AGENT_ASSIGN(event, log_.append(type, turn, std::move(data)));
        state_.apply(event);
        return {};
    }
    Result<std::string> putBlob(std::string_view bytes) { return log_.putBlob(bytes); }

    const State &state() const { return state_; }
    const std::filesystem::path &folder() const { return log_.folder(); }
    Log &log() { return log_; }

  private:
    Log log_;
    State state_;
};

} // namespace cuda_agent::session
