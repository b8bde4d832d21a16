// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <utility>

namespace cuda_agent {

/// A new folder that goes with everything in it. Movable, owned.
class TemporaryFolder {
  public:
    /// Below `root`, which is made where it is missing, or the system's temporary folder. `purpose`
    /// is part of its name. Errors: machine.
    static Result<TemporaryFolder> make(std::string_view purpose, std::filesystem::path root = {});
    TemporaryFolder(TemporaryFolder &&other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder &operator=(TemporaryFolder &&) = delete;
    ~TemporaryFolder();
    const std::filesystem::path &path() const { return path_; }

  private:
    explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

} // namespace cuda_agent
