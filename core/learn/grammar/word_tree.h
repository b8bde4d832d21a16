// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::learn {

/// A few words as a tree of their bytes. None may be the beginning of another. Never changes: any
/// thread may call any member.
class WordTree {
  public:
    using Set = std::uint64_t;  ///< bit i: word i
    using Node = std::uint16_t; ///< 0: nothing of a word stands yet
    static constexpr std::size_t mostWords = 64;
    static constexpr Set all = ~Set{0};

    WordTree() = default;
    /// At most `mostWords`, none of them empty.
    explicit WordTree(std::vector<std::string> words);

    const std::vector<std::string> &words() const { return words_; }
    /// The node behind one more byte; nothing where no word of `among` goes on so.
    std::optional<Node> next(Node at, unsigned char byte, Set among = all) const;
    /// The words that go on, or end, at a node.
    Set below(Node at) const { return nodes_[at].below; }
    /// The word that ends at a node.
    std::optional<std::size_t> ended(Node at) const;
    /// How much of a word stands at a node, in bytes.
    std::size_t depth(Node at) const { return nodes_[at].depth; }

  private:
    struct Edge {
        unsigned char byte = 0;
        Node to = 0;
    };
    struct Branch {
        std::vector<Edge> edges;
        Set below = 0;
        std::int16_t word = -1;
        std::uint16_t depth = 0;
    };
    std::vector<std::string> words_;
    std::vector<Branch> nodes_{Branch{}};
};

} // namespace cuda_agent::learn
