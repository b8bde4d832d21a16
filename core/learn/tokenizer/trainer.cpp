// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/trainer.h"

#include "core/learn/tokenizer/byte_alphabet.h"
#include "core/learn/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace cuda_agent::learn {

namespace {

using Id = std::int32_t;

struct Pair {
    Id left = 0;
    Id right = 0;
    auto operator<=>(const Pair &) const = default;
};

struct PairHash {
    std::size_t operator()(const Pair &pair) const {
        const auto both = static_cast<std::uint64_t>(static_cast<std::uint32_t>(pair.left)) << 32 |
                          static_cast<std::uint32_t>(pair.right);
        return static_cast<std::size_t>(both * 0x9e3779b97f4a7c15U >> 16);
    }
};

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};

struct Word {
    std::vector<Id> symbols;
    std::int64_t count = 0;
};

/// A pair that waits for its turn, with the count it had and the words it was in when it was put
/// there.
struct Waiting {
    std::int64_t count = 0;
    Pair pair;
    std::vector<std::size_t> words;
    /// For a heap whose top merges next.
    bool operator<(const Waiting &other) const {
        return count != other.count ? count < other.count : other.pair < pair;
    }
};

class Training {
  public:
    Training(std::vector<std::string> vocabulary, std::vector<Word> words)
        : vocabulary_(std::move(vocabulary)), words_(std::move(words)) {
        for (std::size_t id = 0; id < vocabulary_.size(); ++id)
            ids_.emplace(vocabulary_[id], static_cast<Id>(id));
        for (std::size_t word = 0; word < words_.size(); ++word) {
            const auto &symbols = words_[word].symbols;
            for (std::size_t i = 0; i + 1 < symbols.size(); ++i)
                change({symbols[i], symbols[i + 1]}, 1, word);
        }
        enqueue();
    }

    void run(std::size_t size, std::int64_t minFrequency) {
        while (vocabulary_.size() < size && !queue_.empty()) {
            std::pop_heap(queue_.begin(), queue_.end());
            auto top = std::move(queue_.back());
            queue_.pop_back();
            if (const auto count = counts_[top.pair]; top.count != count) {
                top.count = count; // merges of its neighbours took some away
                push(std::move(top));
                continue;
            }
            if (top.count < std::max<std::int64_t>(minFrequency, 1))
                break;
            const auto id = token(top.pair);
            merges_.push_back(top.pair);
            for (const auto word : top.words)
                merge(word, top.pair, id);
            enqueue();
        }
    }

    Definition definition() && {
        Definition made;
        made.vocabulary = std::move(vocabulary_);
        // Two merges can make one token, and a pair with it come up again: the later place counts.
        std::unordered_map<Pair, std::size_t, PairHash> last;
        for (std::size_t i = 0; i < merges_.size(); ++i)
            last[merges_[i]] = i;
        for (std::size_t i = 0; i < merges_.size(); ++i)
            if (last[merges_[i]] == i)
                made.merges.push_back({merges_[i].left, merges_[i].right});
        return made;
    }

  private:
    void push(Waiting waiting) {
        queue_.push_back(std::move(waiting));
        std::push_heap(queue_.begin(), queue_.end());
    }

    /// Words come in order, so that the last one says whether this one is noted.
    void change(Pair pair, std::int64_t by, std::size_t word) {
        counts_[pair] += by * words_[word].count;
        if (by < 0)
            return;
        auto &where = found_[pair];
        if (where.empty() || where.back() != word)
            where.push_back(word);
    }

    void enqueue() {
        for (auto &[pair, words] : found_)
            if (const auto count = counts_[pair]; count > 0)
                push({count, pair, std::move(words)});
        found_.clear();
    }

    Id token(Pair pair) {
        auto text = vocabulary_[static_cast<std::size_t>(pair.left)] +
                    vocabulary_[static_cast<std::size_t>(pair.right)];
        const auto [entry, added] = ids_.emplace(text, static_cast<Id>(vocabulary_.size()));
        if (added)
            vocabulary_.push_back(std::move(text));
        return entry->second;
    }

    void merge(std::size_t word, Pair pair, Id id) {
        auto &symbols = words_[word].symbols;
        std::size_t to = 0;
        for (std::size_t from = 0; from < symbols.size(); ++from, ++to) {
            if (from + 1 == symbols.size() || symbols[from] != pair.left ||
                symbols[from + 1] != pair.right) {
                symbols[to] = symbols[from];
                continue;
            }
            if (to > 0) {
                change({symbols[to - 1], pair.left}, -1, word);
                change({symbols[to - 1], id}, 1, word);
            }
            if (from + 2 < symbols.size()) {
                change({pair.right, symbols[from + 2]}, -1, word);
                change({id, symbols[from + 2]}, 1, word);
            }
            symbols[to] = id;
            ++from;
        }
        symbols.resize(to);
    }

    std::vector<std::string> vocabulary_; ///< spelled
    std::unordered_map<std::string, Id> ids_;
    std::vector<Word> words_;
    std::unordered_map<Pair, std::int64_t, PairHash> counts_;
    std::unordered_map<Pair, std::vector<std::size_t>, PairHash>
        found_;                  ///< since the last enqueue()
    std::vector<Waiting> queue_; ///< a heap
    std::vector<Pair> merges_;
};

/// The different words of the texts with their counts; words of one byte merge with nothing.
std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>
countWords(std::span<const std::string> texts) {
    std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>> counts;
    for (const auto &text : texts)
        eachWord(text, [&](std::string_view word) {
            if (word.size() < 2)
                return;
            if (const auto known = counts.find(word); known != counts.end())
                ++known->second;
            else
                counts.emplace(word, 1);
        });
    return counts;
}

} // namespace

Result<Tokenizer> trainTokenizer(std::span<const std::string> texts,
                                 const TokenizerTraining &training) {
    std::vector<std::string> vocabulary;
    for (const auto &token : training.specialTokens) {
        if (token.empty())
            return requestError("a special token is empty");
        if (std::find(vocabulary.begin(), vocabulary.end(), token) != vocabulary.end())
            return requestError("the special token '{}' is there twice", token);
        vocabulary.push_back(token);
    }
    // As `tokenizers` orders them: by code point, not by byte. UTF-8 sorts alike.
    std::vector<std::string> characters;
    for (int byte = 0; byte < 256; ++byte)
        characters.push_back(spelled(std::string(1, static_cast<char>(byte))));
    std::sort(characters.begin(), characters.end());
    for (auto &character : characters)
        if (std::find(vocabulary.begin(), vocabulary.end(), character) == vocabulary.end())
            vocabulary.push_back(std::move(character));
    if (vocabulary.size() > training.vocabularySize)
        return requestError("a vocabulary of {} has no room for 256 bytes and {} special tokens",
                            training.vocabularySize, training.specialTokens.size());

    std::unordered_map<std::string, Id> ids;
    for (std::size_t id = 0; id < vocabulary.size(); ++id)
        ids.emplace(vocabulary[id], static_cast<Id>(id));
    std::array<Id, 256> byteIds{};
    for (std::size_t byte = 0; byte < 256; ++byte)
        byteIds[byte] = ids.at(spelled(std::string(1, static_cast<char>(byte))));
    std::vector<Word> words;
    // In one order, whatever that of the texts is.
    const auto counts = countWords(texts);
    for (const auto &[text, count] :
         std::map<std::string_view, std::int64_t>(counts.begin(), counts.end())) {
        words.push_back({{}, count});
        for (const char byte : text)
            words.back().symbols.push_back(byteIds[static_cast<unsigned char>(byte)]);
    }
    Training run(std::move(vocabulary), std::move(words));
    run.run(training.vocabularySize, training.minFrequency);

    auto definition = std::move(run).definition();
    for (std::size_t i = 0; i < training.specialTokens.size(); ++i)
        definition.added.push_back(
            {static_cast<Id>(i), training.specialTokens[i], true, false, false, false});
    return Tokenizer::make(std::move(definition), "the trained tokenizer");
}

} // namespace cuda_agent::learn
