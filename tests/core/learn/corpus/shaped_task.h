// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/task/task.h"

namespace cuda_agent::learn {

/// A task whose graph has a node of float32 of each of these shapes, and nothing else.
inline task::Description taskOf(const std::vector<std::vector<std::int64_t>> &shapes) {
    task::Description task;
    for (const auto &shape : shapes) {
        task::Node node;
        node.outputs.push_back({DType::float32, shape, {}});
        task.graph.nodes.push_back(std::move(node));
    }
    return task;
}

} // namespace cuda_agent::learn
