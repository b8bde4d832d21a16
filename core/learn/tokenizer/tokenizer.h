// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/tokenizer/definition.h"

#include <memory>
#include <optional>
#include <span>

namespace cuda_agent::learn {

/// How encode() takes added tokens that stand in a text.
enum class AddedTokens {
    recognised, ///< each is its id, as in Hugging Face's encode(); for text of our own
    asText,     ///< they are text like all else, so that text from outside cannot make one
};

/// Byte-level byte pair encoding: text to ids and back, equal to Hugging Face's `tokenizers` on
/// every UTF-8 text (encode(text, add_special_tokens=False)). Bytes that are no UTF-8, which that
/// library does not take, are words of their own. A cheap value: copies share their tables, which
/// never change, so any thread may call any member.
class Tokenizer {
  public:
    /// Reads a tokenizer.json (parseDefinition() says which). Blocks. Errors: request, one line.
    static Result<Tokenizer> load(const std::filesystem::path &file);
    /// Errors: request, where a byte has no token, a merge makes none, an added token's id is not
    /// the one that `tokenizers` would give, or plain text could make a special token. `what` names
    /// it there.
    static Result<Tokenizer> make(Definition definition, std::string_view what);

    /// Writes a tokenizer.json, which `tokenizers` and `transformers` read. Errors: machine.
    Result<void> save(const std::filesystem::path &file) const;

    /// The ids of any bytes; nothing is put before or behind them, and nothing is cut. Time grows
    /// as n log n at most.
    std::vector<std::int32_t> encode(std::string_view text,
                                     AddedTokens handling = AddedTokens::recognised) const;

    /// The bytes of `ids`, one after another: decoding a part at a time gives the same bytes, where
    /// a character may be cut. An id that has no token (a model's table may be larger) gives none.
    std::string decode(std::span<const std::int32_t> ids) const;
    /// The bytes of one token, of an added one its content; valid as long as this object or a copy.
    std::string_view bytes(std::int32_t id) const;

    /// The id of an added token by its content, or of one of the vocabulary by its spelling.
    std::optional<std::int32_t> id(std::string_view token) const;
    /// The number of ids, added tokens included: they are 0 to size() - 1.
    std::size_t size() const;
    const std::vector<AddedToken> &addedTokens() const;
    const Definition &definition() const;

  private:
    struct Tables;
    explicit Tokenizer(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}
    std::shared_ptr<const Tables> tables_;
};

} // namespace cuda_agent::learn
