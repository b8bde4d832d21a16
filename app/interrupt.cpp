// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <thread>

namespace cuda_agent::app {

namespace {

constexpr std::int64_t sameWish = 1'000'000'000; ///< nanoseconds

int wakeUp = -1;
std::atomic<std::int64_t> first{0}; ///< when, by the steady clock in nanoseconds; 0: not yet
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

void onSignal(int) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto at = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    std::int64_t before = 0;
    if (!first.compare_exchange_strong(before, at)) {
        if (at - before >= sameWish)
            ::_exit(130);
        return;
    }
    const std::uint64_t one = 1;
    // A full counter cannot happen with one writer; there is nothing to do about an error here.
    [[maybe_unused]] const auto written = ::write(wakeUp, &one, sizeof one);
}

} // namespace

std::stop_token stopOnInterrupt() {
    // A stop request may not be made from a signal handler, so a thread makes it.
    static std::stop_source source;
    wakeUp = ::eventfd(0, EFD_CLOEXEC);
    struct sigaction action {};
    action.sa_handler = onSignal;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::thread([] {
        std::uint64_t count = 0;
        while (::read(wakeUp, &count, sizeof count) < 0) {
        }
        source.request_stop();
    }).detach();
    return source.get_token();
}

} // namespace cuda_agent::app
