// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <thread>

namespace cuda_agent::app {

namespace {

int wakeUp = -1;
volatile std::sig_atomic_t interrupts = 0;

void onSignal(int) {
    interrupts = interrupts + 1;
    if (interrupts > 1)
        ::_exit(130);
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
