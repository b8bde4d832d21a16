// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/cuda_driver.h"

#include <cstdint>

namespace cuda_agent::profile::process {

/// Writes over twice the L2 cache before a call, as the runner does before a timed sample. The fill
/// is of a word that tells it from the candidate's own. One thread, in the current context.
class CacheFlush {
  public:
    explicit CacheFlush(std::uint64_t cacheBytes);
    ~CacheFlush();
    CacheFlush(const CacheFlush &) = delete;
    CacheFlush &operator=(const CacheFlush &) = delete;

    /// Complete when it returns; `mark` alone writes a few bytes: the next call's first record
    /// comes after it, with the cache as it was. Errors: machine.
    Result<void> flush();
    Result<void> mark();

    static constexpr std::uint32_t word = 0xA9B7C5D3u;

  private:
    Result<void> fill(std::uint64_t bytes);

    std::uint64_t bytes_ = 0;
    CUdeviceptr memory_ = 0;
};

} // namespace cuda_agent::profile::process
