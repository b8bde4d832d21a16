// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/run_files.h"
#include "core/learn/train/recipe.h"

#include <functional>
#include <stop_token>

namespace cuda_agent::learn {

struct TrainRequest {
    TrainRecipe recipe;
    std::filesystem::path folder; ///< of the run
    bool resume = false;          ///< goes on with the run that is there, from its last checkpoint
    double seconds = 0;           ///< stops after so many, with a checkpoint; 0: no limit
    int threads = 0;              ///< of PyTorch on the CPU; 0: as it likes
    /// A run whose kept trajectories are learned from in place of new tries; empty: none.
    std::filesystem::path replay;
};

/// How a run ended, and where its last checkpoint lies.
struct TrainResult {
    bool done = false; ///< all stages; else it was stopped, and can go on
    std::int64_t step = 0;
    std::filesystem::path checkpoint;
    bool first = true; ///< of several processes the one that tells
};

/// Runs a recipe's stages: the tokenizer, the tokens of the corpus, the model, then stage by stage.
/// A folder of a run, see core/learn/run/README.md, holds besides `tokenizer.json`, and in each
/// checkpoint `actor/` and, once there is one, `critic/` (Hugging Face folders) and the stage's
/// optimisers; `trajectories/STAGE/` what supervised stages learn from.
/// Started by torchrun, several processes share each step of every stage: the batch, or the tries
/// and the update; the first one writes the run. `note` is told lines for whoever watches. Blocks;
/// PyTorch's threads are the process's. Errors: request, machine (out of memory, ...), failed
/// (training diverged). Besides, status.json tells them.
Result<TrainResult> train(const TrainRequest &request,
                          const std::function<void(const std::string &)> &note,
                          const std::stop_token &stop);

} // namespace cuda_agent::learn
