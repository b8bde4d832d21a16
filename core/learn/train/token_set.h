// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/document.h"
#include "core/learn/tokenizer/tokenizer.h"

#include <stop_token>

namespace cuda_agent::learn {

/// Documents as tokens, one after another, each with an end of text behind it.
struct TokenSet {
    std::vector<std::int32_t> tokens;
    std::vector<std::uint8_t> byPolicy; ///< of each token: 1 where the model writes it
    std::vector<std::int64_t> begins;   ///< of each document
};

/// Tokens of the documents of one split, whole segments at a time, so that those of sampling are
/// the same. Uses all cores. Errors: stopped.
Result<TokenSet> tokensOf(const std::vector<Document> &documents, const std::string &split,
                          const Tokenizer &tokenizer, std::int32_t end,
                          const std::stop_token &stop);

/// Sequences of `context` tokens and the ones that follow each, cut from a token set that is read
/// round and round. Sequence i of epoch e is a function of the seed, i and e alone, so that a
/// resumed run sees what the killed one would have.
class Sequences {
  public:
    /// Borrows `set`, which must hold more than `context` tokens.
    Sequences(const TokenSet &set, std::int64_t context, std::uint64_t seed);

    std::int64_t size() const { return size_; } ///< of an epoch
    /// First token of the sequence at position `at` of the whole run: epoch after epoch, each in an
    /// order of its own, cut from an offset of its own.
    std::int64_t begin(std::int64_t at);

    std::int64_t context() const { return context_; }

  private:
    const TokenSet &set_;
    std::int64_t context_, size_;
    std::uint64_t seed_;
    std::int64_t epoch_ = -1, offset_ = 0;
    std::vector<std::int64_t> order_; ///< of `epoch_`
};

} // namespace cuda_agent::learn
