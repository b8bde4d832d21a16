// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/corpus/document.h"
#include "core/learn/tokenizer/tokenizer.h"

#include <stop_token>
#include <vector>

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

/// A document as far as it goes into one sequence, in places of the token set.
struct Stretch {
    std::int64_t begin = 0, size = 0;
};

/// Sequences of up to `context` tokens and the one that follows each, for a token set that is read
/// round and round. A sequence is filled with whole documents that chance has put together, each
/// from its beginning, so that every answer is learned behind its own prompt. A document that is
/// longer than a sequence is cut into stretches that share their last and first token. What is left
/// at a sequence's end stays empty: a few per cent, as shorter documents from further on are taken
/// to fill it. What a sequence holds is a function of the seed and its place alone, so that a
/// resumed run sees what the killed one would have.
class Sequences {
  public:
    /// Borrows `set`, which must not be empty.
    Sequences(const TokenSet &set, std::int64_t context, std::uint64_t seed);

    /// The stretches of the sequence at place `at` of the whole run, epoch after epoch; together at
    /// most context + 1 tokens. Valid until the next call.
    const std::vector<Stretch> &at(std::int64_t at);
    /// Of the first epoch; others have some more or less.
    std::int64_t size();
    std::int64_t context() const { return context_; }

  private:
    void pack(std::int64_t epoch);

    const TokenSet &set_;
    std::int64_t context_;
    std::uint64_t seed_;
    std::vector<Stretch> stretches_;
    std::int64_t epoch_ = -1;                     ///< whose sequences are there
    std::vector<std::vector<Stretch>> sequences_; ///< of it
    std::vector<std::int64_t> ends_;              ///< of the epochs known so far: places
};

} // namespace cuda_agent::learn
