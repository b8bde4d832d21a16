// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/device/device.h"
#include "core/plan/fault.h"
#include "core/sandbox/sandbox.h"

#include <map>
#include <optional>
#include <stop_token>
#include <vector>

namespace cuda_agent::plan {

/// Everything one call of a candidate reads and writes, in memory lent by the engine.
struct CallBuffers {
    std::vector<device::TensorView> inputs; ///< tensors of get_inputs(), in order
    std::map<std::string, device::TensorView> parameters;
    std::vector<device::TensorView> outputs;
};

/// How to take time samples in the candidate's process.
struct SampleRequest {
    std::vector<int> sets; ///< call sets to rotate over
    int warmup = 3;
    int samples = 20;
    double minimumSampleSeconds = 0; ///< repeat the call within one sample up to this span (cpu)
    bool flushCache = true;
};

/// One sample: the span over all work of `calls` calls.
struct Sample {
    double seconds = 0; ///< per call
    int calls = 1;
};

/// What a call with launches left out said.
struct KnockOut {
    bool possible = false;           ///< false where launches cannot be left out
    std::vector<std::string> places; ///< where the candidate launches kernels of its own
};

/// A candidate that runs in a process of its own. Made for one verdict, then ended.
/// Not thread-safe. Errors: failed, when the candidate faulted, hung or broke a limit (the message
/// says how); machine, for anything else.
class CandidateProcess {
  public:
    virtual ~CandidateProcess() = default;
    /// Lends buffers under a number; a second bind of the same number replaces the first.
    virtual Result<void> bind(int set, const CallBuffers &buffers) = 0;
    virtual Result<void> unbind(int set) = 0;
    /// One call, complete when it returns.
    virtual Result<void> call(int set) = 0;
    /// Copies what the last call on that set returned to its lent outputs once more, for processes
    /// whose candidate returns tensors of its own: shows whether a later call changed them.
    virtual Result<void> publish(int /*set*/) { return {}; }
    /// One call in which the candidate's own kernels are not launched: none of them (`place` -1),
    /// or those of one of `KnockOut::places`. Scratch memory is overwritten before.
    virtual Result<KnockOut> callWithout(int /*set*/, int /*place*/) { return KnockOut{}; }
    /// Errors as above. A warm-up of 0 makes the first call a timed one, unless samples are to be
    /// filled up. `hostSeconds` of the whole batch is measured by the engine outside.
    virtual Result<std::vector<Sample>> time(const SampleRequest &request) = 0;
    /// Seconds that the host may need to make one call while the device waits: what an honest
    /// process may take beyond what it claims, where a record of its kernels bears that out.
    virtual double callOverhead() const { return 0; }
    /// Ends the process and says how it went.
    virtual sandbox::Record finish() = 0;
    /// How the candidate failed, once a call above has answered `failed`.
    virtual std::optional<Fault> fault() const { return {}; }
};

} // namespace cuda_agent::plan
