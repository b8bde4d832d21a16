// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/bench/evaluation.h"

#include <cstdio>

namespace cuda_agent::app {

/// Shows how an evaluation goes: a line for each task that ended, and on a terminal a bar below
/// with what is left. Writes to standard error while --json owns standard output.
class EvaluationProgress {
  public:
    explicit EvaluationProgress(bool json);
    ~EvaluationProgress();

    /// Borrows this object.
    bench::Listener listener();
    /// The figures and where the reports are.
    void summary(const bench::Evaluation &outcome, const std::filesystem::path &folder);

  private:
    void line(const std::string &text);
    void bar(const bench::Status &status);
    void clear();

    std::FILE *out_;
    bool terminal_;
    bool shown_ = false; ///< a bar stands in the last line
    bench::Status status_;
    std::string doing_; ///< "1/19: loading the task"
};

} // namespace cuda_agent::app
