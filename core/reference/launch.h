// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/reference/worker.h"

namespace cuda_agent::reference {

/// How to start the worker of one task.
struct Launch {
    sandbox::Policy policy;
    std::vector<std::string> argv;
    std::string taskFile;                ///< where the sandbox shows the task file
    std::optional<std::string> taskText; ///< what it would hold, where the process is a stock's
};

/// What the worker may see: the Python environment, its own code, the one task file, and a compile
/// cache folder of its own (created here) for this task text, Python and device. With a stock: the
/// stock's folder, and no task file.
/// Errors: machine (no Python, files of the program missing), request (the task file is gone).
Result<Launch> prepareLaunch(const task::Spec &spec, const device::Info &device,
                             const Options &options);

/// The sandbox of a Python process with PyTorch: the environment's folders, threads, on cuda the
/// GPU and the toolkit, limits that a task needs. `cache`: a folder of the process's own, made here
/// and shown as /cache, where Inductor and Triton keep what they compile. `threads`: of the
/// processor; 0: all.
/// Errors: machine.
Result<sandbox::Policy> pythonPolicy(const device::Info &device, const std::filesystem::path &cache,
                                     std::uint64_t hostMemoryBytes, unsigned threads = 0);

/// Shows a folder, read-only, where it is called and where it really lies; nothing to do for what
/// is below /usr or shown already, or is not there.
void showFolder(std::vector<sandbox::Mount> &mounts, const std::filesystem::path &folder);

/// Folders outside /usr that a Python program needs: its virtual environment and the installation
/// behind it. Errors: machine.
Result<std::vector<sandbox::Mount>> pythonMounts(const std::filesystem::path &program);

} // namespace cuda_agent::reference
