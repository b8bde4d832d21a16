// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

namespace cuda_agent::policy {

/// A folder of weights that a session may be held with: Hugging Face's config.json,
/// model.safetensors (or its shards) and tokenizer.json.
struct Weights {
    std::filesystem::path folder; ///< absolute
    std::string name;             ///< the folder's, of a checkpoint's "actor" the checkpoint's
    std::uintmax_t bytes = 0;     ///< of model.safetensors, or of all shards
    std::int64_t vocabulary = 0;  ///< tokens, by config.json; 0: it does not say
    /// Of model.safetensors; of shards, of the lines "SHA-256 NAME" of all in the names' order.
    /// Empty where nobody has read them.
    std::string sha256;
};

/// Looks at the folder and reads all but the weights themselves, so there is no hash. Blocks for
/// less than a second. Errors: as readWeights().
Result<Weights> findWeights(const std::filesystem::path &folder);

/// The same with the hash, without loading the model. Reads the weights once: blocks for about a
/// second a gigabyte. Errors: request: no such folder, a file of the three is missing or broken, or
/// the tokenizer lacks a special token of our chat template.
Result<Weights> readWeights(const std::filesystem::path &folder);

/// `$CUDA_AGENT_WEIGHTS`, else the folder `weights` among the files that the program reads (a build
/// has training/weights there). May not exist.
std::filesystem::path defaultWeights();

} // namespace cuda_agent::policy
