// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

namespace cuda_agent::timing {

/// 0 for no samples.
double median(std::span<const double> samples);

/// Median with a 95 % bootstrap percentile interval (Efron 1979; 1000 resamples), in seconds.
/// The same samples and seed give the same interval. No samples give zeros; one gives
/// low = high = median.
struct Estimate {
    double median = 0;
    double low = 0;
    double high = 0;
    int samples = 0;
    double relativeWidth() const { return median > 0 ? (high - low) / median : 0; }
};
Estimate estimate(std::span<const double> samples, std::uint64_t seed = 1);

/// median(a) / median(b) - 1 with a 95 % interval from independent bootstraps. Samples are
/// positive. Zeros when either side has none.
struct Difference {
    double relative = 0;
    double low = 0;
    double high = 0;
    bool significant() const { return low > 0 || high < 0; }
};
Difference difference(std::span<const double> a, std::span<const double> b, std::uint64_t seed = 1);

} // namespace cuda_agent::timing
