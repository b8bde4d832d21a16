// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timing/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cuda_agent::timing {

namespace {

constexpr int resamples = 1000;
constexpr double tail = 0.025; // both tails together leave 95 %

/// xorshift64* (Vigna 2016): a resample needs one draw a sample, so the generator is what costs.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {
        if (state_ == 0)
            state_ = 1;
    }
    /// Uniform in [0, bound), bound below 2^32 (multiply-shift, Lemire 2019; its bias of at most
    /// bound / 2^32 is far below what a bootstrap resolves).
    std::uint32_t below(std::uint32_t bound) {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        const std::uint64_t high = (state_ * 0x2545f4914f6cdd1dull) >> 32;
        return static_cast<std::uint32_t>((high * bound) >> 32);
    }

  private:
    std::uint64_t state_;
};

double medianOfSorted(const std::vector<double> &sorted) {
    const std::size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/// Medians of resamples of `sorted`, itself in ascending order. Resampling positions instead of
/// values lets a counting pass find each median without sorting.
std::vector<double> bootstrapMedians(const std::vector<double> &sorted, std::uint64_t seed) {
    Random random(seed);
    const auto count = static_cast<std::uint32_t>(sorted.size());
    std::vector<std::uint32_t> drawn(count);
    std::vector<double> medians;
    medians.reserve(resamples);
    for (int i = 0; i < resamples; ++i) {
        std::fill(drawn.begin(), drawn.end(), 0u);
        for (std::uint32_t k = 0; k < count; ++k)
            ++drawn[random.below(count)];
        // The order statistics (count - 1) / 2 and count / 2, equal for an odd count.
        std::uint32_t seen = 0;
        std::uint32_t at = 0;
        while (seen + drawn[at] <= (count - 1) / 2)
            seen += drawn[at++];
        const double lower = sorted[at];
        while (seen + drawn[at] <= count / 2)
            seen += drawn[at++];
        medians.push_back((lower + sorted[at]) / 2);
    }
    return medians;
}

/// Linear interpolation between order statistics.
double quantile(const std::vector<double> &sorted, double p) {
    const double position = p * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(position));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - std::floor(position)) * (sorted[above] - sorted[below]);
}

std::vector<double> sortedCopy(std::span<const double> samples) {
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

} // namespace

double median(std::span<const double> samples) {
    return samples.empty() ? 0 : medianOfSorted(sortedCopy(samples));
}

Estimate estimate(std::span<const double> samples, std::uint64_t seed) {
    if (samples.empty())
        return {};
    const std::vector<double> sorted = sortedCopy(samples);
    Estimate result;
    result.median = medianOfSorted(sorted);
    result.samples = static_cast<int>(sorted.size());
    std::vector<double> medians = bootstrapMedians(sorted, seed);
    std::sort(medians.begin(), medians.end());
    result.low = quantile(medians, tail);
    result.high = quantile(medians, 1 - tail);
    return result;
}

Difference difference(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
    if (a.empty() || b.empty())
        return {};
    const std::vector<double> sortedA = sortedCopy(a);
    const std::vector<double> sortedB = sortedCopy(b);
    const std::vector<double> mediansA = bootstrapMedians(sortedA, seed);
    const std::vector<double> mediansB = bootstrapMedians(sortedB, seed + 1);
    std::vector<double> ratios(mediansA.size());
    for (std::size_t i = 0; i < ratios.size(); ++i)
        ratios[i] = mediansA[i] / mediansB[i] - 1;
    std::sort(ratios.begin(), ratios.end());
    return {medianOfSorted(sortedA) / medianOfSorted(sortedB) - 1, quantile(ratios, tail),
            quantile(ratios, 1 - tail)};
}

} // namespace cuda_agent::timing
