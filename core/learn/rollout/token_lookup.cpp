// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/rollout/token_lookup.h"

#include <algorithm>
#include <utility>

namespace cuda_agent::learn {

namespace {

using Tokens = std::span<const std::int32_t>;

constexpr std::size_t shortestEnd = 2, longestEnd = 16;
constexpr int mostCompared = 64; ///< places
constexpr std::size_t leastTrusted = 2, mostTrusted = 64;

std::uint64_t pairBefore(Tokens text, std::size_t place) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(text[place - 2])) << 32 |
           static_cast<std::uint32_t>(text[place - 1]);
}

/// Tokens before `place` of `text` that are those of the other's end.
std::size_t agreement(Tokens text, std::size_t place, Tokens other) {
    const auto most = std::min({longestEnd, place, other.size()});
    std::size_t same = 0;
    while (same < most && text[place - same - 1] == other[other.size() - same - 1])
        ++same;
    return same;
}

} // namespace

void TokenHistory::add(Tokens tokens) {
    const auto known = std::max(text_.size(), shortestEnd);
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    earlier_.resize(text_.size(), 0);
    for (auto place = known; place < text_.size(); ++place) // nothing stands behind the end yet
        earlier_[place] = std::exchange(last_[pairBefore(text_, place)], place);
}

TokenHistory::Match TokenHistory::longest(Tokens tokens) const {
    Match best;
    if (tokens.size() < shortestEnd)
        return best;
    const auto found = last_.find(pairBefore(tokens, tokens.size()));
    auto place = found == last_.end() ? 0 : found->second;
    for (int i = 0; i < mostCompared && place > 0 && best.length < longestEnd; ++i) {
        if (const auto same = agreement(text_, place, tokens); same > best.length)
            best = {place, same};
        place = earlier_[place];
    }
    return best;
}

std::vector<std::int32_t> TokenHistory::from(const Match &match, std::size_t most) const {
    if (match.length == 0)
        return {};
    const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(match.place);
    const auto count = std::min(most, text_.size() - match.place);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::vector<std::int32_t> TokenGuesses::behind(Tokens text, const TokenHistory &others,
                                               std::size_t most) {
    own_.add(text.subspan(own_.size()));
    const auto own = own_.longest(text), theirs = others.longest(text);
    const auto wanted = std::min(most, trusted_);
    return own.length >= theirs.length ? own_.from(own, wanted) : others.from(theirs, wanted);
}

void TokenGuesses::learn(std::size_t guessed, std::size_t right) {
    if (guessed > 0)
        trusted_ =
            std::clamp(right == guessed ? 2 * trusted_ : right + 1, leastTrusted, mostTrusted);
}

} // namespace cuda_agent::learn
