// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/nest.h"

namespace cuda_agent::policy {

/// A loop of rows of which a thread of a map may take several, one after the other.
struct SharedLoop {
    int dim = -1; ///< of Nest::dims; -1: there is none
    /// Neighbours along it read the same elements of a buffer, as differences along it do. Else
    /// they share what is read or computed for a place of a row: its coordinates, borders, and
    /// what does not vary along the loop.
    bool overlapping = false;
    /// What they share so, in additions an element, but for coordinates of vectors.
    double work = 0;
    /// How many rows go together, the best number first; each divides the loop.
    std::vector<int> counts;
};
/// The loop of a map's rows along which its threads take several, if any.
SharedLoop sharedLoopOf(const Program &program, const Group &group, const Nest &nest);

} // namespace cuda_agent::policy
