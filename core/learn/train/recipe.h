// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/model/config.h"
#include "core/learn/ppo/ppo.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::learn {

/// What is done with gradients, and by which learning rates.
struct OptimiserOptions {
    std::string kind = "adamw"; ///< or "muon": of layers' projections; AdamW moves the others
    double learningRate = 1e-3; ///< the largest, reached after `warmUp` steps
    double finalShare = 0.1;    ///< of it, at the last step; a cosine leads there
    std::int64_t warmUp = 100;  ///< steps
    double weightDecay = 0.1;   ///< not for the weights of norms
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8; ///< AdamW's
    double momentum = 0.95;                           ///< Muon's
    double clip = 1.0; ///< the gradients' L2 norm is brought down to this; 0: never
};

/// Rate of step `step` of `steps`, counted from 0: linear to the largest, then half a cosine.
double learningRate(const OptimiserOptions &options, std::int64_t step, std::int64_t steps);

/// The stage `pretrain`: a language model over documents of tasks, kernels, plans and tool calls.
struct PretrainOptions {
    std::int64_t steps = 1000;
    std::int64_t batch = 32;     ///< sequences a step, each of whole documents (token_set.h)
    std::int64_t microBatch = 0; ///< sequences that go through the model at once; 0: all
    double contextWeight = 1;    ///< of a token that the policy does not write itself, in the loss
    OptimiserOptions optimiser;
    std::int64_t validateEvery = 100, validationSequences = 64;
    std::int64_t checkpointEvery = 200;
};

/// How the policy is tried at tasks, in every stage that tries it.
struct RolloutOptions {
    std::filesystem::path tasks;            ///< a set or a suite; its split "train" is trained on
    double taskGigabytes = 0;               ///< as bench::Selection::mostBytes, in GB; 0: not cut
    std::int64_t environments = 16;         ///< episodes at once, and rows of the generator
    std::int64_t longestTurn = 1024;        ///< tokens
    std::int64_t guessedTokens = 16;        ///< ahead of a conversation, see Generator; 0: none
    std::string freshStarts = "on-failure"; ///< see policy::FreshStarts
    double temperature = 1, topP = 1;       ///< of sampling, and of the update's probabilities
    /// The model draws only what keeps a turn readable, its calls as the tools' schemas have them,
    /// and ends a turn in time; the update's probabilities are those of that.
    bool grammar = false;
    double seconds = 120;             ///< an episode that takes longer is dropped; 0: no limit
    bool timing = true;               ///< off: correct is 1, nothing is timed
    std::string numerics = "default"; ///< "default", "tf32", "published"
    std::string reward = "milestone"; ///< or "speedup": the ablation
    std::int64_t judges = 32;         ///< of tasks, that are kept
    std::int64_t verdicts =
        0; ///< at once; 0: 8 on each GPU; on a CPU one a core, or half where it times
    /// Whether GPUs that the model is not on judge in its place, where one process trains and there
    /// are some: nothing that is timed then waits for the model, nor the model for it.
    bool otherGpus = true;
    std::int64_t verdictsPerTask = 4; ///< of them, at most
    std::filesystem::path baselines;  ///< folder of stored ones; empty: the run's own
    std::int64_t sessions = 16;       ///< of a step that are kept for whoever looks at them
};

/// Which tries a step or a round makes.
struct Tries {
    std::int64_t tasks = 8, samples = 4; ///< different tasks, and tries of each
    std::int64_t turns = 1;              ///< of an episode
};

/// The stages `single-turn-ppo` and `agentic-ppo`, which differ in turns.
struct PpoStageOptions {
    std::int64_t steps = 100;
    double seconds = 0; ///< no step is begun after so many of the stage; 0: no limit
    Tries tries;
    std::int64_t epochs = 1;          ///< passes over a step's trajectories
    std::int64_t miniBatch = 0;       ///< trajectories of an update; 0: all of the step
    std::int64_t microTokens = 16384; ///< padded tokens that go through a model at once
    OptimiserOptions actor{.learningRate = 3e-5, .finalShare = 1, .warmUp = 0, .weightDecay = 0};
    OptimiserOptions critic{.learningRate = 6e-5, .finalShare = 1, .warmUp = 0, .weightDecay = 0};
    std::int64_t criticWarmUp = 0; ///< first steps in which the critic alone learns
    PpoOptions ppo;
    AdvantageOptions advantages;
    /// "critic"; "group": the mean and deviation of the tries at the task (GRPO); "batch": the
    /// mean of all. The last two have no critic.
    std::string baseline = "critic";
    double kl = 0;       ///< coefficient of a penalty for leaving the stage's first policy; 0: none
    double klTarget = 0; ///< adapts the coefficient to hold this divergence; 0: it stays
    double klHorizon = 10000; ///< trajectories
    /// The prompt of a try shows up to so many candidates that earlier steps of the run made for
    /// its task, with their scores (contrastive prompts, CUDA-L1); 0: none.
    std::int64_t exemplars = 0;
    bool curriculum = false;        ///< harder levels come in one after the other, evenly
    bool keepTrajectories = false;  ///< of each step, in the run's folder, for `--replay`
    std::int64_t validateEvery = 0; ///< steps; 0: never
    std::int64_t checkpointEvery = 10;
};

/// The stage `rft`: rejection fine-tuning on the policy's own good trajectories.
struct RftOptions {
    std::int64_t rounds = 4; ///< of tries
    Tries tries;
    std::int64_t steps = 50, batch = 16; ///< updates, and trajectories of each
    std::int64_t microTokens = 16384;
    OptimiserOptions optimiser;
    /// Of a trajectory that is kept: more than 0, as a correct one has by either reward.
    double leastReward = std::numeric_limits<double>::min();
    std::int64_t mostRefused = 0;   ///< its calls that could not be done, unreadable turns too
    std::int64_t mostIdleTurns = 1; ///< its turns behind the best one: loops that led nowhere
    std::int64_t mostOfATask = 0;   ///< the best so many, then the fastest; 0: all
    /// Times that the updates come to each trajectory that is kept; fewer are made where these are
    /// few, which the policy would learn by heart. 0: all `steps`.
    std::int64_t mostPasses = 5;
    std::int64_t checkpointEvery = 25;
};

/// The stage `value-pretrain`: the critic learns what trajectories of the policy as it is come to.
struct ValueOptions {
    std::int64_t rounds = 4;
    Tries tries;
    std::int64_t steps = 50, batch = 16;
    std::int64_t microTokens = 16384;
    OptimiserOptions optimiser;
    std::int64_t checkpointEvery = 25;
};

/// What the policy is scored on at the end of stages.
struct ScoringOptions {
    std::vector<std::string> splits; ///< of the rollouts' tasks; none: it is not scored
    std::vector<std::string> levels; ///< only tasks of these; none: of all
    std::int64_t tasks = 0;          ///< of each split, spread over it; 0: all
    Tries tries{0, 1, 1};            ///< `tasks` is not used
    double temperature = 0;          ///< 0: the likeliest token, but not in fresh starts
    double topP = 1;                 ///< of what is drawn
    /// Where the likeliest tokens are taken: whether fresh starts depart from earlier turns where
    /// another token nearly came, as long as there are such places (policy::Deviations).
    bool deviations = true;
    double freshTemperature = 1; ///< of other fresh starts, where the likeliest are taken else
    double freshMinP = 0;        ///< Sampling::minP of these
    /// Also before the first stage, as step 0: what a run begins with. Not where it is resumed.
    bool beforeTrain = false;
    std::vector<std::string> stages; ///< behind these; none: behind each
    bool behind(std::string_view stage) const;
};

/// A training run: a TOML file. Relative paths are seen from the file's folder.
struct TrainRecipe {
    std::string name;
    std::uint64_t seed = 1;
    std::string device = "auto";    ///< "auto", "cpu", "cuda"
    std::string precision = "auto"; ///< of the forward pass: "float32", "bfloat16"; auto: by device
    bool deterministic = true;      ///< the same bits for the same seed, at some cost on a GPU
    /// Kernels of the project's own for norms, rotations, SwiGLU, the loss and decoding; not given:
    /// on a GPU, where the model's sizes let them.
    std::optional<bool> fused;
    std::int64_t checkpointsKept = 3;

    ModelConfig model;               ///< its vocabulary and end of text come from the tokenizer
    std::filesystem::path actor;     ///< folder of a model to begin with; empty: drawn
    std::filesystem::path corpus;    ///< corpus.jsonl.gz
    std::filesystem::path tokenizer; ///< a tokenizer.json; empty: one is trained on the corpus
    std::int64_t vocabulary = 4096;  ///< of that one
    std::int64_t context = 2048;     ///< tokens of a sequence
    std::vector<std::string> stages{"pretrain"};
    PretrainOptions pretrain;
    RolloutOptions rollout;
    PpoStageOptions singleTurn, agentic;
    RftOptions rft;
    ValueOptions valuePretrain;
    ScoringOptions scoring;

    std::string text; ///< as it was read

    bool has(std::string_view stage) const;
};

// Names of stages, in the order of the published recipe.
inline constexpr std::string_view pretrainStage = "pretrain", singleTurnStage = "single-turn-ppo",
                                  rftStage = "rft", valueStage = "value-pretrain",
                                  agenticStage = "agentic-ppo";

/// Errors: request, one line that names the field.
Result<TrainRecipe> readTrainRecipe(const std::filesystem::path &file);

} // namespace cuda_agent::learn
