// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/adamw.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace cuda_agent::learn {

AdamW::AdamW(const Parameters &parameters, const OptimiserOptions &options)
    : options_(options), decaying_(parameters.decaying()), values_(parameters.values()),
      gradients_(parameters.gradients()) {
    const at::NoGradGuard noGradients;
    weights_ = values_.to(at::kFloat); // the model's own buffer where that is float
    mean_ = at::zeros_like(weights_);
    square_ = at::zeros_like(weights_);
    steps_ = at::zeros({}, weights_.options());
}

std::vector<at::Tensor> AdamW::halves(const at::Tensor &flat) const {
    return {flat.narrow(0, 0, decaying_), flat.narrow(0, decaying_, flat.numel() - decaying_)};
}

void AdamW::zeroGradients() {
    const at::NoGradGuard noGradients;
    gradients_.zero_();
}

at::Tensor AdamW::step(double learningRate) {
    const at::NoGradGuard noGradients;
    auto gradients = gradients_.to(at::kFloat);
    const auto norm = gradients.norm();
    if (options_.clip > 0) // as torch.nn.utils.clip_grad_norm_
        gradients.mul_(at::clamp_max(options_.clip / (norm + 1e-6), 1.0));
    steps_.add_(1);
    const auto weights = halves(weights_), slopes = halves(gradients), mean = halves(mean_),
               square = halves(square_);
    for (const std::size_t half : {0u, 1u})
        if (weights[half].numel() > 0)
            at::_fused_adamw_({weights[half]}, {slopes[half]}, {mean[half]}, {square[half]}, {},
                              {steps_}, learningRate, options_.beta1, options_.beta2,
                              half == 0 ? options_.weightDecay : 0.0, options_.epsilon, false,
                              false);
    if (!weights_.is_alias_of(values_))
        values_.copy_(weights_);
    return norm;
}

NamedTensors AdamW::state() const {
    return {{"weights", weights_}, {"mean", mean_}, {"square", square_}, {"steps", steps_}};
}

Result<void> AdamW::setState(const NamedTensors &state) {
    const at::NoGradGuard noGradients;
    for (const auto &[name, mine] : this->state()) {
        const auto found = state.find(name);
        if (found == state.end() || found->second.sizes() != mine.sizes())
            return requestError("the optimiser's {} is missing or of another model", name);
    }
    for (auto &[name, mine] : this->state())
        mine.copy_(state.at(name));
    if (!weights_.is_alias_of(values_))
        values_.copy_(weights_);
    return {};
}

} // namespace cuda_agent::learn
