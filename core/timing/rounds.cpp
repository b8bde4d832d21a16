// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timing/rounds.h"

#include <algorithm>
#include <chrono>

namespace cuda_agent::timing {

namespace {

constexpr std::uint64_t yardstickLimit = std::uint64_t{1} << 30;
constexpr double briefCopy = 1e-3; // below it one copy is too noisy to judge a round by
constexpr int briefCopies = 5;
constexpr std::size_t fewestSamples = 3; // even when one call outlasts the budget
constexpr int largestBatch = 10;         // more would leave a slow moment of the machine unnoticed
constexpr int retryFactor = 2;           // of budget and maximum, when rounds are dropped

std::size_t fewest(const Protocol &protocol) {
    return std::min<std::size_t>(fewestSamples,
                                 static_cast<std::size_t>(std::max(1, protocol.minimumSamples)));
}

} // namespace

Protocol trainingProtocol() {
    return {0.05, 5, 30, 0.5};
}

Protocol fullProtocol() {
    return {0.02, 20, 200, 3.0};
}

double minimumSampleSeconds(device::Kind kind) {
    return kind == device::Kind::cpu ? 5e-3 : 0;
}

double throttleFactor(device::Kind kind) {
    return kind == device::Kind::cpu ? 1.25 : 1.10;
}

HostClock steadyClock() {
    return [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    };
}

Yardstick::Yardstick(device::Device &device, std::uint64_t taskBytes)
    : device_(device), bytes_(std::clamp<std::uint64_t>(taskBytes, 4096, yardstickLimit)) {
    measure(); // the first copy may still have to get its memory
}

double Yardstick::measure() {
    if (!problem_.empty())
        return 0;
    double best = 0;
    double spent = 0;
    for (int i = 0; i < briefCopies && spent < briefCopy; ++i) {
        const auto seconds = device_.timeCopy(bytes_);
        if (!seconds) {
            problem_ = seconds.error().message;
            return 0;
        }
        best = i == 0 ? *seconds : std::min(best, *seconds);
        spent += *seconds;
    }
    return best;
}

void Rounds::add(std::vector<double> samples, double before, double after, double hostSeconds) {
    for (const double yardstick : {before, after})
        if (yardstick > 0)
            best_ = best_ > 0 ? std::min(best_, yardstick) : yardstick;
    hostSeconds_ += hostSeconds;
    rounds_.push_back({std::move(samples), std::max(before, after)});
}

bool Rounds::throttled(std::size_t round) const {
    return rounds_[round].yardstick > factor_ * best_;
}

std::vector<double> Rounds::good() const {
    std::vector<double> result;
    for (std::size_t i = 0; i < rounds_.size(); ++i)
        if (!throttled(i))
            result.insert(result.end(), rounds_[i].samples.begin(), rounds_[i].samples.end());
    return result;
}

std::vector<double> Rounds::all() const {
    std::vector<double> result;
    for (const Round &round : rounds_)
        result.insert(result.end(), round.samples.begin(), round.samples.end());
    return result;
}

std::size_t Rounds::samples() const {
    std::size_t count = 0;
    for (const Round &round : rounds_)
        count += round.samples.size();
    return count;
}

double Rounds::medianYardstick() const {
    std::vector<double> yardsticks;
    for (const Round &round : rounds_)
        if (round.yardstick > 0)
            yardsticks.push_back(round.yardstick);
    return median(yardsticks);
}

bool Rounds::enough(const Protocol &protocol) const {
    const std::vector<double> kept = good();
    const std::size_t total = samples();
    const auto minimum = static_cast<std::size_t>(std::max(1, protocol.minimumSamples));
    const auto maximum = static_cast<std::size_t>(std::max(1, protocol.maximumSamples));
    if (kept.size() >= maximum || total >= retryFactor * maximum)
        return true;
    if (kept.size() >= minimum && estimate(kept).relativeWidth() <= protocol.targetRelativeWidth)
        return true;
    if (hostSeconds_ >= protocol.budgetSeconds && kept.size() >= fewest(protocol))
        return true;
    return hostSeconds_ >= retryFactor * protocol.budgetSeconds && total >= fewest(protocol);
}

Rounds::Outcome Rounds::outcome() const {
    Outcome result{good(), false};
    std::vector<double> every = all();
    result.throttled = 2 * result.samples.size() < every.size();
    if (result.samples.size() < std::min(fewestSamples, every.size())) {
        result.samples = std::move(every);
        result.throttled = true;
    }
    return result;
}

int nextBatch(const Protocol &protocol, const Rounds &rounds, double secondsPerSample) {
    const int share = std::clamp(protocol.minimumSamples, 1, largestBatch);
    if (!(secondsPerSample > 0))
        return share;
    const double left = protocol.budgetSeconds - rounds.hostSeconds();
    const double fit = std::clamp<double>(left / secondsPerSample, 1, share);
    const int missing = static_cast<int>(fewest(protocol)) - static_cast<int>(rounds.samples());
    return std::max(static_cast<int>(fit), missing);
}

} // namespace cuda_agent::timing
