// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace cuda_agent {

/// Makes `make(0)`, ..., `make(count - 1)`, each a Result<T>, on up to `threads` threads (0: as
/// many as this machine has), while the calling one gives each to `take(i, T)`, a Result<void>, in
/// this order, as soon as it is there. So one that takes long holds up those behind it no further
/// than `ahead` (at least 1): so many are made or wait to be taken. After an error nothing else is
/// begun or taken; the error that came first in time is the answer. Blocks.
template <typename T, typename Make, typename Take>
Result<void> parallelInOrder(std::size_t count, unsigned threads, std::size_t ahead,
                             const Make &make, const Take &take) {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::size_t, T> made; // and not taken
    std::size_t next = 0, taken = 0;
    std::optional<Error> failed;
    const auto work = [&] {
        std::unique_lock lock(mutex);
        const auto mayGo = [&] { return failed || next >= count || next < taken + ahead; };
        for (;;) {
            changed.wait(lock, mayGo);
            if (failed || next >= count)
                return;
            const auto i = next++;
            lock.unlock();
            Result<T> result = make(i);
            lock.lock();
            if (result)
                made.emplace(i, std::move(*result));
            else if (!failed)
                failed = std::move(result.error());
            changed.notify_all();
        }
    };
    if (threads == 0)
        threads = std::max(std::thread::hardware_concurrency(), 1u);
    {
        std::vector<std::jthread> workers;
        for (unsigned i = 0; i < threads && i < count; ++i)
            workers.emplace_back(work);
        std::unique_lock lock(mutex); // let go before they are waited for
        while (taken < count) {
            changed.wait(lock, [&] { return failed || made.contains(taken); });
            if (failed)
                break;
            auto one = made.extract(taken);
            lock.unlock();
            Result<void> done = take(one.key(), std::move(one.mapped()));
            lock.lock();
            ++taken;
            if (!done && !failed)
                failed = std::move(done.error());
            changed.notify_all();
        }
    }
    return failed ? Result<void>(tl::unexpected(std::move(*failed))) : Result<void>();
}

} // namespace cuda_agent
