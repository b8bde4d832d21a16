// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/run_writer.h"
#include "core/learn/tokenizer/tokenizer.h"
#include "core/learn/train/checkpoint.h"
#include "core/learn/train/optimiser.h"
#include "core/learn/train/processes.h"
#include "core/learn/train/rollouts.h"
#include "core/learn/train/token_set.h"

namespace cuda_agent::learn {

/// What a stage is given: borrowed, for as long as it runs.
struct StageInput {
    const TrainRecipe &recipe;
    RunWriter *run; ///< null but in the first of several processes
    Processes &processes;
    Transformer &actor;
    std::optional<Transformer> &critic;  ///< nothing before a stage has needed one
    Rollouts *rollouts;                  ///< null where the recipe has none
    const TokenSet &train, &validation;  ///< of the corpus; empty where no stage needs them
    std::filesystem::path tokenizerFile; ///< kept with every checkpoint
    std::int64_t firstStep = 0;          ///< steps of the run before the stage's first
    bool last = true;                    ///< no stage follows
    double seconds = 0;                  ///< of training in the stages before
    std::int64_t tokens = 0;             ///< that they have trained on
};

/// How a stage ended.
enum class StageEnd { done, stopped };

/// The loop that all stages share: steps, requests to pause and stop, the status, checkpoints, and
/// the score at the end (before a run's first step, too, where the recipe has it so). One thread.
class Stage {
  public:
    virtual ~Stage() = default;
    /// From a checkpoint of this stage, if there is one, to the last step or a request to stop,
    /// with a checkpoint there. Blocks. Errors: request (a checkpoint of another model), machine,
    /// failed (training diverged; the last checkpoint stays).
    Result<StageEnd> go(const std::optional<Checkpoint> &from, const std::stop_token &stop);

    /// Of the run so far, the stages before counted in.
    double seconds() const { return before_ + seconds_; }
    std::int64_t tokens() const { return tokens_; }

  protected:
    /// `seconds`: no step is begun after so much training in this stage; 0: no limit.
    Stage(const StageInput &input, std::string_view name, std::int64_t steps,
          std::int64_t checkpointEvery, double seconds = 0);

    /// The stage's own part of a step: changes weights, or collects. `done_` are done before it.
    /// Errors: besides others stopped, with nothing changed since the step before.
    virtual Result<void> step(const std::stop_token &stop) = 0;
    /// What actor and critic are not: into a checkpoint's folder, and out of it.
    virtual Result<void> save(const std::filesystem::path &folder) const = 0;
    virtual Result<void> restore(const Checkpoint &checkpoint) = 0;
    /// Into the manifest, besides what all stages have.
    virtual Json state() const { return Json::object(); }

    /// A row of metrics at the step that was done last.
    Result<void> log(const Metrics &metrics);
    /// Saves or reads an optimiser as a file of a checkpoint.
    static Result<void> saveOptimiser(const std::filesystem::path &file,
                                      const Optimiser &optimiser);
    static Result<void> restoreOptimiser(const std::filesystem::path &file, Optimiser &optimiser);
    /// Errors: failed, where the loss of the step after `done_` is not finite.
    Result<void> checkFinite(double loss) const;

    const StageInput &input_;
    const std::string name_;
    std::int64_t steps_;      ///< fewer where a stage finds that it needs no more
    std::int64_t done_ = 0;   ///< steps of the stage
    std::int64_t tokens_ = 0; ///< that the run has trained on

  private:
    /// Has the policy scored as it is, and logs that.
    Result<StageEnd> score(const std::stop_token &stop);
    Result<void> writeCheckpointNow(bool scored);
    Result<void> tell();
    /// Whether its last step is done, or its time is up; the same in all processes.
    bool isDone();

    const std::int64_t checkpointEvery_;
    const double mostSeconds_;
    std::int64_t saved_ = -1; ///< `done_` at the last checkpoint
    double before_ = 0;       ///< seconds of training before this stage
    double seconds_ = 0;      ///< of this one, over all starts
};

} // namespace cuda_agent::learn
