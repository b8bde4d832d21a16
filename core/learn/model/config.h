// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <cstdint>

namespace cuda_agent::learn {

/// Sizes of a decoder-only Transformer of the Qwen3 family: a dense one without sliding windows and
/// without biases. Names in Hugging Face's config.json are those of `Qwen3Config`.
struct ModelConfig {
    std::int64_t vocabulary = 4096; ///< vocab_size
    std::int64_t hidden = 384;      ///< hidden_size
    std::int64_t layers = 8;        ///< num_hidden_layers
    std::int64_t heads = 6;         ///< num_attention_heads
    std::int64_t kvHeads = 6;       ///< num_key_value_heads
    std::int64_t headSize = 64;     ///< head_dim, even
    std::int64_t inner = 1024;      ///< intermediate_size
    std::int64_t positions = 2048;  ///< max_position_embeddings
    double ropeTheta = 10000;
    double epsilon = 1e-6;           ///< rms_norm_eps
    double initialRange = 0.02;      ///< initializer_range: standard deviation of drawn weights
    bool tied = true;                ///< tie_word_embeddings
    std::int64_t endOfText = 0;      ///< eos_token_id
    std::int64_t parameters() const; ///< how many numbers it has, tied ones once
    bool operator==(const ModelConfig &) const = default;
};

/// Reads the text of a config.json. Errors: request, naming the field that is missing, wrong, or of
/// a model that this is not.
Result<ModelConfig> modelConfigFrom(const Json &json);
/// The config.json with which `transformers` loads the model as Qwen3ForCausalLM.
Json toJson(const ModelConfig &config);
/// Errors: request: sizes that do not fit each other.
Result<void> check(const ModelConfig &config);

} // namespace cuda_agent::learn
