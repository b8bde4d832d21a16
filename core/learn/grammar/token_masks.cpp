// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/token_masks.h"

#include "core/tools/toolbox.h"

#include <algorithm>

namespace cuda_agent::learn {

namespace {

/// States whose way to the end is kept.
constexpr std::size_t mostWays = 1u << 20;
/// Of a state whose mask is kept, beside the mask: about.
constexpr std::size_t bytesOfState = 256;

} // namespace

Result<std::shared_ptr<const TokenMasks>>
TokenMasks::make(TurnGrammar grammar, const Tokenizer &tokenizer, std::int64_t vocabulary) {
    const auto size = static_cast<std::int64_t>(tokenizer.size());
    if (vocabulary < size)
        return requestError("the model has {} tokens, its tokenizer {}", vocabulary, size);
    std::shared_ptr<TokenMasks> masks(new TokenMasks(std::move(grammar), vocabulary));
    masks->bytes_.resize(tokenizer.size());
    masks->symbols_.resize(tokenizer.size());
    std::vector<bool> spelled(tokenizer.size(), true);
    for (const auto &added : tokenizer.addedTokens())
        if (added.special)
            spelled[static_cast<std::size_t>(added.id)] = false;
    for (const auto token : chat::specialTokens) {
        const auto id = tokenizer.id(token);
        // What the template does not ask of a policy need not be there.
        const bool needed = token == chat::imEnd || token == chat::toolCall ||
                            token == chat::toolCallEnd || token == chat::think ||
                            token == chat::thinkEnd;
        if (!id && needed)
            return requestError("the tokenizer lacks {}, which a turn's grammar needs", token);
        if (!id)
            continue;
        const auto symbol = TurnGrammar::special(token);
        spelled[static_cast<std::size_t>(*id)] = false;
        masks->symbols_[static_cast<std::size_t>(*id)] = symbol;
        masks->specials_[symbol - firstSpecial] = *id;
    }
    std::vector<std::int32_t> plain;
    for (std::size_t i = 0; i < tokenizer.size(); ++i) {
        const auto id = static_cast<std::int32_t>(i);
        if (!spelled[i] || tokenizer.bytes(id).empty())
            continue;
        masks->bytes_[i] = tokenizer.bytes(id);
        plain.push_back(id);
    }
    masks->fillTree(plain);
    masks->names_.emplace(masks->bytes_);
    return std::shared_ptr<const TokenMasks>(std::move(masks));
}

Result<std::shared_ptr<const TokenMasks>> TokenMasks::ofTools(const Tokenizer &tokenizer,
                                                              std::int64_t vocabulary) {
    CUDA_AGENT_ASSIGN(grammar, TurnGrammar::make(tools::toolSchemas()));
    return make(std::move(grammar), tokenizer, vocabulary);
}

void TokenMasks::fillTree(std::vector<std::int32_t> plain) {
    const auto bytes = [&](std::int32_t id) -> const std::string & {
        return bytes_[static_cast<std::size_t>(id)];
    };
    std::ranges::stable_sort(plain, {}, bytes);
    std::vector<std::uint32_t> open; // the nodes of the token before
    std::string_view before;
    for (const auto id : plain) {
        const std::string_view word = bytes(id);
        const auto same =
            static_cast<std::size_t>(std::ranges::mismatch(word, before).in1 - word.begin());
        for (; open.size() > same; open.pop_back())
            nodes_[open.back()].end = static_cast<std::uint32_t>(nodes_.size());
        for (auto depth = same; depth < word.size(); ++depth) {
            open.push_back(static_cast<std::uint32_t>(nodes_.size()));
            Node node;
            node.byte = static_cast<unsigned char>(word[depth]);
            node.depth = static_cast<std::uint32_t>(depth);
            node.firstToken = node.lastToken = static_cast<std::uint32_t>(tokens_.size());
            nodes_.push_back(node);
        }
        tokens_.push_back(id);
        nodes_[open.back()].lastToken = static_cast<std::uint32_t>(tokens_.size());
        deepest_ = std::max(deepest_, word.size());
        before = word;
    }
    for (const auto node : open)
        nodes_[node].end = static_cast<std::uint32_t>(nodes_.size());
}

std::optional<TurnState> TokenMasks::next(const TurnState &state, std::int32_t token) const {
    const auto id = static_cast<std::size_t>(token);
    if (token < 0 || id >= bytes_.size())
        return std::nullopt;
    if (symbols_[id] != 0)
        return grammar_.next(state, symbols_[id]);
    if (bytes_[id].empty())
        return std::nullopt;
    std::optional<TurnState> now = state;
    for (const unsigned char byte : bytes_[id])
        if (now = grammar_.next(*now, byte); !now)
            break;
    return now;
}

template <typename Found>
void TokenMasks::eachNext(const TurnState &state, const Found &found) const {
    for (std::size_t i = 0; i < specials_.size(); ++i)
        if (specials_[i] >= 0)
            if (const auto next = grammar_.next(state, static_cast<Symbol>(firstSpecial + i)))
                found(specials_[i], *next);
    std::vector<TurnState> path(deepest_ + 1);
    path[0] = state;
    for (std::size_t i = 0; i < nodes_.size();) {
        const auto &node = nodes_[i];
        const auto next = grammar_.next(path[node.depth], node.byte);
        if (!next) {
            i = node.end;
            continue;
        }
        path[node.depth + 1] = *next;
        for (auto token = node.firstToken; token < node.lastToken; ++token)
            found(tokens_[token], *next);
        ++i;
    }
}

TokenMasks::Mask TokenMasks::formed(const TurnState &state, std::int64_t room) const {
    const auto all = known({state, anyRoom});
    return room > all.most ? all.mask : known({state, room}).mask;
}

TokenMasks::Mask TokenMasks::allowed(const Writing &writing, std::int64_t room) const {
    return names_->narrowed(formed(writing.turn, room), writing);
}

Writing TokenMasks::behind(std::span<const std::int32_t> conversation) const {
    std::string text;
    for (const auto token : conversation)
        if (const auto id = static_cast<std::size_t>(token); token >= 0 && id < bytes_.size())
            text += bytes_[id];
    Writing writing;
    writing.plan = PlanNames(
        std::make_shared<const std::vector<chat::ToldParameter>>(chat::toldParameters(text)));
    return writing;
}

bool TokenMasks::take(Writing &writing, std::int32_t token) const {
    const auto turn = next(writing.turn, token);
    if (!turn)
        return false;
    writing.turn = *turn;
    const auto id = static_cast<std::size_t>(token);
    if (symbols_[id] == 0)
        names_->take(writing, bytes_[id]);
    return true;
}

TokenMasks::Known TokenMasks::known(const Key &key) const {
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = masks_.find(key); found != masks_.end())
            return found->second;
    }
    auto mask = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(vocabulary_));
    Known made;
    std::unordered_map<TurnState, std::int64_t, TurnStateHash> ways; // most tokens lead to few
    eachNext(key.state, [&](std::int32_t token, const TurnState &next) {
        const auto [way, fresh] = ways.try_emplace(next);
        if (fresh)
            way->second = leastToEnd(next);
        const auto least = way->second;
        if (least >= key.room)
            return;
        (*mask)[static_cast<std::size_t>(token)] = 1;
        made.most = std::max(made.most, least);
    });
    const auto hash =
        std::hash<std::string_view>()({reinterpret_cast<const char *>(mask->data()), mask->size()});
    const std::lock_guard lock(mutex_);
    if ((masks_.size() + 1) * bytesOfState +
            (different_.size() + 1) * static_cast<std::size_t>(vocabulary_) >
        mostKept) {
        masks_.clear();
        different_.clear();
    }
    made.mask = different_.insert({std::move(mask), hash}).first->mask;
    return masks_.emplace(key, made).first->second;
}

std::int64_t TokenMasks::leastToEnd(const TurnState &state) const {
    std::vector<TurnState> way;
    std::int64_t least = 0;
    for (auto now = state; now.place != TurnState::Place::end; now = closingStep(now)) {
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = toEnd_.find(now); found != toEnd_.end()) {
                least = found->second;
                break;
            }
        }
        way.push_back(now);
    }
    const std::lock_guard lock(mutex_);
    if (toEnd_.size() > mostWays)
        toEnd_.clear();
    for (; !way.empty(); way.pop_back())
        toEnd_[way.back()] = ++least;
    return least;
}

TurnState TokenMasks::closingStep(const TurnState &state) const {
    auto now = state, behind = state;
    std::size_t first = 0, last = nodes_.size(); // the nodes that go on from here
    for (;;) {
        const auto symbol = grammar_.closing(now);
        if (symbol >= firstSpecial)
            return now == state ? *grammar_.next(now, symbol) : behind;
        while (first < last && nodes_[first].byte != symbol)
            first = nodes_[first].end;
        if (first >= last)
            return behind;
        now = *grammar_.next(now, symbol);
        if (nodes_[first].firstToken < nodes_[first].lastToken)
            behind = now;
        last = nodes_[first].end;
        ++first;
    }
}

} // namespace cuda_agent::learn
