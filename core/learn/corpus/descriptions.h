// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/reference/describer.h"

#include <map>
#include <memory>
#include <mutex>

namespace cuda_agent::learn {

/// What tasks are, kept in a file, so that each is described once. Any thread may call.
class Descriptions {
  public:
    /// Reads the file when it is there; one that is unreadable counts as empty.
    Descriptions(std::filesystem::path file, device::Kind kind);

    /// From the file, else by a `reference::Describer`, of which there are as many as threads that
    /// ask at the same time. Blocks. Errors: request (the task cannot be described, kept in the
    /// file, too), machine, stopped.
    Result<task::Description> of(const std::string &name, const std::string &code,
                                 std::stop_token stop);
    /// How many were described anew.
    std::size_t described() const;
    /// Writes the file when there is anything new; one thread at a time. Errors: machine.
    Result<void> save();

  private:
    std::filesystem::path file_;
    device::Kind kind_;
    mutable std::mutex mutex_;
    std::map<std::string, std::string> lines_; ///< by key, as in the file
    std::vector<std::unique_ptr<reference::Describer>> idle_;
    std::size_t described_ = 0;
};

} // namespace cuda_agent::learn
