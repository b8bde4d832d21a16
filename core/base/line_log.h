// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/file_lock.h"
#include "core/base/json.h"

#include <functional>

namespace cuda_agent {

/// A file of JSON lines that only grows. What was appended is on disk, so a kill at any moment
/// loses at most the line being written. One writer at a time, by a lock on the file. Not
/// thread-safe.
class LineLog {
  public:
    /// Opens or creates the file and hands over every line that is there. A cut-off last line is
    /// removed. Errors: request (somebody else writes; a line that is no JSON, or that `each`
    /// refuses, with its number), machine.
    static Result<LineLog> open(const std::filesystem::path &file,
                                const std::function<Result<void>(const Json &)> &each);

    /// Appends one line and waits until it is on disk. Errors: machine (disk full, ...).
    Result<void> append(const Json &line);
    /// Several at once, with one wait.
    Result<void> append(const std::vector<Json> &lines);

  private:
    LineLog(std::filesystem::path path, FileLock file)
        : path_(std::move(path)), file_(std::move(file)) {}

    std::filesystem::path path_;
    FileLock file_;
};

} // namespace cuda_agent
