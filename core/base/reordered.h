// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace cuda_agent {

/// The elements in that order, a permutation of their places; an empty one leaves them as they are.
/// inverseOrder() (tensor_type.h) undoes it.
template <typename Each>
std::vector<Each> reordered(const std::vector<Each> &list, const std::vector<int> &order) {
    if (order.empty())
        return list;
    std::vector<Each> result;
    for (const int place : order)
        result.push_back(list.at(static_cast<std::size_t>(place)));
    return result;
}

} // namespace cuda_agent
