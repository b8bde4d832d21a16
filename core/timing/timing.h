// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/candidate_process.h"
#include "core/reference/worker.h"
#include "core/timing/statistics.h"

#include <optional>

namespace cuda_agent::timing {

struct Protocol {
    double targetRelativeWidth = 0.02; ///< stop when the interval is this narrow
    int minimumSamples = 10;
    int maximumSamples = 100;
    double budgetSeconds = 2.0; ///< per measured thing
};
Protocol trainingProtocol();
Protocol fullProtocol();

/// Times of one task's baselines, measured by this session.
struct Baselines {
    std::map<reference::Baseline, std::vector<double>> samples; ///< seconds per call
    std::map<reference::Baseline, Estimate> estimates;
    std::map<reference::Baseline, std::string> problems; ///< why one is missing
    double yardstickSeconds = 0; ///< device copy of the task's bytes, at the same time
};
Json toJson(const Baselines &baselines);
Result<Baselines> baselinesFromJson(const Json &json);

struct CandidateTimes {
    std::vector<double> samples;
    Estimate estimate;
    double hostSecondsPerCall = 0; ///< engine's clock around whole batches
    double yardstickSeconds = 0;
    std::vector<std::string>
        flags; ///< "host clock disagrees", "faster than the limit", "throttled"
};

/// Measures eager and the compiled baselines that `wanted` names, interleaved.
Result<Baselines> measureBaselines(reference::Worker &worker, device::Device &device,
                                   const std::vector<reference::Baseline> &wanted,
                                   std::uint64_t taskBytes, const Protocol &protocol,
                                   std::stop_token stop = {});

/// Measures the candidate on input sets already bound under numbers `sets`.
Result<CandidateTimes> measureCandidate(plan::CandidateProcess &candidate, device::Device &device,
                                        const std::vector<int> &sets, std::uint64_t taskBytes,
                                        const Protocol &protocol, std::stop_token stop = {});

} // namespace cuda_agent::timing
