// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/modules/process.h"

/// How the module worker is started, before any message but "ready". Internal to core/modules.
namespace cuda_agent::modules {

/// Where the worker finds what is its candidate's, or the engine's.
inline constexpr const char *insideModel = "/candidate/model_new.py";
inline constexpr const char *insideHostLayer = "/engine/libcuda-agent-host.so";
/// To its first answer: Python, PyTorch, a cold disk, the task's model.
inline constexpr std::chrono::milliseconds startTimeout{180'000};

/// A worker in its sandbox, which imports PyTorch or has done so. It executes nothing yet.
struct Launched {
    std::unique_ptr<plan::LinkedCandidate> link;
    /// The host's side of the worker's read-only /candidate, for place(); it goes with the link.
    std::filesystem::path candidate;
};

/// For a workspace, which place() shows it. Blocks for milliseconds. Errors: machine.
Result<Launched> launch(const task::Spec &spec, const device::Info &device,
                        const ProcessOptions &options, std::stop_token stop);

/// Shows a workspace to its worker. Errors: machine (disk full).
Result<void> place(const Compiled &compiled, const Launched &launched);

/// For a single file, which it sees from the start, with the folder of its text for what it
/// compiles itself: a load that compiles is paid once. Errors: machine.
Result<Launched> launchSingleFile(const Compiled &compiled, const task::Spec &spec,
                                  const device::Info &device, const ProcessOptions &options,
                                  std::stop_token stop);

} // namespace cuda_agent::modules
