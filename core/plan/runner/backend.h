// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/unique_fd.h"
#include "core/plan/program.h"

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

/// One device in the runner's process. One thread.
/// Errors: failed, when the candidate's kernel faulted; machine, for anything else.
class Backend {
  public:
    virtual ~Backend() = default;
    virtual Result<void> load(Program program) = 0;
    virtual Result<void> bind(int set, std::vector<LentMemory> memories,
                              const std::vector<LentView> &views) = 0;
    virtual Result<void> unbind(int set) = 0;
    virtual Result<void> call(int set) = 0;
    virtual Result<std::vector<TimeSample>> time(const TimeRequest &request) = 0;
};

std::unique_ptr<Backend> makeCpuBackend();
/// Errors: machine (no driver).
Result<std::unique_ptr<Backend>> makeCudaBackend();

/// True when the steps may use the lent view as it is.
bool usableInPlace(const ProgramBuffer &buffer, const LentView &view, std::uintptr_t address);

/// How often to repeat the call within one sample so that it lasts `wanted` seconds.
int callsPerSample(double wanted, double secondsOfOneCall);

} // namespace cuda_agent::plan::runner
