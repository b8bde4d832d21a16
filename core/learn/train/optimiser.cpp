// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/optimiser.h"

#include "core/learn/train/muon.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace cuda_agent::learn {

Optimiser::Optimiser(const Parameters &parameters, const OptimiserOptions &options)
    : options_(options), values_(parameters.values()), gradients_(parameters.gradients()) {
    const at::NoGradGuard noGradients;
    weights_ = values_.to(at::kFloat); // the model's own buffer where that is float
    mean_ = at::zeros_like(weights_);
    square_ = at::zeros_like(weights_);
    steps_ = at::zeros({}, weights_.options());
    for (const auto &parameter : parameters.all()) {
        const auto from = parameter.value.storage_offset() - values_.storage_offset();
        if (options.kind != "muon" || parameter.projections.empty()) {
            ranges_.push_back({from, parameter.value.numel(), parameter.decays});
            continue;
        }
        const auto columns = parameter.value.size(1);
        std::int64_t row = 0;
        for (const auto rows : parameter.projections) {
            matrices_[{rows, columns}].push_back(from + row * columns);
            row += rows;
        }
    }
    std::ranges::sort(ranges_, {}, &Range::from);
    std::vector<Range> joined; // one each where AdamW moves all
    for (const auto &range : ranges_)
        if (!joined.empty() && joined.back().decays == range.decays &&
            joined.back().from + joined.back().count == range.from)
            joined.back().count += range.count;
        else
            joined.push_back(range);
    ranges_ = std::move(joined);
}

void Optimiser::zeroGradients() {
    const at::NoGradGuard noGradients;
    gradients_.zero_();
}

at::Tensor Optimiser::step(double learningRate) {
    const at::NoGradGuard noGradients;
    auto gradients = gradients_.to(at::kFloat);
    const auto norm = gradients.norm();
    if (options_.clip > 0) // as torch.nn.utils.clip_grad_norm_
        gradients.mul_(at::clamp_max(options_.clip / (norm + 1e-6), 1.0));
    steps_.add_(1);
    byAdamW(gradients, learningRate);
    byMuon(gradients, learningRate);
    if (!weights_.is_alias_of(values_))
        values_.copy_(weights_);
    return norm;
}

void Optimiser::byAdamW(const at::Tensor &gradients, double learningRate) {
    for (const bool decays : {true, false}) {
        std::vector<at::Tensor> weights, slopes, means, squares;
        for (const auto &range : ranges_)
            if (range.decays == decays) {
                weights.push_back(weights_.narrow(0, range.from, range.count));
                slopes.push_back(gradients.narrow(0, range.from, range.count));
                means.push_back(mean_.narrow(0, range.from, range.count));
                squares.push_back(square_.narrow(0, range.from, range.count));
            }
        if (!weights.empty())
            at::_fused_adamw_(weights, slopes, means, squares, {},
                              std::vector<at::Tensor>(weights.size(), steps_), learningRate,
                              options_.beta1, options_.beta2, decays ? options_.weightDecay : 0.0,
                              options_.epsilon, false, false);
    }
}

void Optimiser::byMuon(const at::Tensor &gradients, double learningRate) {
    for (const auto &[size, begins] : matrices_) {
        const auto [rows, columns] = size;
        const auto matricesOf = [&](const at::Tensor &flat) {
            std::vector<at::Tensor> matrices;
            for (const auto begin : begins)
                matrices.push_back(flat.narrow(0, begin, rows * columns).view({rows, columns}));
            return matrices;
        };
        const auto slopes = matricesOf(gradients);
        auto weights = matricesOf(weights_), momenta = matricesOf(mean_);
        at::_foreach_lerp_(momenta, slopes, 1 - options_.momentum);
        const auto ahead = at::_foreach_lerp(slopes, momenta, options_.momentum); // Nesterov's
        const auto moves = orthogonalised(at::stack(ahead)).to(at::kFloat).unbind();
        at::_foreach_mul_(weights, 1 - learningRate * options_.weightDecay);
        at::_foreach_add_(weights, moves, -learningRate * muonScale(rows, columns));
    }
}

NamedTensors Optimiser::state() const {
    return {{"weights", weights_}, {"mean", mean_}, {"square", square_}, {"steps", steps_}};
}

Result<void> Optimiser::setState(const NamedTensors &state) {
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
