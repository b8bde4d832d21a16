// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/session/log.h"
#include "core/session/state.h"

namespace cuda_agent::agent {

/// The writer's end of a session: appends to the log and keeps the fold in step with it, so that
/// nothing is ever in one and not in the other. Owns both. One thread.
class Recorder {
  public:
    /// `state` is the fold of what `log` already holds.
    Recorder(session::Log log, session::State state)
        : log_(std::move(log)), state_(std::move(state)) {}

    /// Errors: machine (disk full, ...); the state is then unchanged.
    Result<void> append(session::EventType type, int turn, Json data) {
        CUDA_AGENT_ASSIGN(event, log_.append(type, turn, std::move(data)));
        state_.apply(event);
        return {};
    }
    Result<std::string> putBlob(std::string_view bytes) { return log_.putBlob(bytes); }

    const session::State &state() const { return state_; }
    const std::filesystem::path &folder() const { return log_.folder(); }
    session::Log &log() { return log_; }

  private:
    session::Log log_;
    session::State state_;
};

} // namespace cuda_agent::agent
