// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/unique_fd.h"
#include "core/device/device.h"

#include <stop_token>

namespace cuda_agent::device {

/// Exclusive use of a device for timing, across processes of this user (a file lock in the cache
/// folder; the kernel frees it when a process dies).
class Lease {
  public:
    /// Blocks until it is free. Errors: machine, stopped.
    static Result<Lease> take(const Info &info, std::stop_token stop = {});

  private:
    explicit Lease(UniqueFd lock) : lock_(std::move(lock)) {}
    UniqueFd lock_;
};

} // namespace cuda_agent::device
