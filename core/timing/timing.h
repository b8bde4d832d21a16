// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/candidate_process.h"
#include "core/reference/worker.h"
#include "core/timing/statistics.h"

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cuda_agent::timing {

struct Protocol {
    double targetRelativeWidth = 0.02; ///< stop when the interval is this narrow
    int minimumSamples = 10;
    int maximumSamples = 100;
    double budgetSeconds = 2.0; ///< host time of the batches of each measured thing
    /// What the kernels of one call took together, on all streams, where something recorded them.
    std::optional<double> recordedSeconds = {};
};
Protocol trainingProtocol();
Protocol fullProtocol();

/// Span that one sample is filled up to by repeating the call: 5 ms on the CPU, where single short
/// calls drown in scheduling; 0 on cuda, where events time one call well.
double minimumSampleSeconds(device::Kind kind);

/// Seconds since any fixed moment, never going back. Tests give their own.
using HostClock = std::function<double()>;
HostClock steadyClock();

/// Times of one task's baselines, measured by this session.
struct Baselines {
    std::map<reference::Baseline, std::vector<double>> samples; ///< seconds per call
    std::map<reference::Baseline, Estimate> estimates;
    std::map<reference::Baseline, std::string> problems; ///< why one is missing or cut short
    double yardstickSeconds = 0;    ///< device copy of the task's bytes, at the same time
    std::vector<std::string> flags; ///< "throttled"
};
/// {"eager": {"seconds", "low", "high", "samples", "raw": [..]}, ..., "yardstick_seconds",
/// "problems": {"compile": "why"}, "flags": [..]}; absent things are absent keys.
Json toJson(const Baselines &baselines);
/// Unknown keys are ignored. Errors: request.
Result<Baselines> baselinesFromJson(const Json &json);

struct CandidateTimes {
    std::vector<double> samples;
    Estimate estimate;
    /// Engine's clock around one batch of calls without flushing, divided by its calls; messages
    /// and launches included.
    double hostSecondsPerCall = 0;
    double yardstickSeconds = 0;
    std::vector<std::string>
        flags; ///< "host clock disagrees", "faster than the limit", "throttled"
};

/// Measures eager and the compiled baselines that `wanted` names, interleaved.
///
/// Each baseline is called once outside the budget (warm-up, compilation), then all take turns
/// until each has a narrow enough interval, enough samples, or has used its budget. Rounds in which
/// the yardstick ran slow are dropped as in measureCandidate. A baseline that fails gets an entry
/// in `problems`; one that fails later keeps the samples it has. `taskBytes` sizes the yardstick
/// (at most 1 GiB).
/// Errors: stopped; machine, when not one baseline could be timed and the last failure was of that
/// kind (the worker died).
Result<Baselines> measureBaselines(reference::Worker &worker, device::Device &device,
                                   const std::vector<reference::Baseline> &wanted,
                                   std::uint64_t taskBytes, const Protocol &protocol,
                                   std::stop_token stop = {});

/// Takes samples of one baseline: what reference::Worker::time does.
using BaselineSampler =
    std::function<Result<reference::BaselineSamples>(reference::Baseline, int samples)>;
/// The same with any source of samples.
Result<Baselines> measureBaselines(const BaselineSampler &sampler, device::Device &device,
                                   const std::vector<reference::Baseline> &wanted,
                                   std::uint64_t taskBytes, const Protocol &protocol,
                                   std::stop_token stop = {});

/// Measures the candidate on input sets already bound under numbers `sets`.
///
/// Both sides are treated alike: on cuda the cache is flushed before each sample of one call, as
/// the reference worker does; on the CPU calls are repeated within a sample and nothing is flushed.
///
/// Batches of samples are taken between yardsticks (Device::timeCopy). A batch with a yardstick
/// more than 10 % (cpu: 25 %, where other programs share the memory) slower than the best one is
/// dropped as throttled and taken again, until the budget is used twice; when more than half were
/// dropped the flag "throttled" says so, and when too few are left all are used.
///
/// "host clock disagrees" means that the process reports times that the engine's clock rules out:
/// samples that together span more than the batch took on the host, or, in a batch of warm calls
/// without flushing, less than half of it after an allowance for messages and launches; the flushed
/// time may not be below half the warm host time per call either. An honest process is only ever
/// slower on the host by that allowance (50 us a sample and two milliseconds); a dishonest one that
/// hides more than half of its time is caught wherever calls take more than the allowance. Where
/// `protocol.recordedSeconds` bears the flushed time out, by half at least, calls have
/// CandidateProcess::callOverhead() each besides: the rest then is Python's, not hidden work.
/// A machine that another program slows down between the samples and that comparison would accuse
/// the honest: samples are taken anew, twice at most, before anybody is, and only the last count.
///
/// "faster than the limit" means a time below 0.8 of what the machine's measured copy rate needs
/// for `taskBytes`, where they cannot stay in its cache.
///
/// Errors: failed (the candidate faulted, or reported impossible numbers), machine, stopped,
/// request (no sets).
Result<CandidateTimes> measureCandidate(plan::CandidateProcess &candidate, device::Device &device,
                                        const std::vector<int> &sets, std::uint64_t taskBytes,
                                        const Protocol &protocol, std::stop_token stop = {},
                                        const HostClock &clock = steadyClock());

/// Two candidates measured at different moments: a relative to b (negative: a is faster).
Difference compare(const CandidateTimes &a, const CandidateTimes &b);

/// Two candidates measured in turns.
struct AbResult {
    CandidateTimes a;
    CandidateTimes b;
    /// time(a) / time(b) - 1 with a 95 % interval: the median over rounds of the ratio within a
    /// round, bootstrapped over rounds, so that a machine that drifts between rounds does not
    /// enter.
    Difference difference;
    int rounds = 0;
};

/// Measures a, b, b, a in rounds until the interval of the difference is narrower than the
/// protocol's target (as a span), or samples or budget (of each) are used. Both processes have
/// their inputs bound under `sets`. Throttled rounds are dropped as above.
/// Errors: as measureCandidate.
Result<AbResult> measureAb(plan::CandidateProcess &a, plan::CandidateProcess &b,
                           device::Device &device, const std::vector<int> &sets,
                           std::uint64_t taskBytes, const Protocol &protocol,
                           std::stop_token stop = {}, const HostClock &clock = steadyClock());

} // namespace cuda_agent::timing
