// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

namespace cuda_agent::reward {

/// Faster, where it counts, means this much: 5 %, above what two measurements of one thing differ
/// by.
inline constexpr double clearlyFaster = 1.05;
/// Fraction of the machine's limit that counts as being at it.
inline constexpr double atLimit = 0.95;

/// Milestones of the published system: -1 wrong; 1 correct; 2 also clearly faster than eager;
/// 3 also clearly faster than torch.compile. Times in seconds (medians).
int milestone(bool correct, double candidate, std::optional<double> eager,
              std::optional<double> compile);

} // namespace cuda_agent::reward
