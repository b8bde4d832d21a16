// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/grammar/name_masks.h"
#include "core/learn/grammar/turn_grammar.h"
#include "core/learn/tokenizer/tokenizer.h"
#include "core/policy/chat/chat.h"

#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace cuda_agent::learn {

/// Which tokens of a vocabulary may come next in a turn. The chat's special tokens are symbols; any
/// other token is its bytes, which may belong to several parts of the grammar; other special tokens
/// and ids without bytes never come.
///
/// Any thread may call any member. Masks are kept by state, so that what a state in a text costs is
/// paid once, and those that are alike are one; where they take more than `mostKept` bytes all are
/// let go.
class TokenMasks {
  public:
    using Mask = TokenMask;
    static constexpr std::size_t mostKept = std::size_t{256} << 20;
    static constexpr std::int64_t anyRoom = std::numeric_limits<std::int64_t>::max();

    /// `vocabulary`: tokens of the model, at least the tokenizer's. Errors: request, where the
    /// tokenizer lacks one of the chat's special tokens, or the model is smaller.
    static Result<std::shared_ptr<const TokenMasks>>
    make(TurnGrammar grammar, const Tokenizer &tokenizer, std::int64_t vocabulary);
    /// The turns of the tools that there are. Errors: likewise.
    static Result<std::shared_ptr<const TokenMasks>> ofTools(const Tokenizer &tokenizer,
                                                             std::int64_t vocabulary);

    std::int64_t vocabulary() const { return vocabulary_; }
    /// The state behind a token; nothing where it may not come.
    std::optional<TurnState> next(const TurnState &state, std::int32_t token) const;
    /// The tokens that may come where the turn has room for `room` more, this one included: those
    /// behind which it can still end in time. At least one, as long as the turn has not ended and
    /// `room` is no less than leastToEnd(state); a turn whose tokens are all of such masks never
    /// has less, for its first state asks for one token.
    Mask formed(const TurnState &state, std::int64_t room = anyRoom) const;
    /// The same of a turn whose names are known, too: without the tokens by which its source would
    /// use a name that it has not declared, where others are left. These masks are not kept.
    Mask allowed(const Writing &writing, std::int64_t room = anyRoom) const;
    /// A turn that begins behind these tokens: of the names in their prompt it knows the plan's.
    Writing behind(std::span<const std::int32_t> conversation) const;
    /// Takes a token; false, and nothing has changed, where it may not come by the turn's grammar.
    bool take(Writing &writing, std::int32_t token) const;
    /// Tokens that end the turn, at most: what TurnGrammar::closing() says in the longest tokens
    /// that there are. 0 of one that has ended.
    std::int64_t leastToEnd(const TurnState &state) const;

  private:
    TokenMasks(TurnGrammar grammar, std::int64_t vocabulary)
        : grammar_(std::move(grammar)), vocabulary_(vocabulary) {
        specials_.fill(-1);
    }

    /// A byte of a token, in the order of a walk through the tree of all tokens' bytes.
    struct Node {
        unsigned char byte = 0;
        std::uint32_t depth = 0;      ///< bytes before it
        std::uint32_t end = 0;        ///< the first node that does not go on from here
        std::uint32_t firstToken = 0; ///< into `tokens_`: those that end here
        std::uint32_t lastToken = 0;
    };
    struct Known {
        Mask mask;
        std::int64_t most = 0; ///< tokens to the end behind any of the mask's
    };
    struct Key {
        TurnState state;
        std::int64_t room = anyRoom;
        bool operator==(const Key &) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key &key) const {
            return TurnStateHash()(key.state) ^ std::hash<std::int64_t>()(key.room);
        }
    };

    /// A mask by what is in it, whose hash takes longer than others should wait for the lock.
    struct Content {
        Mask mask;
        std::size_t hash;
        bool operator==(const Content &other) const { return *mask == *other.mask; }
    };
    struct ContentHash {
        std::size_t operator()(const Content &content) const { return content.hash; }
    };

    void fillTree(std::vector<std::int32_t> plain); ///< ids of tokens that are their bytes
    /// Calls `found` with each token that may come and the state behind it.
    template <typename Found>
    void eachNext(const TurnState &state, const Found &found) const;
    Known known(const Key &key) const;
    /// The state behind the longest token of the closing's next symbols.
    TurnState closingStep(const TurnState &state) const;

    TurnGrammar grammar_;
    std::int64_t vocabulary_;
    std::vector<std::string> bytes_; ///< by id; empty: not by its bytes
    std::vector<Symbol> symbols_;    ///< by id, of special tokens; 0: none
    std::array<std::int32_t, chat::specialTokens.size()> specials_{}; ///< ids; -1: not there
    std::vector<Node> nodes_;
    std::vector<std::int32_t> tokens_;
    std::size_t deepest_ = 0;        ///< bytes of the longest token
    std::optional<NameMasks> names_; ///< once the tokens' bytes are there

    mutable std::mutex mutex_;
    mutable std::unordered_map<Key, Known, KeyHash> masks_;
    mutable std::unordered_set<Content, ContentHash> different_; ///< of `masks_`
    mutable std::unordered_map<TurnState, std::int64_t, TurnStateHash> toEnd_;
};

} // namespace cuda_agent::learn
