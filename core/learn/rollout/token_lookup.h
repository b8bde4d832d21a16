// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace cuda_agent::learn {

/// Texts, to be searched for what stood behind the same tokens. One thread at a time; any number
/// while nothing is added.
class TokenHistory {
  public:
    /// Appends `tokens` to the text.
    void add(std::span<const std::int32_t> tokens);
    std::size_t size() const { return text_.size(); }

    struct Match {
        std::size_t place = 0;  ///< in the text, behind the match
        std::size_t length = 0; ///< tokens that agree; 0: none was found
    };
    /// Where the longest end of `tokens`, of 2 to 16, was before and something stands behind it,
    /// the last such place.
    Match longest(std::span<const std::int32_t> tokens) const;
    /// Up to `most` tokens from there on.
    std::vector<std::int32_t> from(const Match &match, std::size_t most) const;

  private:
    std::vector<std::int32_t> text_;
    /// Of two tokens, where the text goes on behind them, the last such place.
    std::unordered_map<std::uint64_t, std::size_t> last_;
    std::vector<std::size_t> earlier_; ///< of each place the one before it behind the same two; 0
};

/// Guesses how a conversation goes on: as it did, or as others did, where the same tokens were
/// before (prompt lookup, speculative decoding without a second model: arXiv 2304.04487). Kernels
/// repeat their task's names, their own lines and each other's. One thread.
class TokenGuesses {
  public:
    /// Up to `most` tokens that may come behind `text`, fewer where guesses were wrong lately.
    /// `text` is that of the call before, or a longer one that begins with it.
    std::vector<std::int32_t> behind(std::span<const std::int32_t> text, const TokenHistory &others,
                                     std::size_t most);
    /// What came of a guess of `guessed` tokens: the first `right` of them.
    void learn(std::size_t guessed, std::size_t right);

  private:
    TokenHistory own_;
    std::size_t trusted_ = 4;
};

} // namespace cuda_agent::learn
