// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/grammar/token_masks.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

namespace cuda_agent::learn {

struct TokenRecord;

/// The grammar that a policy's turns are drawn by, with what else a mask depends on: a turn ends in
/// the room that it has.
struct TurnMasks {
    std::shared_ptr<const TokenMasks> tokens; ///< null: any token may come
    std::int64_t longestTurn = 0;             ///< tokens, as Generator::generate() was asked for
    std::int64_t context = 0;                 ///< of the generator
};

/// Room of the token at `place` of a conversation, the `written`th of its turn, both from 0.
inline std::int64_t roomOf(std::int64_t longestTurn, std::int64_t context, std::size_t place,
                           std::size_t written) {
    return std::min(longestTurn - static_cast<std::int64_t>(written),
                    context - static_cast<std::int64_t>(place));
}

/// Whether the token may not come by the mask; by a null one any may.
inline bool refuses(const TokenMasks::Mask &mask, std::int32_t token) {
    const auto place = static_cast<std::size_t>(token);
    return mask && (place >= mask->size() || (*mask)[place] == 0);
}

/// Of each token that the policy wrote, in their order, the mask that it was drawn under: the same
/// that the generator had, for it follows from the tokens before. From the first token of a turn
/// that its mask refuses (it was drawn without a grammar, or with other tools or lengths) to the
/// turn's end the masks are null. Any thread.
std::vector<TokenMasks::Mask> masksOf(const TokenRecord &record, const TurnMasks &masks);

/// Masks of a trajectory as bits, an eighth of their size: each source's are its own, and a batch
/// of trajectories keeps them all.
class PackedMasks {
  public:
    PackedMasks() = default;
    explicit PackedMasks(const std::vector<TokenMasks::Mask> &masks);
    /// As they were given; those that were one are one.
    std::vector<TokenMasks::Mask> masks() const;

  private:
    struct Bits {
        std::vector<bool> bits;
        bool any = false; ///< a null mask
    };
    std::vector<Bits> different_;
    std::vector<std::size_t> rows_;
};

/// Masks as a tensor of few rows: those that are alike are one.
class MaskRows {
  public:
    /// A null mask has every token.
    MaskRows(const std::vector<TokenMasks::Mask> &masks, std::int64_t vocabulary,
             at::Device device);
    /// [masks, vocabulary] of bool, in their order.
    at::Tensor all() const;

  private:
    at::Tensor different_, rows_;
};

} // namespace cuda_agent::learn
