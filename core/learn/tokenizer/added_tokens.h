// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuda_agent::learn {

/// A token that is found in the text as it stands, before words and merges.
struct AddedToken {
    std::int32_t id = 0;
    std::string content; ///< UTF-8, not empty
    bool special =
        false; ///< it governs the model (an end, a role); text from outside must not make one
    bool lstrip = false;     ///< takes the white space before it along
    bool rstrip = false;     ///< and behind it
    bool normalized = false; ///< looked for, itself normalised, in the normalised text

    bool operator==(const AddedToken &) const = default;
};

/// Finds added tokens: the leftmost, and of those that start there the longest. Const members may
/// be called from several threads.
class AddedTokenFinder {
  public:
    /// `content` is what to look for, where that is not the token's own.
    void add(std::string_view content, const AddedToken &token);
    /// Calls `part` with the stretches of text between tokens (never empty; id -1) and with the
    /// tokens, in order.
    void split(std::string_view text,
               const std::function<void(std::string_view part, std::int32_t id)> &part) const;

  private:
    struct Found {
        std::int32_t id = -1;
        bool lstrip = false;
        bool rstrip = false;
    };
    struct Node {
        std::vector<std::pair<char, std::size_t>> next;
        Found token;
    };
    static const std::size_t *follow(const Node &node, char byte);

    std::vector<Node> nodes_{Node{}}; ///< a tree of bytes, the root first
    std::array<bool, 256> starts_{};  ///< bytes that a token starts with
};

} // namespace cuda_agent::learn
