// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/candidate_index.h"
#include "core/learn/rollout/collection.h"
#include "core/learn/run/event_writer.h"

namespace cuda_agent::learn {

/// Rates, speed-ups, lengths, turns and failures of tries, by verl's names where it has them.
Metrics metricsOf(const Collected &collected);

/// Writing told from remembering: "memorised" is the share of tries whose best candidate the corpus
/// shows; "unmemorised/..." are the rates and speed-ups of metricsOf() over the others, left out
/// where there are none.
Metrics memorisedOf(const Collected &collected, const CandidateIndex &corpus);

} // namespace cuda_agent::learn
