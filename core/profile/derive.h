// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/profile/profile.h"

namespace cuda_agent::profile {

/// Fills in all that follows from `launch.counters`, its shape and its times: the formulas stand
/// beside the members in profile.h. Pure; what a counter is missing for stays empty.
void deriveLaunch(Launch &launch, const Report &report);

/// Fills in the sums, the shares and the roofs of the whole call from its launches.
void deriveTotals(Report &report);

/// The roofs for an amount of traffic and operations in `seconds`, as far as both a counter and
/// one of the ceilings are there. Empty for 0 seconds.
std::vector<Roof> roofsOf(const Traffic &traffic, const Operations &operations, double seconds,
                          const device::Info &device, const device::Ceilings &ceilings);

/// blocks / (multiprocessors x resident blocks), and the share of block slots that stay empty in
/// the last, partly filled round: 1 - waves / ceil(waves).
struct Waves {
    double waves = 0;
    double tail = 0;
};
std::optional<Waves> wavesOf(double blocks, int multiprocessors, int residentBlocks);

} // namespace cuda_agent::profile
