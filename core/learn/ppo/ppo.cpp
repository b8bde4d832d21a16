// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/ppo/ppo.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <limits>

namespace cuda_agent::learn {

namespace {

constexpr double tiny = 1e-8;

/// Backwards over one trajectory: what is still to come of temporal differences, each weighed by
/// (gamma * lambda)^distance.
void backward(const float *rewards, const float *values, const bool *mask, std::int64_t length,
              double gamma, double lambda, float *advantages) {
    double next = 0, sum = 0; // value of the policy's next state, advantage there
    for (auto i = length; i-- > 0;) {
        advantages[i] = 0;
        if (!mask[i])
            continue;
        const double difference = rewards[i] + gamma * next - values[i];
        sum = difference + gamma * lambda * sum;
        next = values[i];
        advantages[i] = static_cast<float>(sum);
    }
}

at::Tensor sumOf(const at::Tensor &values, const at::Tensor &mask) {
    return values.masked_fill(~mask, 0).sum();
}

} // namespace

Advantages estimateAdvantages(const at::Tensor &rewards, const at::Tensor &values,
                              const at::Tensor &mask, const AdvantageOptions &options) {
    const at::NoGradGuard noGradients;
    const auto onHost = [](const at::Tensor &tensor, at::ScalarType type) {
        return tensor.detach().to(at::kCPU, type).contiguous();
    };
    const auto earned = onHost(rewards, at::kFloat), told = onHost(values, at::kFloat),
               mine = onHost(mask, at::kBool);
    auto actor = at::empty_like(earned), critic = at::empty_like(earned);
    const auto length = earned.size(1);
    for (std::int64_t row = 0; row < earned.size(0); ++row) {
        const auto *const written = mine.const_data_ptr<bool>() + row * length;
        const auto count = std::count(written, written + length, true);
        const double lambda =
            options.alpha > 0
                ? std::max(0.0, 1 - 1 / (options.alpha *
                                         static_cast<double>(std::max<std::int64_t>(count, 1))))
                : options.lambda;
        const auto go = [&](double by, at::Tensor &into) {
            backward(earned.const_data_ptr<float>() + row * length,
                     told.const_data_ptr<float>() + row * length, written, length, options.gamma,
                     by, into.data_ptr<float>() + row * length);
        };
        go(lambda, actor);
        go(options.criticLambda, critic);
    }
    const auto returns = (critic + told).masked_fill(~mine, 0);
    if (options.whiten && mine.any().item<bool>()) {
        const auto chosen = actor.masked_select(mine);
        actor = ((actor - chosen.mean()) / (chosen.std(false) + tiny)).masked_fill(~mine, 0);
    }
    return {actor.to(rewards.device()), returns.to(rewards.device())};
}

at::Tensor groupAdvantages(const at::Tensor &scores, const at::Tensor &groups,
                           const at::Tensor &mask, bool scale) {
    const at::NoGradGuard noGradients;
    const auto host = scores.to(at::kCPU, at::kFloat), numbers = groups.to(at::kCPU);
    auto own = at::zeros_like(host);
    for (std::int64_t i = 0; i < host.size(0); ++i) {
        const auto others = host.masked_select(numbers == numbers[i]);
        if (others.numel() < 2)
            continue;
        auto advantage = host[i] - others.mean();
        if (scale)
            advantage = advantage / (others.std() + 1e-6);
        own[i] = advantage;
    }
    return own.to(mask.device()).unsqueeze(1) * mask.to(at::kFloat);
}

PolicyLoss policyLoss(const at::Tensor &logProbabilities, const at::Tensor &oldLogProbabilities,
                      const at::Tensor &advantages, const at::Tensor &mask, double tokens,
                      const PpoOptions &options) {
    const auto difference = (logProbabilities - oldLogProbabilities)
                                .masked_fill(~mask, 0)
                                .clamp(-options.logRatioClamp, options.logRatioClamp);
    const auto ratio = difference.exp();
    const auto plain = -advantages * ratio;
    PolicyLoss result;
    at::Tensor losses, clipped, lower = at::zeros_like(mask);
    if (options.divergence > 0) {
        const auto moved = logProbabilities.detach().exp() - oldLogProbabilities.exp();
        clipped = ((advantages > 0) & (moved > options.divergence)) |
                  ((advantages < 0) & (moved < -options.divergence));
        losses = plain.masked_fill(clipped, 0);
    } else {
        const auto bounded = -advantages * ratio.clamp(1 - options.clipLow, 1 + options.clipHigh);
        losses = at::maximum(plain, bounded);
        clipped = bounded > plain;
        if (options.dualClip > 0) {
            const auto most = -advantages * options.dualClip;
            lower = (advantages < 0) & (losses > most);
            losses = at::where(lower, most, losses);
        }
    }
    result.loss = sumOf(losses, mask) / tokens;
    result.kl = sumOf(-difference.detach(), mask) / tokens;
    result.clipped = (clipped & mask).sum() / tokens;
    result.clippedLower = (lower & mask).sum() / tokens;
    return result;
}

ValueLoss valueLoss(const at::Tensor &values, const at::Tensor &oldValues,
                    const at::Tensor &returns, const at::Tensor &mask, double tokens,
                    const PpoOptions &options) {
    const auto plain = (values - returns).square();
    auto losses = plain;
    auto clipped = at::zeros_like(mask);
    if (options.valueClip > 0) {
        const auto bounded = at::minimum(at::maximum(values, oldValues - options.valueClip),
                                         oldValues + options.valueClip);
        const auto other = (bounded - returns).square();
        losses = at::maximum(plain, other);
        clipped = other > plain;
    }
    return {sumOf(losses, mask) * 0.5 / tokens, (clipped & mask).sum() / tokens};
}

double explainedVariance(const at::Tensor &values, const at::Tensor &returns,
                         const at::Tensor &mask) {
    const at::NoGradGuard noGradients;
    const auto mine = mask.to(at::kBool);
    const auto told = returns.masked_select(mine).to(at::kDouble);
    const auto rest = told - values.masked_select(mine).to(at::kDouble);
    const double whole = told.numel() > 0 ? told.var(false).item<double>() : 0;
    // Returns that differ by rounding alone are one.
    if (!(whole > 1e-10 * (1 + told.square().mean().item<double>())))
        return std::numeric_limits<double>::quiet_NaN();
    return 1 - rest.var(false).item<double>() / whole;
}

void AdaptiveKl::update(double kl, std::int64_t trajectories) {
    const double error = std::clamp(kl / target_ - 1, -0.2, 0.2);
    coefficient_ *= 1 + error * static_cast<double>(trajectories) / horizon_;
}

} // namespace cuda_agent::learn
