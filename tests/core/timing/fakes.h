// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/timing/timing.h"

#include <functional>
#include <random>

namespace cuda_agent::timing {

/// Time that only moves when a fake works.
struct FakeTime {
    double now = 100;
    HostClock clock() {
        return [this] { return now; };
    }
};

/// A device that can do nothing but copy at a scripted speed.
class FakeDevice : public device::Device {
  public:
    explicit FakeDevice(device::Kind kind = device::Kind::cuda) {
        info_.kind = kind;
        info_.cacheBytes = 50 << 20;
    }
    const device::Info &info() const override { return info_; }
    Result<double> timeCopy(std::uint64_t bytes) override {
        copiedBytes = bytes;
        return yardstick();
    }
    Result<device::Ceilings> ceilings() override { return measureCeilings(); }
    Result<device::Ceilings> measureCeilings() override {
        return device::Ceilings{4e12, 5e13, 4e14};
    }

    Result<device::Memory> allocate(std::uint64_t) override { return no(); }
    Result<device::Memory> import(UniqueFd, std::uint64_t) override { return no(); }
    Result<std::uint64_t> freeBytes() override { return no(); }
    Result<void> write(device::Memory &, std::uint64_t, const void *, std::uint64_t) override {
        return no();
    }
    Result<void> read(const device::Memory &, std::uint64_t, void *, std::uint64_t) override {
        return no();
    }
    Result<void> copy(device::Memory &, std::uint64_t, const device::Memory &, std::uint64_t,
                      std::uint64_t) override {
        return no();
    }
    Result<void> fill(device::Memory &, std::uint64_t, std::uint64_t, std::uint32_t) override {
        return no();
    }
    Result<std::optional<std::uint64_t>> firstChange(const device::Memory &, std::uint64_t,
                                                     std::uint64_t, std::uint32_t) override {
        return no();
    }
    Result<std::uint64_t> digest(const device::Memory &, std::uint64_t, std::uint64_t,
                                 std::uint64_t) override {
        return no();
    }
    Result<device::ErrorStats> compare(const device::TensorView &,
                                       const device::TensorView &) override {
        return no();
    }

    std::function<Result<double>()> yardstick = [] { return Result<double>(2e-3); };
    std::uint64_t copiedBytes = 0;

  private:
    static tl::unexpected<Error> no() { return machineError("this fake only copies"); }
    device::Info info_;
};

/// A candidate whose calls take scripted time on the fake clock.
class FakeCandidate : public plan::CandidateProcess {
  public:
    explicit FakeCandidate(FakeTime &time) : time_(time) {}

    Result<void> bind(int, const plan::CallBuffers &) override { return {}; }
    Result<void> unbind(int) override { return {}; }
    Result<void> call(int) override {
        time_.now += real();
        return {};
    }
    Result<std::vector<plan::Sample>> time(const plan::SampleRequest &request) override {
        requests.push_back(request);
        if (onRequest)
            if (auto result = onRequest(requests.size()); !result)
                return tl::unexpected(result.error());
        time_.now += messageSeconds;
        for (int i = 0; i < std::max(request.warmup, 1); ++i)
            time_.now += real() + realLaunchSeconds;
        std::vector<plan::Sample> samples;
        for (int i = 0; i < request.samples; ++i) {
            if (request.flushCache)
                time_.now += flushSeconds;
            const double seconds = real();
            const int calls = std::max(1, static_cast<int>(request.minimumSampleSeconds / seconds));
            time_.now += (seconds + realOverhead) * calls + realLaunchSeconds;
            samples.push_back({claim(seconds, request.flushCache), calls});
        }
        return samples;
    }
    double callOverhead() const override { return allowedOverhead; }
    sandbox::Record finish() override { return {}; }

    std::function<double()> real = [] { return 1e-3; }; ///< what a call takes
    std::function<double(double, bool)> claim = [](double seconds, bool) { return seconds; };
    std::function<Result<void>(std::size_t)> onRequest; ///< before each request
    double messageSeconds = 200e-6;
    double realLaunchSeconds = 15e-6;
    double realOverhead = 0; ///< of each call, on the host alone
    double allowedOverhead = 0;
    double flushSeconds = 60e-6;
    std::vector<plan::SampleRequest> requests;

  private:
    FakeTime &time_;
};

/// Seconds around `median`, each off by up to `spread` of it.
inline std::function<double()> noisy(double median, double spread, unsigned seed = 1) {
    return [=, random = std::mt19937(seed)]() mutable {
        return median * (1 + spread * std::uniform_real_distribution<double>(-1, 1)(random));
    };
}

inline bool hasFlag(const std::vector<std::string> &flags, const std::string &flag) {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

} // namespace cuda_agent::timing
