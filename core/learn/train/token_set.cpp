// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/token_set.h"

#include "core/base/parallel.h"
#include "core/learn/train/shuffle.h"

namespace cuda_agent::learn {

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
    : set_(set), context_(context),
      size_(
          std::max<std::int64_t>(1, (static_cast<std::int64_t>(set.tokens.size()) - 1) / context)),
      seed_(seed) {}

std::int64_t Sequences::begin(std::int64_t at) {
    if (const auto epoch = at / size_; epoch != epoch_) {
        epoch_ = epoch;
        auto random = randomOf({seed_, static_cast<std::uint64_t>(epoch)});
        const auto spare = static_cast<std::int64_t>(set_.tokens.size()) - 1 - size_ * context_;
        offset_ = spare > 0
                      ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spare + 1))
                      : 0;
        order_ = shuffled(size_, random);
    }
    return offset_ + order_[static_cast<std::size_t>(at % size_)] * context_;
}

} // namespace cuda_agent::learn
