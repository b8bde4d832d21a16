// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/learn/corpus/document.h"

#include <filesystem>
#include <map>
#include <vector>

namespace cuda_agent::learn {

/// What a policy wrote in the first turn of a session, and the judge refused.
struct OwnTry {
    std::string thought;
    CandidateText written;
};

/// The wrong first turns of all sessions below a folder, such as a training run's or an
/// evaluation's, by the task's name and in the order of the sessions' names; each candidate of a
/// task once. Only of sessions on such a device, whose candidate is one kernel file, `kernelFile`,
/// and a plan that is JSON, as documents have them. What cannot be read as a session is none.
/// Errors: request (the folder is not there, or no session below it is of that kind).
Result<std::map<std::string, std::vector<OwnTry>>> readOwnTries(const std::filesystem::path &folder,
                                                                device::Kind kind);

} // namespace cuda_agent::learn
