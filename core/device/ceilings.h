// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/device.h"

#include <functional>

namespace cuda_agent::device {

/// Answers from `cacheDir()/ceilings-<hash of name and driver>.json`, else measures and writes it.
/// A cache that cannot be written is not an error: the measurement is just repeated next time.
/// Errors: what `measure` returns.
Result<Ceilings> cachedCeilings(const Info &info, const std::function<Result<Ceilings>()> &measure);

/// Single-precision multiply-add rate of this processor over `threads` threads, in FLOP/s.
double measureCpuFlops(int threads);

} // namespace cuda_agent::device
