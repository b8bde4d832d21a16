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

/// Adds "perf/work_share/...": of the seconds that a step spent in decoding, preparing judges,
/// compiling, verifying, timing and updating, as the metrics tell them under "timing_s/". Parts
/// that ran beside each other count each, so that the shares say what there is to save, not where
/// the time of the clock went.
void workSharesInto(Metrics &metrics);

} // namespace cuda_agent::learn
