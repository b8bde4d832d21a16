// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/mutation.h"
#include "core/session/state.h"

#include <vector>

namespace cuda_agent::learn {

/// The calls that make the second candidate of a workspace that holds the first: of each file that
/// differs an Edit of the place, where that is shorter, else a Write. The old text of an Edit
/// occurs once. Pure.
std::vector<session::ToolCall> changesOf(const CandidateText &from, const CandidateText &to);

/// What was wrong and what it should be, in a sentence or two, as one finds it who looks for why
/// the verdict failed. `compiled`: whether it got that far.
std::string thoughtOfRepair(const Mutation &mutation, bool compiled);

} // namespace cuda_agent::learn
