// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/standby.h"

#include "core/device/lease.h"

namespace cuda_agent::modules {

namespace {

using Clock = std::chrono::steady_clock;

/// A worker's life is bounded (launch.cpp), and a candidate needs its own part of it.
constexpr std::chrono::hours longestWait{1};

Result<Launched> readyWorker(const task::Spec &spec, const device::Info &device,
                             const ProcessOptions &options, const std::stop_token &stop) {
    device::Share share(device, stop);
    if (device.kind == device::Kind::cpu)
        CUDA_AGENT_TRY(share.take());
    CUDA_AGENT_ASSIGN(launched, launch(spec, device, options, stop));
    CUDA_AGENT_TRY(launched.link->ask({{"op", "ready"}}, startTimeout, "load"));
    return std::move(launched);
}

} // namespace

Standby::Standby(task::Spec spec, device::Info device, ProcessOptions options)
    : spec_(std::move(spec)), device_(std::move(device)), options_(std::move(options)) {}

Standby::~Standby() {
    for (Waiting &each : waiting_)
        each.stop.request_stop();
}

void Standby::fill(std::size_t count) {
    while (waiting_.size() < count) {
        std::stop_source stop;
        auto worker = std::async(std::launch::async, [spec = spec_, device = device_,
                                                      options = options_, own = stop.get_token()] {
            return readyWorker(spec, device, options, own);
        });
        waiting_.push_back({std::move(stop), std::move(worker), Clock::now()});
    }
}

Result<void> Standby::settle(std::stop_token stop) {
    if (!waiting_.empty()) {
        const std::stop_callback forward(stop, [&] { waiting_.front().stop.request_stop(); });
        waiting_.front().worker.wait();
    }
    return stop.stop_requested() ? Result<void>(stoppedError()) : Result<void>();
}

Result<std::optional<Launched>> Standby::take(std::stop_token stop) {
    while (!waiting_.empty()) {
        Waiting first = std::move(waiting_.front());
        waiting_.pop_front();
        const bool old = Clock::now() - first.started > longestWait;
        const std::stop_callback forward(stop, [&] { first.stop.request_stop(); });
        auto launched = first.worker.get();
        if (stop.stop_requested())
            return stoppedError();
        // It may have ended since: perhaps the machine was short of memory.
        if (launched && !old && launched->link->ask({{"op", "ready"}}, startTimeout, "load"))
            return std::optional<Launched>(std::move(*launched));
    }
    return std::optional<Launched>();
}

} // namespace cuda_agent::modules
