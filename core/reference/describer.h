// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/sandbox/sandbox.h"
#include "core/task/task.h"

#include <chrono>
#include <optional>
#include <stop_token>

namespace cuda_agent::reference {

/// Describes tasks without running them: model, inputs and forward pass on fake tensors, in a
/// sandboxed Python process that is made ready once and forks for each task. The description is
/// that of `Worker::describe` for shapes, strides, element types, graph and counts; tasks whose
/// graph depends on the values of tensors cannot be described so. Nothing that judges a candidate
/// may rely on it: what a task does to its process group may reach the tasks after it.
///
/// Not thread-safe; several may live beside each other. Ends when destroyed.
class Describer {
  public:
    struct Options {
        /// The device whose PyTorch is described; a machine without a GPU does for cuda, except
        /// that attention and the like may be decomposed as on a CPU.
        device::Kind kind = device::Kind::cuda;
        std::chrono::milliseconds timeout{60'000}; ///< of one task
        std::uint64_t memoryBytes = 4ull << 30;    ///< of the process with its forks
    };
    /// Nothing is started yet. Errors: machine (no Python, files of the program missing).
    static Result<Describer> make(Options options);

    /// `code`: the task's text. The first call, and the first after a task took the process down,
    /// starts Python (seconds). Blocks. Errors: request (the task is at fault: it raises, hangs,
    /// ends its process, gives something that is no description), machine (no start), stopped.
    Result<task::Description> describe(const std::string &name, const std::string &code,
                                       std::stop_token stop = {});

  private:
    Describer(Options options, sandbox::Policy policy, std::string program)
        : options_(options), policy_(std::move(policy)), program_(std::move(program)) {}
    Result<void> begin(std::stop_token stop);

    Options options_;
    sandbox::Policy policy_;
    std::string program_; ///< Python
    std::optional<sandbox::Process> process_;
};

} // namespace cuda_agent::reference
