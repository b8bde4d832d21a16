// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/sampler.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <limits>

namespace cuda_agent::learn {

namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

/// Log-probabilities [..., vocabulary] of float; what cannot come has minus infinity.
at::Tensor distributionOf(const at::Tensor &logits, const Sampling &sampling,
                          const at::Tensor &allowed) {
    auto scaled = masked(logits, allowed);
    if (sampling.minP > 0) {
        const auto least = scaled.detach().amax(-1, true) + std::log(sampling.minP);
        scaled = at::where(scaled.detach() >= least, scaled, never);
    }
    if (sampling.temperature > 0)
        scaled = scaled / sampling.temperature;
    auto all = at::log_softmax(scaled, -1);
    if (sampling.topP >= 1)
        return all;
    at::Tensor out;
    {
        const at::NoGradGuard noGradients; // which tokens are in the nucleus is no function to move
        const auto [sorted, order] = all.exp().sort(-1, true);
        // A token is out when those before it make the share already; the likeliest is always in.
        const auto late = (sorted.cumsum(-1) - sorted) >= sampling.topP;
        out = at::zeros_like(late).scatter(-1, order, late);
    }
    return at::log_softmax(scaled.masked_fill(out, never), -1);
}

} // namespace

at::Tensor masked(const at::Tensor &logits, const at::Tensor &allowed) {
    const auto numbers = logits.to(at::kFloat);
    // A third of masked_fill's time on a CPU.
    return allowed.defined() ? at::where(allowed, numbers, never) : numbers;
}

Sampled sample(const at::Tensor &logits, const Sampling &sampling, const at::Tensor &allowed,
               const at::Tensor &uniform) {
    const at::NoGradGuard noGradients;
    const auto distribution = distributionOf(logits, sampling, allowed);
    const auto probabilities = distribution.exp();
    Sampled sampled;
    // 0 log 0 is 0: a token that cannot come adds nothing.
    sampled.entropy = -(probabilities * distribution.nan_to_num(0, 0, 0)).sum(-1);
    if (sampling.temperature <= 0) {
        sampled.tokens = distribution.argmax(-1);
        sampled.logProbabilities = at::zeros_like(sampled.entropy);
        return sampled;
    }
    // In double, so that a number just below 1 stays below the sum.
    const auto cumulative = probabilities.to(at::kDouble).cumsum(-1);
    const auto target = uniform.to(cumulative.device()).unsqueeze(-1) * cumulative.slice(-1, -1);
    sampled.tokens = (cumulative <= target).sum(-1);
    if (const auto likeliest = uniform.lt(0); likeliest.any().item<bool>())
        sampled.tokens = at::where(likeliest.to(sampled.tokens.device()), distribution.argmax(-1),
                                   sampled.tokens);
    sampled.logProbabilities = distribution.gather(-1, sampled.tokens.unsqueeze(-1)).squeeze(-1);
    return sampled;
}

Likeliest likeliest(const at::Tensor &logits, std::int64_t count) {
    const at::NoGradGuard noGradients;
    const auto [values, tokens] = logits.topk(count, -1);
    return {tokens, values.slice(-1, 0, 1) - values};
}

at::Tensor logProbabilityOf(const at::Tensor &logits, const at::Tensor &tokens,
                            const Sampling &sampling, const at::Tensor &allowed) {
    return distributionOf(logits, sampling, allowed).gather(-1, tokens.unsqueeze(-1)).squeeze(-1);
}

} // namespace cuda_agent::learn
