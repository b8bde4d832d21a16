// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/model/transformer.h"

#include <memory>

namespace cuda_agent::learn {

class Recorded;

/// Writes many conversations at once, token after token, with the keys and values of what was read
/// kept in place: rows of a batch that begin, wait and end independently. The model's weights are
/// used as they are at each call, so an update in place is seen at once; what was kept from before
/// it is the old model's, which is why rows are begun anew after an update.
///
/// With the fused kernels a step reads the keys where they lie, whoever is in it, and on a GPU it
/// is a CUDA graph, recorded when so many tokens are first asked for: the model's kernels must
/// stay.
///
/// Nothing here needs gradients. One thread.
class Decoder {
  public:
    /// Borrows the model (an actor). Takes 2 * layers * kvHeads * headSize numbers a token of
    /// `rows` * `context` of the device's memory, in the model's type.
    Decoder(const Transformer &model, std::int64_t rows, std::int64_t context);
    ~Decoder();
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;

    std::int64_t rows() const { return rows_; }
    std::int64_t context() const { return context_; }
    /// Tokens that the row holds.
    std::int64_t length(std::int64_t row) const { return lengths_[static_cast<std::size_t>(row)]; }

    /// Forgets what the row holds.
    void clear(std::int64_t row);
    /// Keeps the first `length` tokens of a row only.
    void cut(std::int64_t row, std::int64_t length);

    /// Reads `tokens` behind what the row holds (at most context() in all; throws
    /// std::length_error, a bug) and gives the logits behind the last: [vocabulary] of float.
    at::Tensor read(std::int64_t row, const std::vector<std::int32_t> &tokens);

    /// Reads `tokens[i]` behind what row `rows[i]` holds, in one pass: one token of a row, or some
    /// that stand side by side in their order. Gives the logits behind each: [rows.size(),
    /// vocabulary] of float. Throws as read().
    at::Tensor step(const std::vector<std::int64_t> &rows, const std::vector<std::int32_t> &tokens);

  private:
    /// Both [tokens, vocabulary] of float; `input` [3, tokens] of int64: tokens, rows, places.
    at::Tensor plainStep(const std::vector<std::int64_t> &rows, const at::Tensor &input,
                         std::int64_t longest);
    at::Tensor fusedStep(const at::Tensor &input);
    /// Tokens that a step of `count` is filled up to, so that few graphs do for all.
    std::int64_t filled(std::int64_t count) const;

    const Transformer &model_;
    std::int64_t rows_, context_;
    std::vector<std::int64_t> lengths_;
    at::Tensor keys_, values_; ///< [layers, rows, kvHeads, context, headSize]
    std::map<std::int64_t, std::unique_ptr<Recorded>> recorded_; ///< steps by tokens
};

} // namespace cuda_agent::learn
