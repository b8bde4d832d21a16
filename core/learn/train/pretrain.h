// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/run_writer.h"
#include "core/learn/train/adamw.h"
#include "core/learn/train/checkpoint.h"
#include "core/learn/train/token_set.h"

namespace cuda_agent::learn {

/// Sum over tokens of weight times cross-entropy: `logits` [batch, length, vocabulary], `targets`
/// [batch, length] of int64, `weights` [batch, length] of float -> a scalar of float.
at::Tensor weightedCrossEntropy(const at::Tensor &logits, const at::Tensor &targets,
                                const at::Tensor &weights);

/// What a stage is given: borrowed, for as long as it runs.
struct StageInput {
    const TrainRecipe &recipe;
    RunWriter &run;
    const TokenSet &train, &validation;  ///< the second may be empty
    std::filesystem::path tokenizerFile; ///< kept with every checkpoint
};

/// How a stage ended.
enum class StageEnd { done, stopped };

/// The stage `pretrain` from the checkpoint, if there is one, to its last step or a request to
/// stop, and writes a checkpoint there. One thread; blocks. Errors: request (a checkpoint of
/// another model), machine, failed (the loss is no longer finite; the last checkpoint stays).
Result<StageEnd> pretrain(const StageInput &input, Transformer &actor,
                          const std::optional<Checkpoint> &from, const std::stop_token &stop);

} // namespace cuda_agent::learn
