// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

namespace cuda_agent::widgets::sample {

/// Events as a session writes them, with times that ascend by `gap` seconds.
class Events {
  public:
    explicit Events(double gap = 0.1) : gap_(gap) {}
    Events &add(session::EventType type, int turn, Json data);

    Events &prelude();
    /// Thought, a Write of `lines` lines, a Verify with its verdict, end.
    Events &turn(int number, bool correct, int lines = 30, bool ends = true);

    std::vector<session::Event> all;

  private:
    double gap_;
};

SessionIndex indexOf(const std::vector<session::Event> &events, std::size_t first = 0,
                     std::size_t end = std::size_t(-1));
/// Some seven events a turn, each thought and result with a few lines of text.
SessionIndex big(int events);

} // namespace cuda_agent::widgets::sample
