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
    /// Of model.safetensors; of shards, of the lines "SHA-256 NAME" of all in the names' order.
    std::string sha256;
};

/// Looks at the folder without loading the model. Reads the weights once for their hash: blocks for
/// about a second a gigabyte. Errors: request: no such folder, a file of the three is missing or
/// broken, or the tokenizer lacks a special token of our chat template.
Result<Weights> readWeights(const std::filesystem::path &folder);

/// `$CUDA_AGENT_WEIGHTS`, else the folder `weights` among the files that the program reads (a build
/// has training/weights there). May not exist.
std::filesystem::path defaultWeights();

} // namespace cuda_agent::policy
