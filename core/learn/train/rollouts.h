// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/suite.h"
#include "core/learn/rollout/collection.h"
#include "core/learn/run/run_writer.h"
#include "core/learn/train/recipe.h"
#include "core/learn/train/shuffle.h"

namespace cuda_agent::learn {

/// The tasks of a run and the policy's tries at them: what every stage but the first learns from.
/// One thread.
class Rollouts {
  public:
    /// Borrows all. Opens the set, which must have tasks to train on. `replay`: folder of another
    /// run whose kept trajectories are taken in place of tries; empty: none.
    /// Errors: request, machine.
    static Result<std::unique_ptr<Rollouts>> open(const TrainRecipe &recipe, RunWriter &run,
                                                  const Transformer &actor, Tokenizer tokenizer,
                                                  std::filesystem::path replay);

    /// The tries of step `step` of a stage of `steps` steps, `runStep` of the run: which tasks and
    /// what is drawn follows from the seed, the stage and the step. Some sessions stay in the
    /// run's folder. With `keep` the trajectories do, too, and are read in place of new tries when
    /// the same step is done again. Errors: stopped, machine.
    struct Wanted {
        std::string_view stage;
        std::int64_t step = 0, steps = 1, runStep = 0;
        Tries tries;
        bool curriculum = false, keep = false;
    };
    Result<Collected> play(const Wanted &wanted, const std::stop_token &stop);

    /// The recipe's scoring of the policy as it is: "val-core/SPLIT/..." and "val-aux/SPLIT/...".
    /// Errors: stopped, machine.
    Result<Metrics> score(std::int64_t runStep, const std::stop_token &stop);

    /// Where a step's trajectories are kept.
    static std::filesystem::path trajectoryFile(const std::filesystem::path &run,
                                                std::string_view stage, std::int64_t step);
    const device::Info &device() const { return device_; }

  private:
    Rollouts(const TrainRecipe &recipe, RunWriter &run, const Transformer &actor,
             Tokenizer tokenizer, JudgePool::Options judges, device::Info device);
    struct Try {
        const bench::SuiteTask *task = nullptr;
        std::int64_t group = 0;
        std::uint64_t seed = 0;
        std::string session;
    };
    Result<Collected> collected(const std::vector<Try> &tries, const std::filesystem::path &folder,
                                std::int64_t turns, double temperature,
                                const std::stop_token &stop);
    std::vector<const bench::SuiteTask *> chosen(const Wanted &wanted);
    /// Keeps the recipe's number of sessions and tells the run of them.
    Result<void> keepSessions(const Collected &collected, const std::filesystem::path &folder,
                              std::int64_t runStep);

    const TrainRecipe &recipe_;
    RunWriter &run_;
    const Transformer &actor_;
    const Tokenizer tokenizer_;
    const device::Info device_;
    JudgePool judges_;
    std::vector<bench::SuiteTask> train_;
    std::map<std::string, std::vector<bench::SuiteTask>> scored_; ///< by split
    std::filesystem::path replay_;
};

/// Rates, speed-ups, lengths, turns and failures of tries, by verl's names where it has them.
Metrics metricsOf(const Collected &collected);

} // namespace cuda_agent::learn
