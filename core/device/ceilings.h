// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/cpu_info.h"

#include <functional>

namespace cuda_agent::device {

/// What the cache file holds for this device, without measuring.
std::optional<Ceilings> knownCeilings(const Info &info);

/// Answers from `cacheDir()/ceilings-<hash of name and driver>.json`, else measures and writes it.
/// Debug and sanitized builds have files of their own.
/// A cache that cannot be written is not an error: the measurement is just repeated next time.
/// Errors: what `measure` returns.
Result<Ceilings> cachedCeilings(const Info &info, const std::function<Result<Ceilings>()> &measure);

/// Measures again and keeps the better of each ceiling, in the cache file too: for a time that
/// `known` rules out, since that may be of a moment when other programs ran.
/// Errors: those of Device::measureCeilings().
Result<Ceilings> raiseCeilings(Device &device, const Ceilings &known);

/// The most work a second that `threads` threads did together in one of three spans of 50 ms.
/// `batch(thread)` does a piece of work of some microseconds and returns its amount.
double bestTotalRate(int threads, const std::function<double(int thread)> &batch);

/// Single-precision multiply-add rate of this processor over `threads` threads, in FLOP/s.
double measureCpuFlops(int threads);
/// Read bandwidth of each of these caches over `threads` threads that read at once.
std::vector<MemoryLevel> measureCpuLevels(const std::vector<CpuCache> &caches, int threads);

} // namespace cuda_agent::device
