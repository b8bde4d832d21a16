// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/nest.h"

namespace cuda_agent::policy {

/// What a group of orders (`Group::orders`) does to each of its rows.
struct OrderShape {
    std::int64_t length = 1; ///< elements of a row
    std::int64_t first = 0;  ///< places that are not stored
    std::int64_t count = 1;  ///< places that are, after those
    std::int64_t kept() const { return first + count; }
    int bytes = 8; ///< of an element with its position
    /// Whether neighbours in memory belong to neighbouring rows, in what is read and written.
    bool readsAcross = false, writesAcross = false;
};
OrderShape orderShape(const Program &program, const Group &group, const Nest &nest);

/// Of the loops along rows, those over elements and those over places.
std::vector<int> orderedDims(const Group &group, const Nest &nest, bool places);

} // namespace cuda_agent::policy
