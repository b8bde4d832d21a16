// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/unique_fd.h"
#include "core/plan/program.h"

#include <functional>
#include <memory>

namespace cuda_agent::plan::runner {

/// Memory that the engine lends.
struct LentMemory {
    UniqueFd fd;
    std::uint64_t bytes = 0;
};

/// Where one buffer of the program lies in a set; scratch has no memory.
struct LentView {
    int memory = -1;
    std::uint64_t offset = 0;
    TensorType type;
};

struct TimeRequest {
    std::vector<int> sets;
    int warmup = 0;
    int samples = 1;
    double minimumSampleSeconds = 0;
    bool flushCache = true;
};

struct TimeSample {
    double seconds = 0; ///< per call
    int calls = 1;
};

/// Told of every step of a call, from before it is put on the device until after (on cuda it may
/// still run then, but for `call`, which waits).
class StepWatcher {
  public:
    virtual ~StepWatcher() = default;
    virtual void begin(std::size_t step) = 0;
    virtual void end(std::size_t step) = 0;
};
class WatchedStep {
  public:
    WatchedStep(StepWatcher *watcher, std::size_t step) : watcher_(watcher), step_(step) {
        if (watcher_ != nullptr)
            watcher_->begin(step_);
    }
    ~WatchedStep() {
        if (watcher_ != nullptr)
            watcher_->end(step_);
    }
    WatchedStep(const WatchedStep &) = delete;
    WatchedStep &operator=(const WatchedStep &) = delete;

  private:
    StepWatcher *watcher_;
    std::size_t step_;
};

/// One device in the runner's process. One thread.
/// Errors: failed, when the candidate's kernel faulted; machine, for anything else.
class Backend {
  public:
    virtual ~Backend() = default;
    /// A program, or another one after unload().
    virtual Result<void> load(Program program) = 0;
    /// Ends its sets and gives back what the program had, overwritten, so that the next finds
    /// nothing of it. Where kernels are code of this very process there is no next one.
    virtual Result<void> unload() { return machineError("this process takes one plan"); }
    virtual Result<void> bind(int set, std::vector<LentMemory> memories,
                              const std::vector<LentView> &views) = 0;
    virtual Result<void> unbind(int set) = 0;
    virtual Result<void> call(int set) = 0;
    /// A call that launches no kernel (`place` -1) or leaves out one, counted among the kernel
    /// steps; scratch is overwritten before. The labels of the kernel steps.
    virtual Result<std::vector<std::string>> callWithout(int set, int place) = 0;
    virtual Result<std::vector<TimeSample>> time(const TimeRequest &request) = 0;
    /// What checks of the calls so far have found (core/plan/README.md, message `findings`).
    virtual Result<Json> findings() { return machineError("this process checks nothing"); }
    /// Not owned; null: nobody. A backend that leaves it alone tells nobody.
    void watchSteps(StepWatcher *watcher) { watcher_ = watcher; }

  protected:
    StepWatcher *watcher_ = nullptr;
};

/// Calls under the device's profiler (core/plan/README.md, message `profile`). cuda-agent-profiler
/// alone can (core/profile/process); the others are linked with a refusal.
Result<Json> profileCalls(Backend &backend, const Json &request);

std::unique_ptr<Backend> makeCpuBackend();
/// Errors: machine (no driver).
Result<std::unique_ptr<Backend>> makeCudaBackend();

/// Writes the element `count` times.
void fillWith(std::byte *to, const ProgramScalar &element, std::int64_t count);

/// True when the steps may use the lent view as it is.
bool usableInPlace(const ProgramBuffer &buffer, const LentView &view, std::uintptr_t address);

/// Counts the kernel steps of a program while they run, and says which is left out.
class LeftOut {
  public:
    void begin(int place) { active_ = true, place_ = place, at_ = 0; }
    void end() { active_ = false; }
    /// For the next kernel step.
    bool next() { return active_ && (place_ == at_++ || place_ < 0); }

  private:
    bool active_ = false;
    int place_ = -1;
    int at_ = 0;
};
std::vector<std::string> kernelLabels(const Program &program);

/// How often to repeat the call within one sample so that it lasts `wanted` seconds.
int callsPerSample(double wanted, double secondsOfOneCall);

/// The calls before the samples (one where samples are to be filled up, at least), and what one
/// takes in seconds, for callsPerSample(): the least of them, as the first is cold and of any the
/// system may have taken the processor away. `once` makes a call and tells its seconds; its errors
/// end this.
Result<double> warmUp(const TimeRequest &request, const std::function<Result<double>()> &once);

} // namespace cuda_agent::plan::runner
