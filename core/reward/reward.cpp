// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/reward/reward.h"

namespace cuda_agent::reward {

namespace {

constexpr double margin = 1.05;

bool clearlyFaster(double candidate, std::optional<double> baseline) {
    return baseline && candidate > 0 && *baseline > margin * candidate;
}

} // namespace

int milestone(bool correct, double candidate, std::optional<double> eager,
              std::optional<double> compile) {
    if (!correct)
        return -1;
    if (!clearlyFaster(candidate, eager))
        return 1;
    return clearlyFaster(candidate, compile) ? 3 : 2;
}

} // namespace cuda_agent::reward
