// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/session/event.h"

#include <string>

namespace cuda_agent::app {

/// Writes what happens as text: coloured with a status line on a terminal, plain lines in a pipe.
/// Writes to standard error while `quiet` output (--json) owns standard output.
/// One thread.
class Printer {
  public:
    /// `prefix` stands before every line ("[2] "), for one of several that write in turns.
    explicit Printer(bool json, std::string prefix = {});
    ~Printer();

    /// A passing state ("torch.compile"): a status line on a terminal, a line in a pipe.
    void progress(const std::string &what);
    /// One event of a session, as a person wants to read it.
    void event(const session::Event &event);
    /// The times, checks and flags of a verdict as a table.
    void verdict(const Json &verdict);
    void line(const std::string &text);

  private:
    std::string bold(const std::string &text) const;
    std::string dim(const std::string &text) const;
    void clearStatus();

    std::FILE *out_;
    std::string prefix_;
    bool terminal_;
    bool status_ = false;
};

} // namespace cuda_agent::app
