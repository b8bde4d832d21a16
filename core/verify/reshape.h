// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/verify/verify.h"

namespace cuda_agent::verify {

/// Another size for a constant that is one, near it and below where that can be, so that the case
/// fits into memory where the task does. Half of the time a multiple of eight, which kernels that
/// read vectors take. `random`: any bits.
std::int64_t otherSize(std::int64_t size, std::uint64_t random);

inline constexpr std::size_t mostReshaped = 2;

/// Draws up to mostReshaped cases of other shapes into `pool`, by constants of its description in a
/// random order; others are let in between them. Errors: machine, stopped.
Result<void> drawReshaped(reference::Worker &worker, device::Share &share, Pool &pool,
                          std::stop_token stop);

} // namespace cuda_agent::verify
