// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"

namespace cuda_agent::judge {

/// Baselines of one task that were measured earlier on such a device.
struct StoredBaselines {
    timing::Baselines baselines;
    std::string versions;  ///< of the PyTorch that they are of, as reference::Worker::versions()
    std::int64_t time = 0; ///< when, in seconds since 1970
    verify::Strength strength = verify::Strength::full; ///< whose protocol timed them
};

/// The file in Options::baselines for that task's text and constants, device and settings.
/// Errors: request (the task cannot be read).
Result<std::filesystem::path> baselinesFile(const task::Spec &spec, const device::Info &device,
                                            const Options &options);

/// Nothing where there is no such file, none that can be read, or one that was timed more briefly
/// than Options::strongest asks for.
std::optional<StoredBaselines> readBaselines(const std::filesystem::path &file,
                                             const Options &options);
/// Errors: machine.
Result<void> writeBaselines(const std::filesystem::path &file, const StoredBaselines &stored);

} // namespace cuda_agent::judge
