// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/modules/build.h"
#include "core/modules/rules.h"
#include "core/plan/linked_candidate.h"
#include "core/task/task.h"

namespace cuda_agent::modules {

class Standby;

struct ProcessOptions {
    task::Numerics numerics = task::Numerics::standard;
    Rules rules = Rules::published;
    std::chrono::milliseconds callTimeout{10'000};
    /// Importing the candidate, which compiles a single file's kernels (nvcc, Triton).
    std::chrono::milliseconds loadTimeout{300'000};
    std::uint64_t memoryBytes = 12ull << 30; ///< host memory of the process
    /// Starts Python in the sandbox, which comes after these; with folders of their own to show.
    std::vector<std::string> launcher = {};
    std::vector<sandbox::Mount> mounts = {};
    bool checked = false; ///< the candidate was built so; answers `findings` then. cpu only
    /// Workers of this task under these options, for workspaces: one that waits saves the time that
    /// a new process takes. Borrowed.
    Standby *standby = nullptr;
};

/// A candidate's worker with what loading it said.
struct Started {
    std::unique_ptr<plan::LinkedCandidate> process;
    std::vector<std::string> flags; ///< "parameters were drawn by the candidate itself, ..."
};
using StartOutcome = std::variant<Started, toolchain::Rejection>;

/// Starts the module worker (worker/main.py) in the sandbox and loads the candidate: its model in
/// eval mode without gradients. Under `published` its parameters are loaded strictly by name; under
/// `kernelbench` a model with other names keeps what it draws from the task's seed.
/// The process is not trusted: it shares itself with candidate code, so its events and its audit
/// corroborate, and the engine's clock decides.
/// Errors: failed, when the candidate cannot be loaded (the message has file and line); machine;
/// stopped. A single file whose own compile fails is a Rejection.
Result<StartOutcome> start(const Compiled &compiled, const task::Spec &spec,
                           const task::Description &description, const plan::Signature &signature,
                           device::Device &device, const ProcessOptions &options,
                           std::stop_token stop = {});

/// Runs one call of a bound set under a recorder of operators and kernels. Errors: failed, machine,
/// stopped.
Result<Audit> audit(plan::LinkedCandidate &process, int set);

} // namespace cuda_agent::modules
