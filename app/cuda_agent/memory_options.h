// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"

#include <CLI/CLI.hpp>

#include <filesystem>

namespace cuda_agent::app {

/// Which record of earlier sessions a session reads and adds to.
struct MemoryOptions {
    std::string named;
    bool none = false;

    void add(CLI::App &app);
    /// Empty: none. A file that was named must be one that can be written. Errors: request.
    Result<std::filesystem::path> file() const;
};

} // namespace cuda_agent::app
