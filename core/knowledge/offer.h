// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/knowledge/store.h"

namespace cuda_agent::knowledge {

inline constexpr std::size_t longestOffer = 1500; ///< bytes of its text

/// What a policy is told about what earlier sessions found.
struct Offer {
    Signature task;
    std::string text; ///< for people and language models; says so when nothing is known
    std::vector<Near> worked;
    std::vector<Near> failed;
    /// Candidates of the planner that won on the same class, dtype and device, best first.
    std::vector<std::string> schedules;
};
/// Payload of the event knowledgeOffered: operators, dtype, text, worked, failed, schedules.
Json toJson(const Offer &offer);

/// Errors: as Store's.
Result<Offer> offerFor(Store &store, const Query &query);

} // namespace cuda_agent::knowledge
