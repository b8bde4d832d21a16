// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/recipe.h"

#include "core/base/toml_fields.h"

#include <cmath>
#include <numbers>

namespace cuda_agent::learn {

namespace {

constexpr double mostSteps = 1e9, largestSize = 1 << 24;

void takeOptimiser(TomlFields &fields, OptimiserOptions &options) {
    fields.take("learning_rate", options.learningRate, 0, 10);
    fields.take("final_share", options.finalShare, 0, 1);
    fields.take("warm_up", options.warmUp, 0, mostSteps);
    fields.take("weight_decay", options.weightDecay, 0, 10);
    fields.take("beta1", options.beta1, 0, 0.999999);
    fields.take("beta2", options.beta2, 0, 0.999999);
    fields.take("epsilon", options.epsilon, 1e-20, 1);
    fields.take("clip", options.clip, 0, 1e9);
}

Result<void> readSections(const toml::table &file, const std::string &name, TrainRecipe &recipe) {
    TomlFields top(file, name);
    top.take("name", recipe.name);
    top.take("seed", recipe.seed, 0, 9e15);
    top.take("device", recipe.device);
    top.take("precision", recipe.precision);
    top.take("deterministic", recipe.deterministic);
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
    CUDA_AGENT_TRY(top.finish());
    const auto oneOf = [&](const char *field, const std::string &value,
                           const std::vector<std::string> &known) -> Result<void> {
        if (std::ranges::find(known, value) == known.end())
            return requestError("{}: {} must be one of {}, not \"{}\"", name, field,
                                fmt::join(known, ", "), value);
        return {};
    };
    CUDA_AGENT_TRY(oneOf("device", recipe.device, {"auto", "cpu", "cuda"}));
    CUDA_AGENT_TRY(oneOf("precision", recipe.precision, {"auto", "float32", "bfloat16"}));
    for (const auto &stage : recipe.stages)
        CUDA_AGENT_TRY(oneOf("stages", stage, {"pretrain"}));
    if (recipe.stages.empty())
        return requestError("{}: stages names none", name);
    if (recipe.corpus.empty())
        return requestError("{}: [data] needs a corpus; `cuda-agent corpus` makes one", name);
    const auto &stage = recipe.pretrain;
    if (stage.microBatch > 0 && stage.batch % stage.microBatch != 0)
        return requestError(
            "{}: [pretrain]: a batch of {} sequences is not whole micro batches of {}", name,
            stage.batch, stage.microBatch);
    return {};
}

} // namespace

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
    CUDA_AGENT_TRY(readSections(table, file.string(), recipe));
    const auto folder = std::filesystem::absolute(file).parent_path();
    recipe.corpus = folder / recipe.corpus;
    if (!recipe.tokenizer.empty())
        recipe.tokenizer = folder / recipe.tokenizer;
    recipe.model.positions = recipe.context;
    recipe.text = std::move(text);
    return recipe;
}

} // namespace cuda_agent::learn
