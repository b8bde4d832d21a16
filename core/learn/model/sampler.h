// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

namespace cuda_agent::learn {

/// How tokens are drawn from logits. The log-probability that is told is that of the distribution
/// they are drawn from, so that an update can use the same one.
struct Sampling {
    double temperature = 1; ///< 0: always the likeliest
    double topP = 1;        ///< nucleus: the likeliest tokens that make this probability together
    /// Tokens that are less likely than so many times the likeliest, before the temperature makes
    /// them more alike, do not come (min-p sampling, Nguyen et al., arXiv 2407.01082); 0: all may.
    double minP = 0;
};

struct Sampled {
    at::Tensor tokens;           ///< [rows] of int64
    at::Tensor logProbabilities; ///< [rows] of float; 0 where the temperature is 0
    at::Tensor entropy;          ///< [rows] of float, of the distribution, in nats
};

/// `logits` as float, minus infinity where `allowed`, which may be undefined, is false; both
/// [..., vocabulary].
at::Tensor masked(const at::Tensor &logits, const at::Tensor &allowed);

/// One token a row of `logits`, [rows, vocabulary] of float: the first whose cumulative probability
/// exceeds the row's number in `uniform`, [rows] of double in [0, 1) on the CPU, so that what a
/// conversation draws does not depend on those beside it; where that is negative, the likeliest.
/// `allowed`: [rows, vocabulary] of bool, or undefined:
/// tokens that may come at all; a row must have one.
Sampled sample(const at::Tensor &logits, const Sampling &sampling, const at::Tensor &allowed,
               const at::Tensor &uniform);

/// The likeliest tokens of each row, in their order.
struct Likeliest {
    at::Tensor tokens;   ///< [rows, count] of int64
    at::Tensor deficits; ///< [rows, count] of float: how much less likely than the first, in nats
};

/// Of `logits` as above, whatever the temperature is. `count`: at most the vocabulary.
Likeliest likeliest(const at::Tensor &logits, std::int64_t count);

/// The same distribution at given tokens: `logits` [..., vocabulary] of any float type, `tokens`
/// [...] of int64, `allowed` as above or undefined -> [...] of float, with gradients.
at::Tensor logProbabilityOf(const at::Tensor &logits, const at::Tensor &tokens,
                            const Sampling &sampling, const at::Tensor &allowed);

} // namespace cuda_agent::learn
