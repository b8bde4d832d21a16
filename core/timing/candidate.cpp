// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timing/rounds.h"
#include "core/timing/timing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

namespace cuda_agent::timing {

namespace {

// Allowances for honest differences between the engine's clock and the runner's.
constexpr double clockSlack = 1e-4;     // seconds of a batch, and 1 % of it
constexpr double messageSeconds = 2e-3; // one request and its answer, set-up of a batch
constexpr double launchSeconds = 50e-6; // launch and synchronisation of one sample
constexpr double hidden = 0.5;          // claims below this share of the host time are refused
/// The same for what was claimed in other batches: another program may have taken a core since.
constexpr double drifted = 0.4;
constexpr double corroborationSpan = 30e-3; // long enough for the allowances not to matter
constexpr int corroborationSamples = 300;
constexpr int corroborations = 4;                           // batches that must all disagree
constexpr std::chrono::milliseconds corroborationPause{30}; // times the number of those before
constexpr int attempts = 3; // at samples that the engine's clock does not contradict
constexpr double limitShare = 0.8;
constexpr double slowCall = 0.1; // seconds from which further warm-up calls change nothing

/// One answer of the candidate's process beside the engine's clock.
struct Batch {
    std::vector<double> seconds; ///< per call, one entry a sample
    double claimed = 0;          ///< seconds in all, as the process says
    double host = 0;             ///< seconds in all, as the engine's clock says
    double calls = 0;

    bool longerThanHost() const { return claimed > host * 1.01 + clockSlack; }
};

/// A candidate under measurement.
class Subject {
  public:
    Subject(plan::CandidateProcess &process, device::Device &device, std::vector<int> sets,
            const Protocol &protocol, const HostClock &clock)
        : process_(process), kind_(device.info().kind), sets_(std::move(sets)),
          recorded_(protocol.recordedSeconds), clock_(clock) {}

    Result<Batch> batch(int samples, int warmup, double span, bool flush);
    /// First call: everything that happens only once.
    Result<void> warmUp();
    /// A batch as the protocol wants it: cold cache on cuda, spans filled up on the CPU.
    Result<Batch> sample(int samples);
    /// Whether the process's claims and the engine's clock agree where they must. `median`: seconds
    /// of a call, of the samples taken last.
    Result<bool> corroborate(double median);

    double firstSeconds() const { return firstSeconds_; }
    bool disagrees() const { return impossible_ || contradicted_; }
    double hostSecondsPerCall() const { return hostSecondsPerCall_; }

  private:
    /// What each call may take the host besides what the process claims for it.
    double allowanceFor(double median) const {
        const bool borneOut = recorded_ && *recorded_ > 0 && median >= hidden * *recorded_;
        return borneOut ? process_.callOverhead() : 0;
    }

    plan::CandidateProcess &process_;
    device::Kind kind_;
    std::vector<int> sets_;
    std::optional<double> recorded_;
    const HostClock &clock_;
    bool fresh_ = true;
    bool impossible_ = false;   ///< it has claimed more time than there was
    bool contradicted_ = false; ///< by the last corroboration
    double firstSeconds_ = 0;
    double hostSecondsPerCall_ = 0;
};

Result<Batch> Subject::batch(int samples, int warmup, double span, bool flush) {
    plan::SampleRequest request;
    request.sets = sets_;
    request.samples = samples;
    request.warmup = warmup;
    request.minimumSampleSeconds = span;
    request.flushCache = flush;
    const double start = clock_();
    CUDA_AGENT_ASSIGN(taken, process_.time(request));
    Batch batch;
    batch.host = clock_() - start;
    if (taken.size() != static_cast<std::size_t>(samples))
        return failedError("the candidate's process answered with {} samples where {} were asked "
                           "for",
                           taken.size(), samples);
    for (const plan::Sample &each : taken) {
        if (!std::isfinite(each.seconds) || each.seconds <= 0 || each.calls < 1)
            return failedError("the candidate's process reported an impossible time ({} s, {} "
                               "calls)",
                               each.seconds, each.calls);
        batch.seconds.push_back(each.seconds);
        batch.claimed += each.seconds * each.calls;
        batch.calls += each.calls;
    }
    impossible_ = impossible_ || batch.longerThanHost();
    return batch;
}

Result<void> Subject::warmUp() {
    CUDA_AGENT_ASSIGN(first, batch(1, 1, 0, false));
    firstSeconds_ = first.seconds[0];
    return {};
}

Result<Batch> Subject::sample(int samples) {
    const int warmup = fresh_ && firstSeconds_ < slowCall ? 3 : 1;
    fresh_ = false;
    return batch(samples, warmup, minimumSampleSeconds(kind_), kind_ == device::Kind::cuda);
}

Result<bool> Subject::corroborate(double median) {
    const double wanted = std::ceil(corroborationSpan / median);
    const int samples = static_cast<int>(std::clamp<double>(wanted, 1, corroborationSamples));
    const double span = corroborationSpan / samples;
    // A busy machine may take the processor from the process between its clock and the answer, or
    // be slower now than it was before; one that hides time does so in every batch.
    for (int i = 0; i < corroborations; ++i) {
        std::this_thread::sleep_for(i * corroborationPause);
        CUDA_AGENT_ASSIGN(warm, batch(samples, 1, span, false));
        const double host = warm.host / (warm.calls + 1); // one more call for the warm-up
        hostSecondsPerCall_ = i == 0 ? host : std::min(hostSecondsPerCall_, host);
        const double busy =
            (warm.host - messageSeconds - samples * launchSeconds) / (warm.calls + 1) -
            allowanceFor(median);
        // A process could tell the truth here and lie above; but cold calls are not faster than
        // warm ones.
        contradicted_ = warm.claimed / warm.calls < hidden * busy || median < drifted * busy;
        if (!contradicted_)
            break;
    }
    return !contradicted_;
}

CandidateTimes report(const Subject &subject, const Rounds &rounds, const Yardstick &yardstick,
                      device::Device &device, std::uint64_t taskBytes) {
    CandidateTimes times;
    auto outcome = rounds.outcome();
    times.samples = std::move(outcome.samples);
    times.estimate = estimate(times.samples);
    times.hostSecondsPerCall = subject.hostSecondsPerCall();
    times.yardstickSeconds = rounds.medianYardstick();
    if (subject.disagrees())
        times.flags.push_back("host clock disagrees");
    if (taskBytes > 2 * device.info().cacheBytes) {
        const auto ceilings = device.ceilings();
        if (ceilings && ceilings->copyBytesPerSecond > 0 &&
            times.estimate.median <
                limitShare * static_cast<double>(taskBytes) / ceilings->copyBytesPerSecond)
            times.flags.push_back("faster than the limit");
    }
    if (outcome.throttled)
        times.flags.push_back("throttled");
    if (!yardstick.problem().empty())
        times.flags.push_back("throttling could not be watched: " + yardstick.problem());
    return times;
}

/// Rounds of one candidate, as the protocol wants them.
Result<Rounds> takeRounds(Subject &subject, Yardstick &yardstick, device::Kind kind,
                          const Protocol &protocol, const std::stop_token &stop) {
    Rounds rounds(throttleFactor(kind));
    double before = yardstick.measure();
    while (!rounds.enough(protocol)) {
        if (stop.stop_requested())
            return stoppedError();
        const std::size_t have = rounds.samples();
        const double perSample =
            have == 0 ? subject.firstSeconds() : rounds.hostSeconds() / static_cast<double>(have);
        CUDA_AGENT_ASSIGN(batch, subject.sample(nextBatch(protocol, rounds, perSample)));
        const double after = yardstick.measure();
        rounds.add(std::move(batch.seconds), before, after, batch.host);
        before = after;
    }
    if (stop.stop_requested())
        return stoppedError();
    return rounds;
}

/// Rounds of two candidates in turns: a, b, b, a.
class Turns {
  public:
    explicit Turns(double factor) : rounds_{Rounds(factor), Rounds(factor)} {}

    Result<void> take(std::array<Subject, 2> &subjects, Yardstick &yardstick,
                      const Protocol &protocol, const std::stop_token &stop);
    const Rounds &of(std::size_t which) const { return rounds_[which]; }
    Difference difference() const;
    std::size_t count() const { return ratios_.size(); }

  private:
    static constexpr std::size_t fewest = 6; // fewer give no honest 95 % interval

    bool enough(const Protocol &protocol) const;

    std::array<Rounds, 2> rounds_;
    std::vector<double> ratios_; ///< one per round, throttled or not
};

Difference Turns::difference() const {
    std::vector<double> kept;
    for (std::size_t i = 0; i < ratios_.size(); ++i)
        if (!rounds_[0].throttled(i))
            kept.push_back(ratios_[i]);
    const bool few = kept.size() < std::min(fewest, ratios_.size());
    const Estimate ratio = estimate(few ? ratios_ : kept);
    return Difference{ratio.median - 1, ratio.low - 1, ratio.high - 1};
}

bool Turns::enough(const Protocol &protocol) const {
    if (ratios_.size() < fewest)
        return false;
    const Difference now = difference();
    if (now.high - now.low <= protocol.targetRelativeWidth)
        return true;
    return std::max(rounds_[0].hostSeconds(), rounds_[1].hostSeconds()) >= protocol.budgetSeconds ||
           rounds_[0].samples() >= static_cast<std::size_t>(protocol.maximumSamples);
}

Result<void> Turns::take(std::array<Subject, 2> &subjects, Yardstick &yardstick,
                         const Protocol &protocol, const std::stop_token &stop) {
    // A round has two batches of each, and there should be time for twice the fewest rounds.
    const double slower = std::max(subjects[0].firstSeconds(), subjects[1].firstSeconds());
    const double fit = protocol.budgetSeconds / (4 * fewest) / slower;
    const int most = std::clamp(protocol.maximumSamples / 40, 1, 10);
    const int batchSamples = static_cast<int>(std::clamp<double>(fit, 1, most));
    double before = yardstick.measure();
    while (!enough(protocol)) {
        std::vector<double> seconds[2];
        double host[2] = {0, 0};
        for (const int which : {0, 1, 1, 0}) {
            if (stop.stop_requested())
                return stoppedError();
            CUDA_AGENT_ASSIGN(batch, subjects[which].sample(batchSamples));
            seconds[which].insert(seconds[which].end(), batch.seconds.begin(), batch.seconds.end());
            host[which] += batch.host;
        }
        const double after = yardstick.measure();
        ratios_.push_back(median(seconds[0]) / median(seconds[1]));
        for (const int which : {0, 1})
            rounds_[which].add(std::move(seconds[which]), before, after, host[which]);
        before = after;
    }
    return {};
}

} // namespace

Result<CandidateTimes> measureCandidate(plan::CandidateProcess &candidate, device::Device &device,
                                        const std::vector<int> &sets, std::uint64_t taskBytes,
                                        const Protocol &protocol, std::stop_token stop,
                                        const HostClock &clock) {
    if (sets.empty())
        return requestError("timing needs at least one bound input set");
    if (stop.stop_requested())
        return stoppedError();
    Subject subject(candidate, device, sets, protocol, clock);
    CUDA_AGENT_TRY(subject.warmUp());
    Yardstick yardstick(device, taskBytes);
    for (int attempt = 1;; ++attempt) {
        CUDA_AGENT_ASSIGN(rounds,
                          takeRounds(subject, yardstick, device.info().kind, protocol, stop));
        CUDA_AGENT_ASSIGN(agreed, subject.corroborate(median(rounds.all())));
        if (agreed || attempt == attempts)
            return report(subject, rounds, yardstick, device, taskBytes);
    }
}

Difference compare(const CandidateTimes &a, const CandidateTimes &b) {
    return difference(a.samples, b.samples);
}

Result<AbResult> measureAb(plan::CandidateProcess &a, plan::CandidateProcess &b,
                           device::Device &device, const std::vector<int> &sets,
                           std::uint64_t taskBytes, const Protocol &protocol, std::stop_token stop,
                           const HostClock &clock) {
    if (sets.empty())
        return requestError("timing needs at least one bound input set");
    std::array subjects{Subject(a, device, sets, protocol, clock),
                        Subject(b, device, sets, protocol, clock)};
    for (Subject &subject : subjects)
        CUDA_AGENT_TRY(subject.warmUp());
    Yardstick yardstick(device, taskBytes);
    for (int attempt = 1;; ++attempt) {
        Turns turns(throttleFactor(device.info().kind));
        CUDA_AGENT_TRY(turns.take(subjects, yardstick, protocol, stop));
        bool agreed = true;
        for (const std::size_t which : {0, 1}) {
            CUDA_AGENT_ASSIGN(each, subjects[which].corroborate(median(turns.of(which).all())));
            agreed = agreed && each;
        }
        if (!agreed && attempt < attempts)
            continue;
        AbResult result;
        result.a = report(subjects[0], turns.of(0), yardstick, device, taskBytes);
        result.b = report(subjects[1], turns.of(1), yardstick, device, taskBytes);
        result.difference = turns.difference();
        result.rounds = static_cast<int>(turns.count());
        return result;
    }
}

} // namespace cuda_agent::timing
