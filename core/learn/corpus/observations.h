// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/state.h"

#include <filesystem>
#include <map>
#include <mutex>

namespace cuda_agent::learn {

/// What Verify answered, kept in a file, so that a candidate is judged once. Any thread may call.
class Observations {
  public:
    /// Reads the file when it is there; one that is unreadable counts as empty.
    explicit Observations(std::filesystem::path file);

    /// Without id and seconds, which are a call's.
    std::optional<session::Observation> find(const std::string &key) const;
    /// `key` is a hash, without blanks.
    void add(const std::string &key, const session::Observation &observation);
    /// How many were added since it was made.
    std::size_t added() const;
    /// Writes the file when there is anything new. Errors: machine.
    Result<void> save();

  private:
    std::filesystem::path file_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> lines_; ///< by key, as in the file
    std::size_t added_ = 0;
    std::size_t saved_ = 0; ///< of those
};

} // namespace cuda_agent::learn
