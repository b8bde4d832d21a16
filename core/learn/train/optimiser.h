// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/model/transformer.h"
#include "core/learn/train/recipe.h"

#include <map>
#include <utility>

namespace cuda_agent::learn {

/// AdamW (Loshchilov and Hutter, arXiv 1711.05101) over a model's flat buffers, by PyTorch's fused
/// kernel, or of layers' projections Muon (muon.h), each of them by itself. The weights that it
/// moves are float; a model in another precision gets them rounded.
class Optimiser {
  public:
    /// Borrows nothing: the parameters' buffers are shared.
    Optimiser(const Parameters &parameters, const OptimiserOptions &options);

    /// Forgets the gradients of the step before.
    void zeroGradients();
    /// Scales the gradients so that their L2 norm is at most `options.clip` and moves the weights
    /// against them. Returns the norm before, a scalar of float on the device: reading it waits.
    at::Tensor step(double learningRate);

    /// For checkpoints: "weights", "mean", "square" as [numbers] of float, "steps" as a scalar.
    /// Where Muon moves the weights, "mean" is its momentum and "square" 0.
    NamedTensors state() const;
    /// Takes over such a state, weights included. Errors: request: it is another model's.
    Result<void> setState(const NamedTensors &state);

  private:
    /// Numbers that lie side by side and that AdamW moves.
    struct Range {
        std::int64_t from = 0, count = 0;
        bool decays = true;
    };
    void byAdamW(const at::Tensor &gradients, double learningRate);
    void byMuon(const at::Tensor &gradients, double learningRate);

    OptimiserOptions options_;
    std::vector<Range> ranges_;
    /// Where the matrices that Muon moves begin, by rows and columns.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> matrices_;
    at::Tensor values_, gradients_;      ///< the model's
    at::Tensor weights_, mean_, square_; ///< [numbers] of float
    at::Tensor steps_;                   ///< scalar of float, on the device
};

} // namespace cuda_agent::learn
