// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/file_lock.h"
#include "core/base/result.h"

#include <chrono>
#include <filesystem>
#include <string_view>

namespace cuda_agent {

/// The lock of a folder that has one writer at a time: its file `lock`, which then holds this
/// process's number. Blocks for `patience` while it is held. `writer` is what errors call who has
/// it. Errors: request (another writer, with its number), machine.
Result<FileLock> lockFolder(const std::filesystem::path &folder, std::string_view writer,
                            std::chrono::milliseconds patience = {});

} // namespace cuda_agent
