// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/export/extension.h"

namespace cuda_agent::exporter {

/// The best candidate of a recorded session, or that of a turn (counted from 1; 0: the best).
/// Errors: request (no session there, a log without a task, no such turn), failed (no correct
/// candidate).
Result<Source> sourceFromSession(const std::filesystem::path &session, int turn = 0);

} // namespace cuda_agent::exporter
