// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/linked_candidate.h"
#include "core/plan/plan.h"
#include "core/toolchain/compiler.h"

#include <memory>

namespace cuda_agent::plan {

/// A plan candidate on disk: `plan.json` and the kernel files that it names.
struct Candidate {
    std::filesystem::path folder;
    Plan plan;
    std::string planText;                     ///< of plan.json, as its author wrote it
    std::map<std::string, std::string> files; ///< kernel path -> text
};
/// Reads and validates a candidate folder. Errors: request.
Result<Candidate> readCandidate(const std::filesystem::path &folder);
/// The same of texts by their paths, "plan.json" and "kernels/x.cu"; it has no folder.
Result<Candidate> candidateOf(const std::map<std::string, std::string> &files);

/// A candidate whose kernels are compiled for one device.
struct CompiledPlan {
    const Candidate *candidate = nullptr;
    std::map<std::string, toolchain::Binary> binaries; ///< by kernel path
};
using CompileOutcome = std::variant<CompiledPlan, toolchain::Rejection>;
Result<CompileOutcome> compile(const Candidate &candidate, toolchain::Compiler &compiler,
                               std::stop_token stop = {});

struct RunnerOptions {
    std::chrono::milliseconds callTimeout{10'000}; ///< one call; a hang is killed
    std::uint64_t memoryBytes = 8ull << 30;        ///< host memory of the process
    bool useGraph = true;                          ///< CUDA graph replay for timing
    /// Another process in the runner's place, which must be beside it: "cuda-agent-checker".
    std::string program = "cuda-agent-runner";
    /// Starts the program in the sandbox; it comes after these. With folders of their own to show.
    std::vector<std::string> launcher = {};
    std::vector<sandbox::Mount> mounts = {};
    /// Every buffer in memory of its own with its exact size, so that a tool can see its end.
    bool ownBuffers = false;
    std::chrono::milliseconds loadTimeout{60'000};
    /// Library folders beside those of this program, shown to the process.
    std::vector<std::filesystem::path> libraryFolders = {};
    bool performanceCounters = false; ///< as sandbox::Policy::performanceCounters
};

/// Starts `cuda-agent-runner` in the sandbox with the compiled plan. The runner is not trusted:
/// it sees the binaries and the lent buffers, nothing else.
/// Errors: machine; request, when the plan does not resolve for the signature; failed, when a
/// kernel is missing or takes other arguments than the plan gives.
Result<std::unique_ptr<CandidateProcess>>
startRunner(const CompiledPlan &plan, const Signature &signature, device::Device &device,
            const RunnerOptions &options, std::stop_token stop = {});

/// The same, with the messages that a checking process understands beside.
Result<std::unique_ptr<LinkedCandidate>>
startLinkedRunner(const CompiledPlan &plan, const Signature &signature, device::Device &device,
                  const RunnerOptions &options, std::stop_token stop = {});

/// Starts a runner that has opened the GPU and waits for its plan, by reload(): for whoever knows
/// that one will come. On cuda alone. Errors: machine, stopped.
Result<std::unique_ptr<LinkedCandidate>>
openRunner(const device::Info &device, const RunnerOptions &options, std::stop_token stop = {});

/// Takes the plan from a runner on cuda whose last call went well; what the plan had is overwritten
/// and given back. The process is ready for another, with all that its device took to open. Errors:
/// as those of a call.
Result<void> unload(LinkedCandidate &runner);

/// Gives a plan to a runner after openRunner() or unload(), or the same for other shapes. Its
/// limits stay those of its start. Errors: as startRunner(); after one that is not request the
/// process is ended.
Result<void> reload(LinkedCandidate &runner, const CompiledPlan &plan, const Signature &signature,
                    device::Device &device, const RunnerOptions &options,
                    std::stop_token stop = {});

} // namespace cuda_agent::plan
