// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/added_tokens.h"

#include "core/learn/tokenizer/utf8.h"

#include <algorithm>

namespace cuda_agent::learn {

const std::size_t *AddedTokenFinder::follow(const Node &node, char byte) {
    const auto found = std::find_if(node.next.begin(), node.next.end(),
                                    [&](const auto &next) { return next.first == byte; });
    return found == node.next.end() ? nullptr : &found->second;
}

void AddedTokenFinder::add(std::string_view content, const AddedToken &token) {
    std::size_t node = 0;
    for (const char byte : content) {
        if (const auto *next = follow(nodes_[node], byte)) {
            node = *next;
            continue;
        }
        nodes_[node].next.emplace_back(byte, nodes_.size());
        node = nodes_.size();
        nodes_.emplace_back();
    }
    nodes_[node].token = {token.id, token.lstrip, token.rstrip};
    starts_[static_cast<unsigned char>(content.front())] = true;
}

void AddedTokenFinder::split(
    std::string_view text,
    const std::function<void(std::string_view part, std::int32_t id)> &part) const {
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Found *found = nullptr;
        std::size_t end = at;
        if (starts_[static_cast<unsigned char>(text[at])])
            for (std::size_t node = 0, i = at; i < text.size(); ++i) {
                const auto *next = follow(nodes_[node], text[i]);
                if (!next)
                    break;
                node = *next;
                if (nodes_[node].token.id >= 0) {
                    found = &nodes_[node].token;
                    end = i + 1;
                }
            }
        if (!found) {
            ++at;
            continue;
        }
        // Space that the token before took along is not taken twice, nor is it a part of its own.
        auto start = at;
        if (found->lstrip)
            start = std::max(at - trailingSpace(text.substr(0, at)), done);
        auto stop = end;
        if (found->rstrip)
            stop += leadingSpace(text.substr(end));
        if (done < start)
            part(text.substr(done, start - done), -1);
        part(text.substr(start, stop - start), found->id);
        done = stop;
        at = end;
    }
    if (done < text.size())
        part(text.substr(done), -1);
}

} // namespace cuda_agent::learn
