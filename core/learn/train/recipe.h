// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/model/config.h"

#include <filesystem>
#include <string>
#include <vector>

namespace cuda_agent::learn {

/// What AdamW does with gradients, and by which learning rates.
struct OptimiserOptions {
    double learningRate = 1e-3; ///< the largest, reached after `warmUp` steps
    double finalShare = 0.1;    ///< of it, at the last step; a cosine leads there
    std::int64_t warmUp = 100;  ///< steps
    double weightDecay = 0.1;   ///< not for the weights of norms
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
    double clip = 1.0; ///< the gradients' L2 norm is brought down to this; 0: never
};

/// Rate of step `step` of `steps`, counted from 0: linear to the largest, then half a cosine.
double learningRate(const OptimiserOptions &options, std::int64_t step, std::int64_t steps);

/// The stage `pretrain`: a language model over documents of tasks, kernels, plans and tool calls.
struct PretrainOptions {
    std::int64_t steps = 1000;
    std::int64_t batch = 32;     ///< sequences a step
    std::int64_t microBatch = 0; ///< sequences that go through the model at once; 0: all
    double contextWeight = 1;    ///< of a token that the policy does not write itself, in the loss
    OptimiserOptions optimiser;
    std::int64_t validateEvery = 100, validationSequences = 64;
    std::int64_t checkpointEvery = 200;
};

/// A training run: a TOML file. Relative paths are seen from the file's folder.
struct TrainRecipe {
    std::string name;
    std::uint64_t seed = 1;
    std::string device = "auto";    ///< "auto", "cpu", "cuda"
    std::string precision = "auto"; ///< of the forward pass: "float32", "bfloat16"; auto: by device
    bool deterministic = true;      ///< the same bits for the same seed, at some cost on a GPU
    std::int64_t checkpointsKept = 3;

    ModelConfig model;               ///< its vocabulary and end of text come from the tokenizer
    std::filesystem::path corpus;    ///< corpus.jsonl.gz
    std::filesystem::path tokenizer; ///< a tokenizer.json; empty: one is trained on the corpus
    std::int64_t vocabulary = 4096;  ///< of that one
    std::int64_t context = 2048;     ///< tokens of a sequence
    std::vector<std::string> stages{"pretrain"};
    PretrainOptions pretrain;

    std::string text; ///< as it was read
};

/// Errors: request, one line that names the field.
Result<TrainRecipe> readTrainRecipe(const std::filesystem::path &file);

} // namespace cuda_agent::learn
