// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace cuda_agent::learn {

/// Which pairs of tokens become one, and in which order: a table by pair, and byte pair encoding of
/// a word with it. Const members may be called from several threads.
class Merges {
  public:
    struct Merge {
        std::int32_t rank; ///< lower goes first
        std::int32_t id;   ///< of the token that the pair becomes
    };

    explicit Merges(std::size_t count = 0); ///< how many pairs will be inserted at most
    /// A pair that is inserted again has the later rank.
    void insert(std::int32_t left, std::int32_t right, Merge merge);
    /// Null where the pair does not merge.
    const Merge *find(std::int32_t left, std::int32_t right) const;

    /// Merges the tokens of one word in place: always the pair of the lowest rank, the leftmost of
    /// equal ones, until there is none. n log n in time for long words.
    void apply(std::vector<std::int32_t> &word) const;

  private:
    struct Slot {
        std::uint64_t pair;
        Merge merge;
    };
    std::size_t slotOf(std::uint64_t pair) const;
    void applyShort(std::vector<std::int32_t> &word) const;
    void applyLong(std::vector<std::int32_t> &word) const;

    std::vector<Slot> slots_; ///< open addressing, a power of two, at most half full
};

} // namespace cuda_agent::learn
