// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/fusion.h"
#include "core/policy/planner/schedule.h"

namespace cuda_agent::policy {

/// Attention found among the units of a program: a product gives the scores [batch, m, k], a group
/// turns each row of what is computed from them into weights that add up to 1, and a second product
/// multiplies the weights with values [batch, k, n].
struct Attention {
    int scores = -1;         ///< library step
    int product = -1;        ///< library step
    std::size_t softmax = 0; ///< unit
    int largest = -1;        ///< value: the largest logit of each row
    int logits = -1;         ///< value that the softmax is of
    bool safe = false;       ///< `Group::safeSoftmax`
};

/// What a single kernel could do, in the order in which it runs. Weights and scores are read by
/// nothing else, and heads have at most `longestHead` elements.
std::vector<Attention> attentionsOf(const Fused &fused);
constexpr std::int64_t longestHead = 128;

/// The same program with each of them in one group (`Group::scores`), together with what is
/// computed from the result element by element.
Fused withOwnAttention(Fused fused, const std::vector<Attention> &found);

/// Whether rows only see columns up to their own: logits are -inf elsewhere.
bool isCausal(const Program &program, const Group &group);

/// A head's length as tiles hold it, filled up with zeros.
std::int64_t paddedHead(std::int64_t elements);
/// Dynamic shared memory of a block, in bytes.
int attentionBytes(const Schedule &schedule, const Product &scores, const Product &product);

} // namespace cuda_agent::policy
