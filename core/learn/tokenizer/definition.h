// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/learn/tokenizer/added_tokens.h"

#include <array>

namespace cuda_agent::learn {

/// What a Hugging Face tokenizer.json of a byte-level BPE says, as far as it bears on the tokens.
struct Definition {
    std::vector<std::string> vocabulary; ///< spelled in the byte alphabet; the index is the id
    std::vector<std::array<std::int32_t, 2>> merges; ///< pairs of ids, the first merges first
    std::vector<AddedToken> added;                   ///< by ascending id
    bool nfc = false;                                ///< text is put into normal form C first
    /// Parts that say nothing about the ids of plain text, as the file has them. What
    /// `transformers` was last asked to cut and to fill stands in a file too; it does neither
    /// unless asked again.
    Json truncation;
    Json padding;
    Json preTokenizer = defaultPreTokenizer();
    Json postProcessor;
    Json decoder = defaultByteLevel();

    static Json defaultPreTokenizer(); ///< words of `wordPattern`, then the byte alphabet
    static Json defaultByteLevel();
};

/// Reads the text of a tokenizer.json; `what` names it in errors. Takes: model BPE (merges as pairs
/// or as "a b"), pre-tokenizer Split by the pattern of Qwen2 and Qwen3 and then ByteLevel,
/// normalizer NFC or none, decoder ByteLevel; any post-processor, truncation and padding, which do
/// not act on what encode() does. Errors: request, one line that names the field, for everything
/// else that would change a token.
Result<Definition> parseDefinition(std::string_view text, std::string_view what);

/// The text of a tokenizer.json, an entry of the vocabulary and a merge a line. The same bytes for
/// the same definition.
std::string definitionText(const Definition &definition);

} // namespace cuda_agent::learn
