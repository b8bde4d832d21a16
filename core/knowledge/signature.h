// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/task/task.h"

namespace cuda_agent::knowledge {

/// What a task is, as far as it decides which kernels are good for it.
struct Signature {
    /// Kinds of operators in the order of the graph: "gemm+pointwise", "reduction(last)",
    /// "conv2d+norm+pool". Empty for a task without a graph.
    std::string operators;
    std::string dominant; ///< the kind that most of the work is in: "gemm"
    std::string dtype;    ///< of the first floating input: "float32"
    int bytes = 0;        ///< floor(log4) of the bytes that have to move
    int row = 0;          ///< floor(log2) of the innermost dimension of the largest input
    bool operator==(const Signature &) const = default;
};

Signature signatureOf(const task::Description &task);

/// "gemm+pointwise float32, about 16 MB, rows of about 4096".
std::string textOf(const Signature &signature);

/// How far apart the sizes of two tasks are; 0: the same buckets.
int sizeDistance(const Signature &a, const Signature &b);

} // namespace cuda_agent::knowledge
