// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/timing/timing.h"

#include <vector>

namespace cuda_agent::timing {

/// Times a device copy next to the measurements, to tell a slowed machine from a slow candidate.
class Yardstick {
  public:
    /// Makes one copy to warm up.
    Yardstick(device::Device &device, std::uint64_t taskBytes);
    /// Seconds of one copy now; 0 once the device could not do it (it is not asked again).
    double measure();
    const std::string &problem() const { return problem_; }

  private:
    device::Device &device_;
    std::uint64_t bytes_;
    std::string problem_;
};

/// How much slower than the best a yardstick may be before its round counts as throttled.
double throttleFactor(device::Kind kind);

/// Samples in rounds, each with the yardstick beside it.
class Rounds {
  public:
    explicit Rounds(double factor) : factor_(factor) {}
    /// Yardsticks taken right before and after the round; 0 where there is none.
    void add(std::vector<double> samples, double before, double after, double hostSeconds);

    /// Samples of the rounds that were not throttled, as judged with all yardsticks so far.
    std::vector<double> good() const;
    std::vector<double> all() const;
    bool throttled(std::size_t round) const;
    std::size_t count() const { return rounds_.size(); }
    std::size_t samples() const;
    double hostSeconds() const { return hostSeconds_; }
    double medianYardstick() const;

    /// Whether `protocol` asks for no more.
    bool enough(const Protocol &protocol) const;
    /// What to report: the good samples, or all where the machine was throttled nearly throughout.
    struct Outcome {
        std::vector<double> samples;
        bool throttled = false; ///< most were dropped, or nothing could be
    };
    Outcome outcome() const;

  private:
    struct Round {
        std::vector<double> samples;
        double yardstick = 0; ///< the slower one
    };
    double factor_;
    double best_ = 0;
    double hostSeconds_ = 0;
    std::vector<Round> rounds_;
};

/// Samples to ask for next: a share of the protocol's minimum, fewer when `secondsPerSample` says
/// that they would not fit into what is left of the budget, but all that cannot be done without.
int nextBatch(const Protocol &protocol, const Rounds &rounds, double secondsPerSample);

} // namespace cuda_agent::timing
