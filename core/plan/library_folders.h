// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <vector>

namespace cuda_agent::plan {

/// Folders outside the read-only system that shared libraries of this program lie in, so that the
/// runner finds them inside the sandbox too.
std::vector<std::filesystem::path> ownLibraryFolders();

/// Folders with cuBLASLt or cuDNN: $LD_LIBRARY_PATH, the CUDA toolkit, the Python environment.
std::vector<std::filesystem::path> cudaLibraryFolders();

/// True when the sandbox shows the folder anyway.
bool isSystemFolder(const std::filesystem::path &folder);

} // namespace cuda_agent::plan
