// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/synthesis/card.h"
#include "core/synthesis/filter.h"
#include "core/synthesis/proposer.h"

namespace cuda_agent::synthesis {

/// Looks at all texts of a finished set again and runs `recipe.audited` of its tasks, drawn by the
/// seed, once more. `done` hears how many of how many ran. Blocks.
/// Errors: machine, stopped.
Result<Audit> auditOf(const Recipe &recipe, const TaskSet &set, Filter &filter, Proposer &proposer,
                      const std::function<void(std::size_t, std::size_t)> &done,
                      std::stop_token stop);

} // namespace cuda_agent::synthesis
