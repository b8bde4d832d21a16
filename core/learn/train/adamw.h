// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/model/transformer.h"
#include "core/learn/train/recipe.h"

namespace cuda_agent::learn {

/// AdamW (Loshchilov and Hutter, arXiv 1711.05101) over a model's flat buffers, by PyTorch's fused
/// kernel. The weights that it moves are float; a model in another precision gets them rounded.
class AdamW {
  public:
    /// Borrows nothing: the parameters' buffers are shared.
    AdamW(const Parameters &parameters, const OptimiserOptions &options);

    /// Forgets the gradients of the step before.
    void zeroGradients();
    /// Scales the gradients so that their L2 norm is at most `options.clip` and moves the weights
    /// against them. Returns the norm before, a scalar of float on the device: reading it waits.
    at::Tensor step(double learningRate);

    /// For checkpoints: "weights", "mean", "square" as [numbers] of float, "steps" as a scalar.
    NamedTensors state() const;
    /// Takes over such a state, weights included. Errors: request: it is another model's.
    Result<void> setState(const NamedTensors &state);

  private:
    /// Of all numbers those that decay, or the others.
    std::vector<at::Tensor> halves(const at::Tensor &flat) const;

    OptimiserOptions options_;
    std::int64_t decaying_;
    at::Tensor values_, gradients_;      ///< the model's
    at::Tensor weights_, mean_, square_; ///< [numbers] of float
    at::Tensor steps_;                   ///< scalar of float, on the device
};

} // namespace cuda_agent::learn
