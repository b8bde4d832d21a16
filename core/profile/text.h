// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/profile/profile.h"

namespace cuda_agent::profile {

/// The report for a person or an agent: what a call takes, each launch with the figures that there
/// are, findings, notes.
std::vector<std::string> linesOf(const Report &report);

} // namespace cuda_agent::profile
