// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

namespace cuda_agent {

/// Folder of the running program (`bin` of a build or an installation).
std::filesystem::path programDir();

/// Where the worker programs (plan runner, NVRTC worker) lie: `$CUDA_AGENT_BIN`, else
/// `<programDir>/../bin`, which also serves the test programs of a build tree.
std::filesystem::path workerDir();

/// Files the program reads at run time (Python worker, host CUDA headers, sample tasks):
/// `$CUDA_AGENT_SHARE`, else `<programDir>/../share/cuda-agent`.
std::filesystem::path shareDir();

/// Per-user cache (compiled kernels, measured ceilings): `$CUDA_AGENT_CACHE`, else
/// `$XDG_CACHE_HOME/cuda-agent`, else `~/.cache/cuda-agent`. Not created here.
std::filesystem::path cacheDir();

/// What this user's programs keep for good (the record of what worked): `$CUDA_AGENT_DATA`, else
/// `$XDG_DATA_HOME/cuda-agent`, else `~/.local/share/cuda-agent`. Not created here.
std::filesystem::path dataDir();

/// The Python that has torch: `$CUDA_AGENT_PYTHON`, else the virtual environment that the build
/// was configured with (its path is kept in `<shareDir>/python.path`), else that of an installed
/// program, `$XDG_DATA_HOME/cuda-agent/venv` or `~/.local/share/cuda-agent/venv`. May not exist;
/// empty when there is none.
std::filesystem::path pythonProgram();

/// The CUDA toolkit root: `$CUDA_HOME`, `/usr/local/cuda`, else the one assembled by set-up
/// (`<shareDir>/cuda.path`). Empty when there is none.
std::filesystem::path cudaToolkitDir();

/// For messages: what to run so that Python with PyTorch and the CUDA compiler are there. In a
/// checkout its set-up, for an installed program the commands that make its environment.
std::string setupCommand();

} // namespace cuda_agent
