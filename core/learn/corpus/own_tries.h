// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/learn/corpus/document.h"

#include <filesystem>
#include <map>
#include <vector>

namespace cuda_agent::learn {

/// What a policy wrote in the first turn of a session, and what came of it.
struct OwnTry {
    std::string thought;
    TurnVerdict verdict;   ///< of a call that was refused: one that does not compile
    CandidateText written; ///< where wrong ones are wanted
    // Where verified ones are wanted:
    chat::Segment turn;   ///< all that it wrote
    chat::Segment answer; ///< of the tools, as the policy was shown it
    Json description;     ///< of the task as the session had it, which may be one cut by its batch
    std::string source;   ///< likewise
    std::string device;   ///< name
};

enum class TriesWanted {
    /// That the judge refused, and whose candidate is one kernel file, `kernelFile`, and a plan
    /// that is JSON, as documents have them.
    wrong,
    verified ///< whatever had its candidate verified, right ones and refused calls included
};

/// The first turns of all sessions below a folder, such as a training run's or an evaluation's, by
/// the task's name and in the order of the sessions' names; each turn of a task once. Only of
/// sessions on such a device. What cannot be read as a session is none.
/// Errors: request (the folder is not there, or no session below it is of that kind).
Result<std::map<std::string, std::vector<OwnTry>>>
readOwnTries(const std::filesystem::path &folder, device::Kind kind, TriesWanted wanted);

} // namespace cuda_agent::learn
