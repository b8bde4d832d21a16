// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::tools {

/// A path inside the workspace as this program writes it: relative, '/' between the parts, no part
/// that is empty, "." or "..", none that starts with '.'. Takes what a model may write: absolute
/// paths below /workspace, "./" in front, doubled slashes.
/// Errors: request, one sentence that says which paths are taken.
Result<std::string> workspacePath(std::string_view path);

/// The folder that outside code works in, kept by an engine that trusts nothing it finds there:
/// every file is reached part by part from the folder's own descriptor, and no symbolic link is
/// ever followed. Paths are those of `workspacePath`. One thread.
class WorkspaceFolder {
  public:
    /// Makes the folder if need be. Errors: machine.
    static Result<WorkspaceFolder> open(std::filesystem::path path);

    const std::filesystem::path &path() const { return path_; }

    /// A whole regular file. Errors: request (not there, a link, a folder, more than `limit`
    /// bytes).
    Result<std::string> read(const std::string &file, std::size_t limit) const;
    /// Replaces a file atomically and makes the folders above it.
    /// Errors: request (a link or a file stands in the way), machine (disk full, ...).
    Result<void> write(const std::string &file, std::string_view content) const;
    /// Removes a file; one that is not there is no error. Errors: request, machine.
    Result<void> remove(const std::string &file) const;
    /// Removes everything inside. Errors: machine.
    Result<void> clear() const;

    struct Entry {
        std::string path;
        std::uint64_t bytes = 0;
    };
    struct Listing {
        std::vector<Entry> files;         ///< regular files, sorted by path
        std::vector<std::string> skipped; ///< links, pipes, hidden names: "path (why)"
    };
    /// Everything below, `most` entries at most (a note in `skipped` says so).
    Result<Listing> list(std::size_t most) const;

  private:
    Result<UniqueFd> openParent(const std::string &file, bool make) const;

    std::filesystem::path path_;
    UniqueFd root_;
};

} // namespace cuda_agent::tools
