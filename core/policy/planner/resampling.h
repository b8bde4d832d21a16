// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace cuda_agent::policy {

/// The nearest neighbour of a place in whole numbers: (place * times + plus) / by, rounded down.
struct NearestPlaces {
    std::int64_t times = 1, plus = 0, by = 1;
    std::int64_t of(std::int64_t place) const { return (place * times + plus) / by; }
};

/// Which of `in` elements upsample_nearest, or `exact` _upsample_nearest_exact, takes for each of
/// `out`, `factor` times as many; 0: as many as that is. Nothing where PyTorch's rounding in float
/// (aten/src/ATen/native/UpSample.h) takes other ones than such numbers say.
std::optional<NearestPlaces> nearestPlaces(std::int64_t in, std::int64_t out, double factor,
                                           bool exact);

/// How many elements of the input go for one of the output, as PyTorch rounds it: of a `factor`
/// that is given, or 0, from the sizes.
float resizingScale(std::int64_t in, std::int64_t out, double factor);
/// The same neighbour as PyTorch computes it, in float.
std::int64_t nearestInFloat(std::int64_t place, std::int64_t in, float scale, bool exact);

} // namespace cuda_agent::policy
