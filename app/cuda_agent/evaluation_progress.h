// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cuda_agent/terminal.h"

#include "core/bench/evaluation.h"

namespace cuda_agent::app {

/// Shows how an evaluation goes: a line for each task that ended, and on a terminal a bar below
/// with what is left. Writes to standard error while --json owns standard output.
class EvaluationProgress {
  public:
    explicit EvaluationProgress(bool json) : terminal_(json ? stderr : stdout) {}

    /// Borrows this object.
    bench::Listener listener();
    /// The figures and where the reports are.
    void summary(const bench::Evaluation &outcome, const std::filesystem::path &folder);

  private:
    void bar(const bench::Status &status);

    Terminal terminal_;
    bench::Status status_;
    std::string doing_; ///< "1/19: loading the task"
};

} // namespace cuda_agent::app
