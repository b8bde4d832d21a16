// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/word_tree.h"

#include <algorithm>

namespace cuda_agent::learn {

WordTree::WordTree(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
        Node at = 0;
        nodes_[0].below |= Set{1} << i;
        for (const unsigned char byte : words_[i]) {
            if (const auto known = next(at, byte)) {
                at = *known;
            } else {
                const auto made = static_cast<Node>(nodes_.size());
                const auto depth = static_cast<std::uint16_t>(nodes_[at].depth + 1);
                nodes_[at].edges.push_back({byte, made});
                nodes_.emplace_back().depth = depth;
                at = made;
            }
            nodes_[at].below |= Set{1} << i;
        }
        nodes_[at].word = static_cast<std::int16_t>(i);
    }
}

std::optional<WordTree::Node> WordTree::next(Node at, unsigned char byte, Set among) const {
    for (const auto &edge : nodes_[at].edges)
        if (edge.byte == byte)
            return (nodes_[edge.to].below & among) != 0 ? std::optional(edge.to) : std::nullopt;
    return std::nullopt;
}

std::optional<std::size_t> WordTree::ended(Node at) const {
    const auto word = nodes_[at].word;
    return word < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(word));
}

} // namespace cuda_agent::learn
