// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/process/flush.h"

#include <algorithm>

namespace cuda_agent::profile::process {

CacheFlush::CacheFlush(std::uint64_t cacheBytes)
    : bytes_(std::max<std::uint64_t>(2 * cacheBytes, 1u << 20)) {}

CacheFlush::~CacheFlush() {
    const auto driver = device::cuda::Driver::load();
    if (driver && memory_ != 0)
        (*driver)->cuMemFree(memory_);
}

Result<void> CacheFlush::flush() {
    return fill(bytes_);
}

Result<void> CacheFlush::mark() {
    return fill(4096);
}

Result<void> CacheFlush::fill(std::uint64_t bytes) {
    CUDA_AGENT_ASSIGN(driver, device::cuda::Driver::load());
    if (memory_ == 0)
        CUDA_AGENT_TRY(
            driver->check(driver->cuMemAlloc(&memory_, bytes_), "memory to flush the cache with"));
    CUDA_AGENT_TRY(driver->check(driver->cuMemsetD32Async(memory_, word, bytes / 4, nullptr),
                                 "flushing the cache"));
    return driver->check(driver->cuCtxSynchronize(), "flushing the cache");
}

} // namespace cuda_agent::profile::process
