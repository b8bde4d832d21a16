// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What makes cuda-agent-profiler of the plan runner: it answers the message `profile`.

#include "core/base/elapsed.h"
#include "core/plan/runner/backend.h"

#ifdef CUDA_AGENT_HAS_CUPTI
#include "core/profile/process/activity.h"
#include "core/profile/process/counters.h"
#include "core/profile/process/sampling.h"
#endif

#include <chrono>

namespace cuda_agent::plan::runner {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int mostCalls = 1000;

/// The time of each step of a call by the host's clock: on cpu a step is over when it returns.
class StepTimes final : public StepWatcher {
  public:
    void begin(std::size_t step) override {
        if (seconds_.size() <= step)
            seconds_.resize(step + 1);
        begin_ = Clock::now();
    }
    void end(std::size_t step) override { seconds_[step].push_back(secondsSince(begin_)); }
    const std::vector<std::vector<double>> &seconds() const { return seconds_; }

  private:
    Clock::time_point begin_;
    std::vector<std::vector<double>> seconds_;
};

/// With "wait" the call waits for each step, so that one on a GPU is over when it returns; the
/// cache is left as it is then.
Result<Json> timeSteps(Backend &backend, const Json &request) {
    TimeRequest calls;
    calls.sets = {request.at("set").get<int>()};
    calls.samples = request.at("calls");
    calls.flushCache = request.at("flush");
    const bool wait = request.at("wait");
    CUDA_AGENT_TRY(backend.call(calls.sets.front()));
    StepTimes times;
    backend.watchSteps(&times);
    Result<void> done;
    for (int i = 0; wait && done && i < calls.samples; ++i)
        done = backend.call(calls.sets.front());
    if (!wait)
        if (const auto samples = backend.time(calls); !samples)
            done = tl::unexpected(samples.error());
    backend.watchSteps(nullptr);
    CUDA_AGENT_TRY(done);
    return Json{{"steps", times.seconds()}};
}

#ifdef CUDA_AGENT_HAS_CUPTI
namespace process = profile::process;

process::Outcome<Json> underCupti(Backend &backend, const Json &request) {
    const auto folders = request.at("library_folders").get<std::vector<std::string>>();
    CUDA_AGENT_ASSIGN(cupti, process::Cupti::load(folders));
    process::CacheFlush flush(request.at("cache_bytes"));
    if (request.at("pass") == "activity")
        return process::traceCalls(*cupti, backend, flush,
                                   {request.at("set"), request.at("calls"), request.at("flush")});
    if (request.at("pass") == "sampling")
        return process::sampleCalls(
            *cupti, backend, flush,
            {request.at("set"), request.at("calls"), request.at("flush"), request.at("period")});
    return process::countCalls(*cupti, backend, flush,
                               {request.at("set"), request.at("flush"), request.at("kernels"),
                                request.at("metrics").get<std::vector<std::string>>()});
}

Result<Json> profileGpu(Backend &backend, const Json &request) {
    auto answer = underCupti(backend, request);
    if (answer)
        return std::move(*answer);
    if (answer.error().fault)
        return tl::unexpected(*answer.error().fault);
    return Json{{"refused", toJson(answer.error())}};
}
#else
Result<Json> profileGpu(Backend & /*backend*/, const Json & /*request*/) {
    return Json{{"refused",
                 {{"call", "dlopen"},
                  {"status", 0},
                  {"name", ""},
                  {"text", "this program was built without CUPTI's headers"}}}};
}
#endif

} // namespace

Result<Json> profileCalls(Backend &backend, const Json &request) {
    const std::string pass = request.at("pass");
    if (const int calls = request.value("calls", 1); calls < 1 || calls > mostCalls)
        return machineError("{} calls cannot be profiled", calls);
    if (pass == "steps")
        return timeSteps(backend, request);
    if (pass != "activity" && pass != "counters" && pass != "sampling")
        return machineError("the profiler does not know the pass '{}'", pass);
    return profileGpu(backend, request);
}

} // namespace cuda_agent::plan::runner
