// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/token_set.h"

#include "core/base/parallel.h"
#include "core/learn/train/shuffle.h"

#include <algorithm>
#include <deque>

namespace cuda_agent::learn {

namespace {

/// Stretches that are looked through for those that fit into what is left of a sequence.
constexpr std::size_t lookAhead = 64;

} // namespace

Result<TokenSet> tokensOf(const std::vector<Document> &documents, const std::string &split,
                          const Tokenizer &tokenizer, std::int32_t end,
                          const std::stop_token &stop) {
    std::vector<const Document *> chosen;
    for (const auto &document : documents)
        if (document.split == split)
            chosen.push_back(&document);
    using Encoded = std::vector<std::vector<std::int32_t>>; // of each segment
    CUDA_AGENT_ASSIGN(
        encoded, parallelResults<Encoded>(chosen.size(), 0, [&](std::size_t i) -> Result<Encoded> {
            if (stop.stop_requested())
                return stoppedError();
            Encoded segments;
            for (const auto &segment : chosen[i]->segments)
                segments.push_back(tokenizer.encode(segment.text));
            return segments;
        }));
    TokenSet set;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        set.begins.push_back(static_cast<std::int64_t>(set.tokens.size()));
        for (std::size_t j = 0; j < encoded[i].size(); ++j) {
            set.tokens.insert(set.tokens.end(), encoded[i][j].begin(), encoded[i][j].end());
            set.byPolicy.insert(set.byPolicy.end(), encoded[i][j].size(),
                                chosen[i]->segments[j].by == chat::Author::policy ? 1 : 0);
        }
        set.tokens.push_back(end);
        set.byPolicy.push_back(0); // the environment ends a document
    }
    return set;
}

Sequences::Sequences(const TokenSet &set, std::int64_t context, std::uint64_t seed)
    : set_(set), context_(context), seed_(seed) {
    for (std::size_t i = 0; i < set.begins.size(); ++i) {
        const auto end = i + 1 < set.begins.size() ? set.begins[i + 1]
                                                   : static_cast<std::int64_t>(set.tokens.size());
        for (auto begin = set.begins[i]; begin + 1 < end; begin += context)
            stretches_.push_back({begin, std::min(context + 1, end - begin)});
    }
}

void Sequences::pack(std::int64_t epoch) {
    epoch_ = epoch;
    sequences_.clear();
    auto random = randomOf({seed_, static_cast<std::uint64_t>(epoch)});
    const auto order = shuffled(static_cast<std::int64_t>(stretches_.size()), random);
    std::deque<Stretch> waiting;
    std::size_t next = 0;
    const auto refill = [&] {
        while (waiting.size() < lookAhead && next < order.size())
            waiting.push_back(stretches_[static_cast<std::size_t>(order[next++])]);
    };
    for (refill(); !waiting.empty(); refill()) {
        auto &sequence = sequences_.emplace_back();
        auto room = context_ + 1;
        for (auto each = waiting.begin(); each != waiting.end();) {
            if (each->size > room) {
                ++each;
                continue;
            }
            room -= each->size;
            sequence.push_back(*each);
            each = waiting.erase(each);
        }
    }
}

const std::vector<Stretch> &Sequences::at(std::int64_t at) {
    for (std::int64_t epoch = 0;; ++epoch) {
        const auto known = static_cast<std::int64_t>(ends_.size());
        if (epoch == known) {
            pack(epoch);
            ends_.push_back((known > 0 ? ends_.back() : 0) +
                            static_cast<std::int64_t>(sequences_.size()));
        }
        const auto index = static_cast<std::size_t>(epoch);
        if (at >= ends_[index])
            continue;
        if (epoch_ != epoch)
            pack(epoch);
        return sequences_[static_cast<std::size_t>(at - (epoch > 0 ? ends_[index - 1] : 0))];
    }
}

std::int64_t Sequences::size() {
    at(0);
    return ends_.front();
}

} // namespace cuda_agent::learn
