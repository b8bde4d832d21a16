// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/tokenizer/tokenizer.h"

namespace cuda_agent::learn {

struct TokenizerTraining {
    std::size_t vocabularySize = 8192; ///< special tokens and the 256 bytes included
    /// Their ids are 0 and on. A text that holds one is trained on as plain text.
    std::vector<std::string> specialTokens;
    std::int64_t minFrequency = 0; ///< a pair that occurs less often does not become a token
};

/// Learns a vocabulary by byte pair encoding (Sennrich, Haddow and Birch 2016): the pair of tokens
/// that is most frequent within words becomes one, of equally frequent ones that of the smaller
/// ids, until the vocabulary is full or no pair is left. Same texts in any order, same tokenizer;
/// it equals that of `tokenizers.trainers.BpeTrainer` with the initial alphabet of ByteLevel.
/// Blocks: seconds for tens of megabytes. Errors: request (no room for bytes and special tokens, a
/// special token that is empty, twice there or could be spelled by plain text).
Result<Tokenizer> trainTokenizer(std::span<const std::string> texts,
                                 const TokenizerTraining &training);

} // namespace cuda_agent::learn
