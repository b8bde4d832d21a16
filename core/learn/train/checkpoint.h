// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <filesystem>
#include <functional>
#include <optional>

namespace cuda_agent::learn {

/// A checkpoint: a folder `step-N` of files that a stage writes, and a manifest with the length and
/// SHA-256 of each. It is written beside and renamed when it is whole, so that a kill at any moment
/// leaves the one before. One writer at a time.
struct Checkpoint {
    std::filesystem::path folder;
    std::int64_t step = 0; ///< of the run: as many were done
    Json state;            ///< what the stage put into the manifest
};

/// Has `write` fill a folder, adds the manifest, and puts it in its place in the run's folder; then
/// removes all but the `kept` newest. Errors: machine, and those of `write`.
Result<void>
writeCheckpoint(const std::filesystem::path &run, std::int64_t step, const Json &state,
                std::int64_t kept,
                const std::function<Result<void>(const std::filesystem::path &)> &write);

/// The newest whole checkpoint of a run, or nothing. One whose files are not those of its
/// manifest is passed over; `note` is told.
std::optional<Checkpoint>
newestCheckpoint(const std::filesystem::path &run,
                 const std::function<void(const std::string &)> &note = {});

} // namespace cuda_agent::learn
