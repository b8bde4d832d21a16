// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/recipe.h"

#include "core/base/toml_fields.h"
#include "core/policy/transformer/transformer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cuda_agent::learn {

namespace {

constexpr double mostSteps = 1e9, largestSize = 1 << 24;

void takeOptimiser(TomlFields &fields, OptimiserOptions &options) {
    fields.take("optimizer", options.kind);
    fields.take("momentum", options.momentum, 0, 0.999999);
    fields.take("learning_rate", options.learningRate, 0, 10);
    fields.take("final_share", options.finalShare, 0, 1);
    fields.take("warm_up", options.warmUp, 0, mostSteps);
    fields.take("weight_decay", options.weightDecay, 0, 10);
    fields.take("beta1", options.beta1, 0, 0.999999);
    fields.take("beta2", options.beta2, 0, 0.999999);
    fields.take("epsilon", options.epsilon, 1e-20, 1);
    fields.take("clip", options.clip, 0, 1e9);
}

void takeTries(TomlFields &fields, Tries &tries) {
    fields.take("tasks", tries.tasks, 1, 1e6);
    fields.take("samples", tries.samples, 1, 1e4);
    fields.take("turns", tries.turns, 1, 1000);
}

void takeRollout(TomlFields &fields, RolloutOptions &rollout) {
    std::string tasks, baselines;
    fields.take("tasks", tasks);
    fields.take("baselines", baselines);
    rollout.tasks = tasks;
    rollout.baselines = baselines;
    fields.take("task_gigabytes", rollout.taskGigabytes, 0, 1e6);
    fields.take("environments", rollout.environments, 1, 1e5);
    fields.take("longest_turn", rollout.longestTurn, 1, 1 << 20);
    fields.take("guessed_tokens", rollout.guessedTokens, 0, 64);
    fields.take("fresh_starts", rollout.freshStarts);
    fields.take("temperature", rollout.temperature, 0.01, 100);
    fields.take("top_p", rollout.topP, 0.01, 1);
    fields.take("grammar", rollout.grammar);
    fields.take("seconds", rollout.seconds, 0, 1e6);
    fields.take("timing", rollout.timing);
    fields.take("numerics", rollout.numerics);
    fields.take("reward", rollout.reward);
    fields.take("judges", rollout.judges, 1, 1e6);
    fields.take("verdicts", rollout.verdicts, 0, 1e4);
    fields.take("other_gpus", rollout.otherGpus);
    fields.take("verdicts_per_task", rollout.verdictsPerTask, 1, 1e4);
    fields.take("sessions", rollout.sessions, 0, 1e6);
}

void takePpo(TomlFields &fields, PpoStageOptions &stage) {
    fields.take("steps", stage.steps, 1, mostSteps);
    fields.take("seconds", stage.seconds, 0, 1e9);
    takeTries(fields, stage.tries);
    fields.take("epochs", stage.epochs, 1, 1000);
    fields.take("mini_batch", stage.miniBatch, 0, 1e6);
    fields.take("micro_tokens", stage.microTokens, 1, 1e9);
    fields.take("actor_learning_rate", stage.actor.learningRate, 0, 10);
    fields.take("critic_learning_rate", stage.critic.learningRate, 0, 10);
    for (auto *optimiser : {&stage.actor, &stage.critic}) {
        fields.take("warm_up", optimiser->warmUp, 0, mostSteps);
        fields.take("final_share", optimiser->finalShare, 0, 1);
        fields.take("weight_decay", optimiser->weightDecay, 0, 10);
        fields.take("beta1", optimiser->beta1, 0, 0.999999);
        fields.take("beta2", optimiser->beta2, 0, 0.999999);
        fields.take("clip", optimiser->clip, 0, 1e9);
    }
    fields.take("critic_warm_up", stage.criticWarmUp, 0, mostSteps);
    auto &ppo = stage.ppo;
    fields.take("clip_low", ppo.clipLow, 0, 1);
    fields.take("clip_high", ppo.clipHigh, 0, 100);
    fields.take("dual_clip", ppo.dualClip, 0, 1e6);
    fields.take("log_ratio_clamp", ppo.logRatioClamp, 0, 80);
    fields.take("divergence", ppo.divergence, 0, 1);
    fields.take("value_clip", ppo.valueClip, 0, 1e6);
    auto &advantages = stage.advantages;
    fields.take("gamma", advantages.gamma, 0, 1);
    fields.take("lambda", advantages.lambda, 0, 1);
    fields.take("critic_lambda", advantages.criticLambda, 0, 1);
    fields.take("alpha", advantages.alpha, 0, 1e6);
    fields.take("whiten", advantages.whiten);
    fields.take("baseline", stage.baseline);
    fields.take("kl", stage.kl, 0, 1e6);
    fields.take("kl_target", stage.klTarget, 0, 1e6);
    fields.take("kl_horizon", stage.klHorizon, 1, 1e12);
    fields.take("exemplars", stage.exemplars, 0, 100);
    fields.take("curriculum", stage.curriculum);
    fields.take("keep_trajectories", stage.keepTrajectories);
    fields.take("validate_every", stage.validateEvery, 0, mostSteps);
    fields.take("checkpoint_every", stage.checkpointEvery, 1, mostSteps);
}

/// What `rft` and `value-pretrain` have both.
template <typename Options>
void takeUpdates(TomlFields &fields, Options &stage) {
    fields.take("rounds", stage.rounds, 1, 1e6);
    takeTries(fields, stage.tries);
    fields.take("steps", stage.steps, 1, mostSteps);
    fields.take("batch", stage.batch, 1, 1e6);
    fields.take("micro_tokens", stage.microTokens, 1, 1e9);
    takeOptimiser(fields, stage.optimiser);
    fields.take("checkpoint_every", stage.checkpointEvery, 1, mostSteps);
}

Result<void> readStages(TomlFields &top, TrainRecipe &recipe) {
    CUDA_AGENT_TRY(
        top.section("rollout", [&](TomlFields &fields) { takeRollout(fields, recipe.rollout); }));
    CUDA_AGENT_TRY(top.section("single-turn-ppo",
                               [&](TomlFields &fields) { takePpo(fields, recipe.singleTurn); }));
    CUDA_AGENT_TRY(top.section("rft", [&](TomlFields &fields) {
        takeUpdates(fields, recipe.rft);
        fields.take("least_reward", recipe.rft.leastReward, -1, 1e6);
        fields.take("most_refused", recipe.rft.mostRefused, 0, 1e6);
        fields.take("most_idle_turns", recipe.rft.mostIdleTurns, 0, 1e6);
        fields.take("most_of_a_task", recipe.rft.mostOfATask, 0, 1e6);
        fields.take("most_passes", recipe.rft.mostPasses, 0, 1e6);
    }));
    CUDA_AGENT_TRY(top.section(
        "value-pretrain", [&](TomlFields &fields) { takeUpdates(fields, recipe.valuePretrain); }));
    CUDA_AGENT_TRY(
        top.section("agentic-ppo", [&](TomlFields &fields) { takePpo(fields, recipe.agentic); }));
    return top.section("scoring", [&](TomlFields &fields) {
        auto &scoring = recipe.scoring;
        fields.take("splits", scoring.splits);
        fields.take("levels", scoring.levels);
        fields.take("tasks", scoring.tasks, 0, 1e6);
        fields.take("samples", scoring.tries.samples, 1, 1e4);
        fields.take("turns", scoring.tries.turns, 1, 1000);
        fields.take("temperature", scoring.temperature, 0, 100);
        fields.take("top_p", scoring.topP, 0.01, 1);
        fields.take("deviations", scoring.deviations);
        fields.take("fresh_temperature", scoring.freshTemperature, 0.01, 100);
        fields.take("fresh_min_p", scoring.freshMinP, 0, 1);
        fields.take("before_train", scoring.beforeTrain);
        fields.take("stages", scoring.stages);
    });
}

Result<void> readSections(const toml::table &file, const std::string &name, TrainRecipe &recipe) {
    TomlFields top(file, name);
    top.take("name", recipe.name);
    top.take("seed", recipe.seed, 0, 9e15);
    top.take("device", recipe.device);
    top.take("precision", recipe.precision);
    top.take("deterministic", recipe.deterministic);
    bool fused = false, orNot = true; // the same only where it is given
    top.take("fused", fused);
    top.take("fused", orNot);
    if (fused == orNot)
        recipe.fused = fused;
    top.take("checkpoints_kept", recipe.checkpointsKept, 1, 1e6);
    top.take("stages", recipe.stages);
    CUDA_AGENT_TRY(top.section("model", [&](TomlFields &fields) {
        auto &model = recipe.model;
        fields.take("hidden", model.hidden, 1, largestSize);
        fields.take("layers", model.layers, 1, 1000);
        fields.take("heads", model.heads, 1, 1000);
        model.kvHeads = model.heads;
        fields.take("kv_heads", model.kvHeads, 1, 1000);
        fields.take("head_size", model.headSize, 2, 1024);
        fields.take("inner", model.inner, 1, largestSize);
        fields.take("rope_theta", model.ropeTheta, 1, 1e9);
        fields.take("tied", model.tied);
        std::string actor;
        fields.take("actor", actor);
        recipe.actor = actor;
    }));
    CUDA_AGENT_TRY(top.section("data", [&](TomlFields &fields) {
        std::string corpus, tokenizer;
        fields.take("corpus", corpus);
        fields.take("tokenizer", tokenizer);
        fields.take("vocabulary", recipe.vocabulary, 300, 1e6);
        fields.take("context", recipe.context, 8, 1 << 20);
        recipe.corpus = corpus;
        recipe.tokenizer = tokenizer;
    }));
    CUDA_AGENT_TRY(top.section("pretrain", [&](TomlFields &fields) {
        auto &stage = recipe.pretrain;
        fields.take("steps", stage.steps, 1, mostSteps);
        fields.take("batch", stage.batch, 1, 1e6);
        fields.take("micro_batch", stage.microBatch, 0, 1e6);
        fields.take("context_weight", stage.contextWeight, 0, 1);
        fields.take("validate_every", stage.validateEvery, 1, mostSteps);
        fields.take("validation_sequences", stage.validationSequences, 1, 1e6);
        fields.take("checkpoint_every", stage.checkpointEvery, 1, mostSteps);
        takeOptimiser(fields, stage.optimiser);
    }));
    CUDA_AGENT_TRY(readStages(top, recipe));
    return top.finish();
}

Result<void> checkStages(const TrainRecipe &recipe, const std::string &name) {
    if (recipe.stages.empty())
        return requestError("{}: stages names none", name);
    for (std::size_t i = 0; i < recipe.stages.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (recipe.stages[i] == recipe.stages[j])
                return requestError("{}: stages names {} twice", name, recipe.stages[i]);
    if (recipe.has(pretrainStage) && recipe.corpus.empty())
        return requestError("{}: [data] needs a corpus; `cuda-agent corpus` makes one", name);
    if (!recipe.has(pretrainStage) && recipe.actor.empty())
        return requestError("{}: without the stage pretrain [model] needs an actor to begin with",
                            name);
    const bool plays = recipe.stages.size() > (recipe.has(pretrainStage) ? 1u : 0u);
    if ((plays || !recipe.scoring.splits.empty()) && recipe.rollout.tasks.empty())
        return requestError("{}: [rollout] needs tasks, a set or a folder of them", name);
    return {};
}

Result<void> checkRecipe(const TrainRecipe &recipe, const std::string &name) {
    const auto oneOf = [&](const char *field, const std::string &value,
                           const std::vector<std::string> &known) -> Result<void> {
        if (std::ranges::find(known, value) == known.end())
            return requestError("{}: {} must be one of {}, not \"{}\"", name, field,
                                fmt::join(known, ", "), value);
        return {};
    };
    CUDA_AGENT_TRY(oneOf("device", recipe.device, {"auto", "cpu", "cuda"}));
    CUDA_AGENT_TRY(oneOf("precision", recipe.precision, {"auto", "float32", "bfloat16"}));
    CUDA_AGENT_TRY(oneOf("reward", recipe.rollout.reward, {"milestone", "speedup"}));
    CUDA_AGENT_TRY(oneOf("fresh_starts", recipe.rollout.freshStarts,
                         {policy::freshStartsNames.begin(), policy::freshStartsNames.end()}));
    CUDA_AGENT_TRY(oneOf("numerics", recipe.rollout.numerics, {"default", "tf32", "published"}));
    const std::vector<std::string> known{std::string(pretrainStage), std::string(singleTurnStage),
                                         std::string(rftStage), std::string(valueStage),
                                         std::string(agenticStage)};
    for (const auto &stage : recipe.stages)
        CUDA_AGENT_TRY(oneOf("stages", stage, known));
    for (const auto &stage : recipe.scoring.stages)
        CUDA_AGENT_TRY(oneOf("[scoring] stages", stage, known));
    for (const auto *optimiser :
         {&recipe.pretrain.optimiser, &recipe.rft.optimiser, &recipe.valuePretrain.optimiser})
        CUDA_AGENT_TRY(oneOf("optimizer", optimiser->kind, {"adamw", "muon"}));
    for (const auto *stage : {&recipe.singleTurn, &recipe.agentic})
        CUDA_AGENT_TRY(oneOf("baseline", stage->baseline, {"critic", "group", "batch"}));
    if (recipe.rollout.reward == "speedup" && !recipe.rollout.timing)
        return requestError("{}: the reward speedup needs timing", name);
    const auto &stage = recipe.pretrain;
    if (stage.microBatch > 0 && stage.batch % stage.microBatch != 0)
        return requestError(
            "{}: [pretrain]: a batch of {} sequences is not whole micro batches of {}", name,
            stage.batch, stage.microBatch);
    return checkStages(recipe, name);
}

} // namespace

bool ScoringOptions::behind(std::string_view stage) const {
    return stages.empty() || std::ranges::find(stages, stage) != stages.end();
}

bool TrainRecipe::has(std::string_view stage) const {
    return std::ranges::find(stages, stage) != stages.end();
}

double learningRate(const OptimiserOptions &options, std::int64_t step, std::int64_t steps) {
    if (step < options.warmUp)
        return options.learningRate * static_cast<double>(step + 1) /
               static_cast<double>(options.warmUp);
    const auto rest = std::max<std::int64_t>(steps - options.warmUp, 1);
    const double way =
        std::min(1.0, static_cast<double>(step - options.warmUp) / static_cast<double>(rest));
    const double share = options.finalShare +
                         (1 - options.finalShare) * 0.5 * (1 + std::cos(std::numbers::pi * way));
    return options.learningRate * share;
}

Result<TrainRecipe> readTrainRecipe(const std::filesystem::path &file) {
    CUDA_AGENT_ASSIGN(text, readTextFile(file, 1u << 20));
    CUDA_AGENT_ASSIGN(table, parseToml(text, file.string()));
    TrainRecipe recipe;
    recipe.name = file.stem().string();
    recipe.agentic.tries.turns = 8;
    CUDA_AGENT_TRY(readSections(table, file.string(), recipe));
    CUDA_AGENT_TRY(checkRecipe(recipe, file.string()));
    const auto folder = std::filesystem::absolute(file).parent_path();
    for (auto *path : {&recipe.corpus, &recipe.tokenizer, &recipe.actor, &recipe.rollout.tasks,
                       &recipe.rollout.baselines})
        if (!path->empty())
            *path = folder / *path;
    recipe.model.positions = recipe.context;
    recipe.text = std::move(text);
    return recipe;
}

} // namespace cuda_agent::learn
