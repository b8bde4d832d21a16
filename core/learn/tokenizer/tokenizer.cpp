// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/tokenizer.h"

#include "core/base/plain_text.h"
#include "core/learn/tokenizer/byte_alphabet.h"
#include "core/learn/tokenizer/merges.h"
#include "core/learn/tokenizer/normalizer.h"
#include "core/learn/tokenizer/pre_tokenizer.h"

namespace cuda_agent::learn {

namespace {

/// Lets maps with keys of std::string be asked with a std::string_view.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};

} // namespace

struct Tokenizer::Tables {
    Definition definition;
    std::vector<std::string> bytes; ///< what decode() gives, by id
    std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>> ids;
    std::array<std::int32_t, 256> byteIds{};
    Merges merges;
    /// Words that are one token after all merges: most words of a text, and found at once.
    std::unordered_map<std::string_view, std::int32_t> whole;
    AddedTokenFinder asWritten;  ///< added tokens that are looked for in the text as it is
    AddedTokenFinder normalized; ///< and in the normalised text

    Result<void> fill(std::string_view what);
    Result<void> fillMerges(std::string_view what, std::vector<bool> &spelt);
    Result<void> fillAdded(std::string_view what, const std::vector<bool> &spelt);
    std::vector<std::int32_t> ofBytes(std::string_view word) const;
    void encodeWords(std::string_view text, std::vector<std::int32_t> &ids_) const;
};

Result<Tokenizer> Tokenizer::load(const std::filesystem::path &file) {
    CUDA_AGENT_ASSIGN(text, readTextFile(file));
    CUDA_AGENT_ASSIGN(definition, parseDefinition(text, file.string()));
    return make(std::move(definition), file.string());
}

Result<Tokenizer> Tokenizer::make(Definition definition, std::string_view what) {
    auto tables = std::make_shared<Tables>();
    tables->definition = std::move(definition);
    CUDA_AGENT_TRY(tables->fill(what));
    return Tokenizer(std::move(tables));
}

Result<void> Tokenizer::Tables::fill(std::string_view what) {
    const auto &vocabulary = definition.vocabulary;
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        ids.emplace(vocabulary[i], static_cast<std::int32_t>(i));
        // What is no spelling (an added token may stand in the vocabulary) is never made by merges.
        bytes.push_back(unspelled(vocabulary[i]).value_or(vocabulary[i]));
    }
    std::vector<bool> spelt(vocabulary.size()); // ids that plain text can come to
    for (std::size_t i = 0; i < 256; ++i) {
        const auto spelling = spelled(std::string(1, static_cast<char>(i)));
        const auto found = ids.find(spelling);
        if (found == ids.end())
            return requestError("{}: model.vocab lacks '{}', which stands for byte {}", what,
                                spelling, i);
        byteIds[i] = found->second;
        spelt[static_cast<std::size_t>(found->second)] = true;
    }
    CUDA_AGENT_TRY(fillMerges(what, spelt));
    CUDA_AGENT_TRY(fillAdded(what, spelt));
    for (std::size_t i = 0; i < spelt.size(); ++i)
        if (const auto id = static_cast<std::int32_t>(i);
            spelt[i] && ofBytes(bytes[i]) == std::vector{id})
            whole.emplace(bytes[i], id);
    return {};
}

Result<void> Tokenizer::Tables::fillMerges(std::string_view what, std::vector<bool> &spelt) {
    merges = Merges(definition.merges.size());
    for (std::size_t rank = 0; rank < definition.merges.size(); ++rank) {
        const auto [left, right] = definition.merges[rank];
        const auto &vocabulary = definition.vocabulary;
        const auto made = ids.find(vocabulary[static_cast<std::size_t>(left)] +
                                   vocabulary[static_cast<std::size_t>(right)]);
        if (made == ids.end())
            return requestError("{}: model.merges[{}] makes a token that model.vocab lacks", what,
                                rank);
        merges.insert(left, right, {static_cast<std::int32_t>(rank), made->second});
        spelt[static_cast<std::size_t>(made->second)] = true;
    }
    return {};
}

Result<void> Tokenizer::Tables::fillAdded(std::string_view what, const std::vector<bool> &spelt) {
    for (std::size_t i = 0; i < definition.added.size(); ++i) {
        const auto &token = definition.added[i];
        const auto next = static_cast<std::int32_t>(bytes.size());
        const auto [known, added] = ids.emplace(token.content, next);
        if (known->second != token.id)
            return requestError("{}: added_tokens[{}].id is {}, but the next free one, or that of "
                                "model.vocab, is {}",
                                what, i, token.id, known->second);
        if (token.special && !added && token.id < static_cast<std::int32_t>(spelt.size()) &&
            spelt[static_cast<std::size_t>(token.id)])
            return requestError("{}: the special token '{}' is one that plain text can make; take "
                                "one such as <|{}|>",
                                what, plainLine(token.content, 40), plainLine(token.content, 40));
        const auto sought = token.normalized && definition.nfc ? nfc(token.content) : token.content;
        if (added)
            bytes.push_back(sought);
        else
            bytes[static_cast<std::size_t>(token.id)] = sought;
        (token.normalized ? normalized : asWritten).add(sought, token);
    }
    return {};
}

std::vector<std::int32_t> Tokenizer::Tables::ofBytes(std::string_view word) const {
    std::vector<std::int32_t> symbols;
    symbols.reserve(word.size());
    for (const char byte : word)
        symbols.push_back(byteIds[static_cast<unsigned char>(byte)]);
    merges.apply(symbols);
    return symbols;
}

void Tokenizer::Tables::encodeWords(std::string_view text, std::vector<std::int32_t> &found) const {
    std::vector<std::int32_t> symbols;
    eachWord(text, [&](std::string_view word) {
        if (const auto known = whole.find(word); known != whole.end()) {
            found.push_back(known->second);
            return;
        }
        symbols.clear();
        for (const char byte : word)
            symbols.push_back(byteIds[static_cast<unsigned char>(byte)]);
        merges.apply(symbols);
        found.insert(found.end(), symbols.begin(), symbols.end());
    });
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, AddedTokens handling) const {
    const auto &tables = *tables_;
    std::vector<std::int32_t> ids;
    ids.reserve(text.size() / 3 + 1);
    const auto words = [&](std::string_view part, std::int32_t id) {
        if (id >= 0)
            ids.push_back(id);
        else
            tables.encodeWords(part, ids);
    };
    const auto normal = [&](std::string_view part, std::int32_t id) {
        if (id >= 0)
            ids.push_back(id);
        else if (tables.definition.nfc)
            tables.normalized.split(nfc(part), words);
        else
            tables.normalized.split(part, words);
    };
    if (handling == AddedTokens::recognised)
        tables.asWritten.split(text, normal);
    else if (tables.definition.nfc)
        tables.encodeWords(nfc(text), ids);
    else
        tables.encodeWords(text, ids);
    return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
    std::string text;
    for (const auto id : ids)
        text += bytes(id);
    return text;
}

std::string_view Tokenizer::bytes(std::int32_t id) const {
    return id >= 0 && static_cast<std::size_t>(id) < size()
               ? std::string_view(tables_->bytes[static_cast<std::size_t>(id)])
               : std::string_view();
}

std::optional<std::int32_t> Tokenizer::id(std::string_view token) const {
    const auto found = tables_->ids.find(token);
    return found == tables_->ids.end() ? std::nullopt : std::optional(found->second);
}

std::size_t Tokenizer::size() const {
    return tables_->bytes.size();
}

const std::vector<AddedToken> &Tokenizer::addedTokens() const {
    return tables_->definition.added;
}

const Definition &Tokenizer::definition() const {
    return tables_->definition;
}

Result<void> Tokenizer::save(const std::filesystem::path &file) const {
    return writeFileAtomically(file, definitionText(tables_->definition));
}

} // namespace cuda_agent::learn
