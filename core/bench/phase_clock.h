// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/elapsed.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace cuda_agent::bench {

/// Seconds of preparing by what the judge says of it, until told that it is over.
class PhaseClock {
  public:
    void enter(const std::string &phase) {
        if (over_)
            return;
        leave();
        phase_ = phase;
    }
    void end() {
        leave();
        over_ = true;
    }
    std::map<std::string, double> take() { return std::exchange(phases_, {}); }

  private:
    void leave() {
        if (!over_ && !phase_.empty())
            phases_[phase_] += secondsSince(since_);
        since_ = std::chrono::steady_clock::now();
    }
    std::string phase_ = "starting";
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
    std::map<std::string, double> phases_;
    bool over_ = false;
};

} // namespace cuda_agent::bench
