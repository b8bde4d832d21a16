// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace cuda_agent {

/// `make(0)`, ..., `make(count - 1)`, each a Result<T>, in this order, made by up to `threads`
/// threads at a time, the calling one among them (0: as many as this machine has). After an error
/// nothing else is begun; the error that came first in time is the answer. Blocks.
template <typename T, typename Make>
Result<std::vector<T>> parallelResults(std::size_t count, unsigned threads, const Make &make) {
    std::vector<T> results(count);
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::optional<Error> failed;
    const auto work = [&] {
        for (auto i = next++; i < count; i = next++) {
            Result<T> result = make(i);
            if (result) {
                results[i] = std::move(*result);
                continue;
            }
            const std::lock_guard lock(mutex);
            if (!failed)
                failed = std::move(result.error());
            next = count;
        }
    };
    if (threads == 0)
        threads = std::max(std::thread::hardware_concurrency(), 1u);
    {
        std::vector<std::jthread> others;
        for (unsigned i = 1; i < threads && i < count; ++i)
            others.emplace_back(work);
        work();
    }
    if (failed)
        return tl::unexpected(std::move(*failed));
    return results;
}

} // namespace cuda_agent
