// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/token_set.h"

#include "core/base/gzip.h"
#include "core/base/json.h"
#include "core/base/parallel.h"

#include <numeric>
#include <random>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t largestCorpus = std::size_t{8} << 30; ///< bytes of text

Result<Document> documentFrom(const Json &json) {
    Document document;
    const auto split = json.find("split"), segments = json.find("segments");
    if (split == json.end() || !split->is_string() || segments == json.end() ||
        !segments->is_array())
        return requestError("a document needs a split and segments");
    document.split = *split;
    for (const auto &segment : *segments) {
        const auto by = segment.find("by"), text = segment.find("text");
        if (by == segment.end() || text == segment.end() || !text->is_string() ||
            (*by != "policy" && *by != "context"))
            return requestError("a segment needs a text, and to be by \"context\" or \"policy\"");
        document.segments.push_back(
            {*by == "policy" ? Author::policy : Author::context, text->get<std::string>()});
    }
    return document;
}

} // namespace

Result<std::vector<Document>> readCorpus(const std::filesystem::path &file) {
    CUDA_AGENT_ASSIGN(text, readGzipFile(file, largestCorpus));
    std::vector<Document> documents;
    std::size_t line = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        const auto place = fmt::format("{}:{}", file.string(), ++line);
        CUDA_AGENT_ASSIGN(json,
                          parseJson(std::string_view(text).substr(begin, end - begin), place));
        auto document = documentFrom(json);
        if (!document)
            return requestError("{}: {}", place, document.error().message);
        documents.push_back(std::move(*document));
        begin = end + 1;
    }
    if (documents.empty())
        return requestError("{}: holds no documents", file.string());
    return documents;
}

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
                                chosen[i]->segments[j].by == Author::policy ? 1 : 0);
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
        // std::shuffle and distributions differ among libraries; this is the same everywhere.
        std::seed_seq seeds{seed_, static_cast<std::uint64_t>(epoch)};
        std::mt19937_64 random(seeds);
        const auto spare = static_cast<std::int64_t>(set_.tokens.size()) - 1 - size_ * context_;
        offset_ = spare > 0
                      ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spare + 1))
                      : 0;
        order_.resize(static_cast<std::size_t>(size_));
        std::iota(order_.begin(), order_.end(), 0);
        for (auto i = order_.size(); i > 1; --i)
            std::swap(order_[i - 1], order_[random() % i]);
    }
    return offset_ + order_[static_cast<std::size_t>(at % size_)] * context_;
}

} // namespace cuda_agent::learn
