// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/device/busy.h"

#include "core/device/cuda_driver.h"

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <thread>
#include <vector>

namespace cuda_agent::device {

namespace {

constexpr auto interval = std::chrono::milliseconds(100);

/// The few functions of NVML that this needs, as nvml.h declares them.
struct Nvml {
    struct Rates {
        unsigned gpu = 0;
        unsigned memory = 0;
    };
    using Handle = void *;
    void *library = nullptr;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*byPciBusId)(const char *, Handle *) = nullptr;
    int (*rates)(Handle, Rates *) = nullptr;

    bool load() {
        library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return false;
        const auto find = [&](auto &function, const char *name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
                ::dlsym(library, name));
            return function != nullptr;
        };
        return find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
               find(byPciBusId, "nvmlDeviceGetHandleByPciBusId_v2") &&
               find(rates, "nvmlDeviceGetUtilizationRates") && init() == 0;
    }
};

std::vector<Nvml::Handle> handlesOf(const Nvml &nvml, int gpus) {
    std::vector<Nvml::Handle> handles;
    const auto driver = cuda::Driver::load();
    for (int i = 0; driver && i < gpus; ++i) {
        CUdevice device = 0;
        char bus[32] = {};
        Nvml::Handle handle = nullptr;
        if ((*driver)->cuDeviceGet(&device, i) == CUDA_SUCCESS &&
            (*driver)->cuDeviceGetPCIBusId(bus, sizeof bus, device) == CUDA_SUCCESS &&
            nvml.byPciBusId(bus, &handle) == 0)
            handles.push_back(handle);
    }
    return handles;
}

} // namespace

struct BusyMeter::State {
    Nvml nvml;
    std::vector<Nvml::Handle> handles;
    std::atomic<std::uint64_t> percent{0};
    std::atomic<std::uint64_t> samples{0};
    std::jthread thread;

    void work(const std::stop_token &stop) {
        while (!stop.stop_requested()) {
            for (auto *handle : handles) {
                Nvml::Rates rates;
                if (nvml.rates(handle, &rates) != 0)
                    continue;
                percent += rates.gpu;
                ++samples;
            }
            std::this_thread::sleep_for(interval);
        }
    }
};

BusyMeter::BusyMeter(int gpus) : state_(std::make_unique<State>()) {
    if (!state_->nvml.load())
        return;
    state_->handles = handlesOf(state_->nvml, gpus);
    if (!state_->handles.empty())
        state_->thread = std::jthread(
            [state = state_.get()](const std::stop_token &stop) { state->work(stop); });
}

BusyMeter::~BusyMeter() {
    if (state_->thread.joinable()) {
        state_->thread.request_stop();
        state_->thread.join();
    }
    if (state_->nvml.shutdown && !state_->handles.empty())
        state_->nvml.shutdown();
}

std::optional<double> BusyMeter::share() const {
    const auto samples = state_->samples.load();
    if (samples == 0)
        return std::nullopt;
    return static_cast<double>(state_->percent.load()) / (100.0 * static_cast<double>(samples));
}

} // namespace cuda_agent::device
