// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_index.h"

#include "core/base/result.h"

#include <QString>

#include <filesystem>
#include <vector>

namespace cuda_agent::widgets {

/// One attempt of several, as its log has it.
struct AttemptLog {
    std::filesystem::path folder;
    SessionIndex index; ///< empty while it has not begun
};

/// A folder of attempts as it lies on the disk.
struct LoadedAttempts {
    std::vector<AttemptLog> attempts; ///< attempt 1 first
    Json outcome;                     ///< content of attempts.json; null while there is none
    QString problem;                  ///< torn lines, unknown events; or empty
};

/// "<folder>/attempt-N".
std::filesystem::path attemptFolder(const std::filesystem::path &folder, int attempt);
/// Whether a folder holds attempts: the first one's session, or their outcome.
bool holdsAttempts(const std::filesystem::path &folder);
/// Reads all that have begun. Any thread. Errors: request (no attempts there), machine.
Result<LoadedAttempts> loadAttempts(const std::filesystem::path &folder);

/// What came of all, as attempts.json has it: the winner, its times, how sure that is. Empty for
/// null.
QString outcomeText(const Json &outcome);
/// The winner's number; 0 when there is none.
int winnerOf(const Json &outcome);

} // namespace cuda_agent::widgets
