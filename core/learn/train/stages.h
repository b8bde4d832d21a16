// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/train/stage.h"

namespace cuda_agent::learn {

// The stages of a recipe. Each borrows its input for as long as it lives.

/// `pretrain`: a language model over the corpus's documents.
std::unique_ptr<Stage> makePretrain(const StageInput &input);
/// `rft`: rounds of tries of the policy as it is, then updates on those that are good enough, as
/// if they were documents: the mean loss of the policy's own tokens (the warm-up's end in the
/// published recipe). Errors besides: failed: none was good enough.
std::unique_ptr<Stage> makeRft(const StageInput &input);
/// `value-pretrain`: rounds of tries, then updates of the critic towards what each came to
/// (VC-PPO, arXiv 2503.01491). The actor stays as it is.
std::unique_ptr<Stage> makeValuePretrain(const StageInput &input);
/// `single-turn-ppo` and `agentic-ppo`, by name.
std::unique_ptr<Stage> makePpo(const StageInput &input, std::string_view name,
                               const PpoStageOptions &options);

/// The critic, which begins as the actor with a head that says the middle of all values.
Transformer &criticOf(const StageInput &input);

/// The places of trajectories that rejection fine-tuning keeps, by `options`.
std::vector<std::size_t> goodOnes(const std::vector<Trajectory> &trajectories,
                                  const RftOptions &options);

} // namespace cuda_agent::learn
