// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string>

namespace cuda_agent::plan::runner {

/// From now on a fatal signal (SIGSEGV, SIGBUS, SIGFPE, SIGILL) first sends a `fault` message over
/// the channel descriptor and then ends the process by that signal. Signals on a thread whose stack
/// is used up send nothing.
void installFaultSignals(int channel);

/// The messages for one step, ready to be sent: a signal handler cannot write text.
class FaultTexts {
  public:
    /// `label` says what was running: "kernels/x.cu:entry (step 2)".
    explicit FaultTexts(const std::string &label);
    const std::string &frame(std::size_t signal) const { return frames_[signal]; }

  private:
    std::array<std::string, 4> frames_;
};

/// While it lives, a fatal signal is this step's. One at a time.
class RunningStep {
  public:
    explicit RunningStep(const FaultTexts &texts);
    ~RunningStep();
    RunningStep(const RunningStep &) = delete;
    RunningStep &operator=(const RunningStep &) = delete;
};

} // namespace cuda_agent::plan::runner
