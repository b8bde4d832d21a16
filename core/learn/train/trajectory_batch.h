// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/model/sampler.h"
#include "core/learn/model/transformer.h"
#include "core/learn/rollout/model_conversation.h"
#include "core/learn/rollout/turn_masks.h"

namespace cuda_agent::learn {

/// Conversations as tensors on a device. What the policy wrote is kept compressed: of each row its
/// own tokens in their order, as [rows, most] with 0 behind the last.
class TrajectoryBatch {
  public:
    /// At least one conversation; each begins with a token that the policy did not write. `masks`:
    /// of each conversation masksOf() it, where its turns were drawn by a grammar; empty: they
    /// were not.
    TrajectoryBatch(const std::vector<const TokenRecord *> &records, at::Device device,
                    const std::vector<std::vector<TokenMasks::Mask>> &masks = {});

    std::int64_t rows() const { return mask_.size(0); }
    std::int64_t most() const { return mask_.size(1); } ///< of a row's own tokens
    const at::Tensor &mask() const { return mask_; }    ///< [rows, most] of bool

    /// Log-probabilities of the policy's tokens under a model, and the sampling and masks that drew
    /// them:
    /// [rows, most] of float, with gradients unless they are off.
    at::Tensor logProbabilities(const Transformer &actor, const Sampling &sampling) const;
    /// A critic's values of the states that the policy's tokens were written in: likewise.
    at::Tensor values(const Transformer &critic) const;

  private:
    at::Tensor states(const Transformer &model) const;
    at::Tensor compressed(const at::Tensor &flat) const;

    at::Tensor tokens_;  ///< [rows, length] of int64, 0 behind a row's last
    at::Tensor places_;  ///< [n] of int64: where in [rows * length] the policy's tokens are said
    at::Tensor targets_; ///< [n] of int64: these tokens
    at::Tensor slots_;   ///< [n] of int64: their places in [rows * most]
    at::Tensor mask_;
    std::vector<TokenMasks::Mask> allowed_; ///< of these tokens; empty: no grammar
};

/// The indices 0 to lengths.size() - 1 in groups of like length, each of at most `most` tokens with
/// padding, but never empty.
std::vector<std::vector<std::size_t>> microBatches(const std::vector<std::int64_t> &lengths,
                                                   std::int64_t most);

} // namespace cuda_agent::learn
