// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/suite.h"
#include "core/learn/rollout/collection.h"
#include "core/learn/run/run_writer.h"
#include "core/learn/train/exemplars.h"
#include "core/learn/train/processes.h"
#include "core/learn/train/recipe.h"
#include "core/learn/train/rollout_metrics.h"
#include "core/learn/train/shuffle.h"

namespace cuda_agent::learn {

/// The tasks of a run and the policy's tries at them: what every stage but the first learns from.
/// One thread.
class Rollouts {
  public:
    /// What they go by; references are borrowed.
    struct Setting {
        const TrainRecipe &recipe;
        std::filesystem::path folder; ///< of the run
        RunWriter *run;               ///< null but in the first of several processes
        Processes &processes;
        const Transformer &actor;
        Tokenizer tokenizer;
        /// Folder of another run whose kept trajectories are taken in place of tries; empty: none.
        std::filesystem::path replay;
    };
    /// Opens the set, which must have tasks to train on. Errors: request, machine.
    static Result<std::unique_ptr<Rollouts>> open(Setting setting);

    /// The tries of step `step` of a stage of `steps` steps, `runStep` of the run: which tasks and
    /// what is drawn follows from the seed, the stage and the step. Some sessions stay in the
    /// run's folder. With `keep` the trajectories do, too, and are read in place of new tries when
    /// the same step is done again. Several processes each play a share of the tries, whole tasks
    /// where there are enough, and all are given all trajectories. Errors: stopped, machine (not
    /// one try came to its end).
    struct Wanted {
        std::string_view stage;
        std::int64_t step = 0, steps = 1, runStep = 0;
        Tries tries;
        std::int64_t exemplars = 0; ///< earlier candidates that a prompt shows, at most
        bool curriculum = false, keep = false;
    };
    Result<Collected> play(const Wanted &wanted, const std::stop_token &stop);

    /// The recipe's scoring of the policy as it is: "val-core/SPLIT/..." and
    /// "val-aux/SPLIT/...", and "val-aux/all/env/..." over all splits.
    /// Where the recipe names a corpus that is there, what was remembered of it is told apart.
    /// Errors: stopped, machine, request (the corpus cannot be read).
    Result<Metrics> score(std::int64_t runStep, const std::stop_token &stop);

    /// What earlier steps leave for later ones, as files of a checkpoint. Errors: request, machine.
    Result<void> save(const std::filesystem::path &folder) const { return exemplars_.save(folder); }
    Result<void> restore(const std::filesystem::path &folder) { return exemplars_.restore(folder); }

    /// Where a step's trajectories are kept.
    static std::filesystem::path trajectoryFile(const std::filesystem::path &run,
                                                std::string_view stage, std::int64_t step);
    const device::Info &device() const { return device_; }
    /// What turns are drawn by, where the recipe has it so.
    TurnMasks masks() const { return {grammar_, recipe_.rollout.longestTurn, recipe_.context}; }

  private:
    Rollouts(Setting setting, device::Info device);
    struct Try {
        const bench::SuiteTask *task = nullptr;
        std::int64_t group = 0;
        std::uint64_t seed = 0;
        std::string session;
        std::vector<chat::Exemplar> exemplars = {};
    };
    Result<Collected> played(const Wanted &wanted, const std::filesystem::path &kept,
                             const std::stop_token &stop);
    /// The tries of all processes.
    Result<Collected> collected(const std::vector<Try> &tries, const std::filesystem::path &folder,
                                std::int64_t turns, const Sampling &sampling,
                                const std::stop_token &stop);
    /// Those of this one, `places` among all.
    Result<Collected> collectedHere(const std::vector<Try> &tries,
                                    const std::vector<std::int64_t> &places,
                                    const std::filesystem::path &folder, std::int64_t turns,
                                    const Sampling &sampling, const std::stop_token &stop);
    std::vector<const bench::SuiteTask *> chosen(const Wanted &wanted) const;
    /// Has the judges of these tasks, then those of the step after, prepared as there is time.
    Result<void> prepareAhead(const std::vector<const bench::SuiteTask *> &tasks, Wanted next);
    /// Tries of one task share its judge: whole tasks go to a process, where there are enough, and
    /// a task goes to the same one each time.
    bool sharesWholeTasks(std::size_t tasks) const;
    /// Of a task among those of its split.
    std::size_t placeOf(const bench::SuiteTask &task) const;
    /// Whether the task, or else the try, of that number is this process's.
    bool isMine(std::size_t number) const;
    /// Keeps the recipe's number of sessions and tells the run of them.
    Result<void> keepSessions(const Collected &collected, const std::filesystem::path &folder,
                              std::int64_t runStep);

    /// Once, where there is a corpus.
    Result<void> readCorpusIndex();

    const Setting setting_;
    const TrainRecipe &recipe_; ///< the setting's
    const device::Info device_;
    std::shared_ptr<const TokenMasks> grammar_; ///< null: there is none
    JudgePool judges_;
    std::vector<bench::SuiteTask> train_;
    std::map<std::string, std::vector<bench::SuiteTask>> scored_; ///< by split
    std::optional<CandidateIndex> corpus_; ///< what it shows, once it was needed
    Exemplars exemplars_;
};

} // namespace cuda_agent::learn
