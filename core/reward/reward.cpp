// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/reward/reward.h"

namespace cuda_agent::reward {

namespace {

bool isFaster(double candidate, std::optional<double> baseline) {
    return baseline && candidate > 0 && *baseline > clearlyFaster * candidate;
}

} // namespace

int milestone(bool correct, double candidate, std::optional<double> eager,
              std::optional<double> compile) {
    if (!correct)
        return -1;
    if (!isFaster(candidate, eager))
        return 1;
    return isFaster(candidate, compile) ? 3 : 2;
}

} // namespace cuda_agent::reward
