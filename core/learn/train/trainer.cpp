// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/trainer.h"

#include "core/base/deadline.h"
#include "core/learn/corpus/corpus.h"
#include "core/learn/model/device.h"
#include "core/learn/tokenizer/trainer.h"
#include "core/learn/train/stages.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>
#include <torch/version.h>

#include <cstdlib>

namespace cuda_agent::learn {

namespace fs = std::filesystem;

namespace {

/// The same bits for the same seed, where PyTorch has such kernels.
void beDeterministic(bool wanted) {
    if (wanted) // cuBLAS reads it when its first handle is made
        ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    at::globalContext().setDeterministicAlgorithms(wanted, false);
    at::globalContext().setDeterministicFillUninitializedMemory(false);
}

class Training {
  public:
    Training(const TrainRequest &request, const std::function<void(const std::string &)> &note)
        : request_(request), recipe_(request.recipe), note_(note) {}

    Result<TrainResult> run(const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(device, deviceNamed(recipe_.device, Processes::localRank()));
        const c10::DeviceGuard here(device); // a process of several has another than the first
        if (request_.threads > 0)
            at::set_num_threads(request_.threads);
        beDeterministic(recipe_.deterministic);
        CUDA_AGENT_ASSIGN(processes, Processes::join(device));
        CUDA_AGENT_TRY(checkShares(processes));
        if (!processes.first())
            note_ = [](const std::string &) {};
        else if (!request_.resume && fs::exists(runInfoFile(request_.folder)))
            return requestError("{} holds a run: go on with it by --resume, or name another folder",
                                request_.folder.string());
        if (request_.resume)
            from_ = newestCheckpoint(request_.folder, note_);
        CUDA_AGENT_ASSIGN(data, prepare(stop));
        CUDA_AGENT_ASSIGN(actor, modelFor(data.tokenizer, device));
        CUDA_AGENT_ASSIGN(critic, criticFor(actor));
        CUDA_AGENT_TRY(fuse(actor)); // and with it those made of it
        if (critic)
            CUDA_AGENT_TRY(fuse(*critic));
        note_(fmt::format("{} parameters on {}", actor.config().parameters(), device.str()));
        if (from_)
            note_(fmt::format("goes on from step {}", from_->step));
        std::optional<RunWriter> writer;
        if (processes.first()) {
            CUDA_AGENT_ASSIGN(mine, opened(device));
            writer.emplace(std::move(mine));
            if (!fs::exists(tokenizerFile()))
                CUDA_AGENT_TRY(data.tokenizer.save(tokenizerFile()));
        }
        Deadline deadline(stop, request_.seconds);
        const auto end =
            stages(writer ? &*writer : nullptr, processes, actor, critic, data, deadline.token());
        if (writer)
            CUDA_AGENT_TRY(closed(*writer, end));
        if (!end)
            return tl::unexpected(end.error());
        TrainResult result;
        result.done = *end == StageEnd::done;
        result.first = processes.first();
        result.step = writer ? writer->status().step : 0; // a stage ends with a checkpoint
        result.checkpoint = checkpointFolder(request_.folder, result.step);
        return result;
    }

  private:
    struct Data {
        Tokenizer tokenizer;
        TokenSet train, validation;
    };

    /// Errors: request: what several processes cannot share.
    Result<void> checkShares(const Processes &processes) const {
        if (processes.size() == 1 || !recipe_.has(pretrainStage))
            return {};
        const auto &stage = recipe_.pretrain;
        const auto mine = stage.batch / processes.size();
        if (stage.batch % processes.size() != 0 ||
            (stage.microBatch > 0 && stage.microBatch < mine && mine % stage.microBatch != 0))
            return requestError("[pretrain]: a batch of {} sequences in micro batches of {} cannot "
                                "be shared by {} processes",
                                stage.batch, stage.microBatch, processes.size());
        return {};
    }

    /// Steps that a stage takes.
    std::int64_t stepsOf(std::string_view stage) const {
        if (stage == pretrainStage)
            return recipe_.pretrain.steps;
        if (stage == rftStage)
            return recipe_.rft.rounds + recipe_.rft.steps;
        if (stage == valueStage)
            return recipe_.valuePretrain.rounds + recipe_.valuePretrain.steps;
        return (stage == singleTurnStage ? recipe_.singleTurn : recipe_.agentic).steps;
    }

    static std::unique_ptr<Stage> stageOf(const std::string &name, const StageInput &input) {
        if (name == pretrainStage)
            return makePretrain(input);
        if (name == rftStage)
            return makeRft(input);
        if (name == valueStage)
            return makeValuePretrain(input);
        return makePpo(input, name,
                       name == singleTurnStage ? input.recipe.singleTurn : input.recipe.agentic);
    }

    /// One after the other, from the one that the checkpoint is of.
    Result<StageEnd> stages(RunWriter *writer, Processes &processes, Transformer &actor,
                            std::optional<Transformer> &critic, const Data &data,
                            const std::stop_token &stop) {
        std::unique_ptr<Rollouts> rollouts;
        if (!recipe_.rollout.tasks.empty()) {
            CUDA_AGENT_ASSIGN(opened, Rollouts::open({recipe_, request_.folder, writer, processes,
                                                      actor, data.tokenizer, request_.replay}));
            rollouts = std::move(opened);
        }
        std::int64_t first = 0, tokens = 0;
        double seconds = 0;
        for (std::size_t i = 0; i < recipe_.stages.size(); ++i) {
            const auto &name = recipe_.stages[i];
            const auto steps = stepsOf(name);
            const StageInput input{recipe_,
                                   writer,
                                   processes,
                                   actor,
                                   critic,
                                   rollouts.get(),
                                   data.train,
                                   data.validation,
                                   tokenizerFile(),
                                   first,
                                   i + 1 == recipe_.stages.size(),
                                   seconds,
                                   tokens};
            first += steps;
            if (from_ && i < stageAt())
                continue;
            note_(fmt::format("{}: {} steps", name, steps));
            const auto stage = stageOf(name, input);
            const bool goesOn = from_ && i == stageAt();
            CUDA_AGENT_ASSIGN(end, stage->go(goesOn ? from_ : std::nullopt, stop));
            if (end == StageEnd::stopped)
                return end;
            seconds = stage->seconds();
            tokens = stage->tokens();
        }
        return StageEnd::done;
    }

    /// The place of the checkpoint's stage among the recipe's.
    std::size_t stageAt() const {
        const auto name = from_->state.value("stage", std::string());
        return static_cast<std::size_t>(std::ranges::find(recipe_.stages, name) -
                                        recipe_.stages.begin());
    }

    /// Reads the corpus, where a stage still needs it; its text is let go once it is tokens.
    Result<Data> prepare(const std::stop_token &stop) {
        if (from_ && stageAt() == recipe_.stages.size())
            return requestError("{} is of the stage {}, which the recipe has not",
                                from_->folder.string(), from_->state.value("stage", ""));
        const bool pretrains =
            recipe_.has(pretrainStage) && (!from_ || recipe_.stages[stageAt()] == pretrainStage);
        if (!pretrains) {
            CUDA_AGENT_ASSIGN(tokenizer, tokenizerOf({}));
            return Data{std::move(tokenizer), {}, {}};
        }
        CUDA_AGENT_ASSIGN(documents, readCorpus(recipe_.corpus));
        CUDA_AGENT_ASSIGN(tokenizer, tokenizerOf(documents));
        CUDA_AGENT_ASSIGN(train, tokens(documents, "train", tokenizer, stop));
        CUDA_AGENT_ASSIGN(validation, tokens(documents, "validation", tokenizer, stop));
        if (static_cast<std::int64_t>(train.tokens.size()) <= recipe_.context)
            return requestError("{}: the documents for training are {} tokens, less than one "
                                "sequence of {}",
                                recipe_.corpus.string(), train.tokens.size(), recipe_.context);
        note_(fmt::format("{} tokens of {} documents, {} of them the policy's; {} to validate with",
                          train.tokens.size(), train.begins.size(),
                          std::ranges::count(train.byPolicy, 1), validation.tokens.size()));
        return Data{std::move(tokenizer), std::move(train), std::move(validation)};
    }

    fs::path tokenizerFile() const { return request_.folder / "tokenizer.json"; }

    Result<Tokenizer> tokenizerOf(const std::vector<Document> &documents) {
        if (request_.resume && fs::exists(tokenizerFile()))
            return Tokenizer::load(tokenizerFile());
        if (!recipe_.tokenizer.empty())
            return Tokenizer::load(recipe_.tokenizer);
        if (!recipe_.actor.empty())
            return Tokenizer::load(recipe_.actor / "tokenizer.json");
        std::vector<std::string> texts;
        for (const auto &document : documents)
            if (document.split == "train")
                for (const auto &segment : document.segments)
                    texts.push_back(segment.text);
        TokenizerTraining training;
        training.vocabularySize = static_cast<std::size_t>(recipe_.vocabulary);
        training.specialTokens.assign(chat::specialTokens.begin(), chat::specialTokens.end());
        note_(fmt::format("learns {} tokens from {} texts", recipe_.vocabulary, texts.size()));
        return trainTokenizer(texts, training);
    }

    static Result<TokenSet> tokens(const std::vector<Document> &documents, const std::string &split,
                                   const Tokenizer &tokenizer, const std::stop_token &stop) {
        const auto end = tokenizer.id(chat::endOfText);
        if (!end)
            return requestError("the tokenizer has no {}", chat::endOfText);
        return tokensOf(documents, split, tokenizer, *end, stop);
    }

    Result<Transformer> modelFor(const Tokenizer &tokenizer, at::Device device) {
        const auto type =
            recipe_.precision == "bfloat16" || (recipe_.precision == "auto" && device.is_cuda())
                ? at::kBFloat16
                : at::kFloat;
        auto config = recipe_.model;
        config.vocabulary = static_cast<std::int64_t>(tokenizer.size());
        config.endOfText = tokenizer.id(chat::imEnd).value_or(0);
        CUDA_AGENT_TRY(check(config));
        const auto folder = from_ ? from_->folder / "actor" : recipe_.actor;
        if (folder.empty())
            return Transformer::drawn(config, Transformer::Head::logits, recipe_.seed, device,
                                      type);
        CUDA_AGENT_ASSIGN(model,
                          Transformer::load(folder, Transformer::Head::logits, device, type));
        if (from_ && model.config() != config && recipe_.actor.empty())
            return requestError("{} has another model than the recipe", from_->folder.string());
        if (model.config().vocabulary < config.vocabulary ||
            model.config().positions < recipe_.context)
            return requestError("{}: {} tokens and {} positions; the recipe needs {} and {}",
                                folder.string(), model.config().vocabulary,
                                model.config().positions, config.vocabulary, recipe_.context);
        return std::move(model);
    }

    /// The checkpoint's, if it has one.
    /// As the recipe says; where it says nothing, if they can be had.
    Result<void> fuse(Transformer &model) const {
        const auto done = model.useFusedKernels(recipe_.fused.value_or(model.device().is_cuda()));
        if (done || recipe_.fused)
            return done;
        note_(fmt::format("without fused kernels: {}", done.error().message));
        return {};
    }

    Result<std::optional<Transformer>> criticFor(const Transformer &actor) const {
        std::optional<Transformer> critic;
        if (from_ && fs::exists(from_->folder / "critic")) {
            CUDA_AGENT_ASSIGN(loaded, Transformer::load(from_->folder / "critic",
                                                        Transformer::Head::value, actor.device(),
                                                        actor.parameters().values().scalar_type()));
            critic.emplace(std::move(loaded));
        }
        return critic;
    }

    Result<RunWriter> opened(at::Device device) {
        if (request_.resume && fs::exists(runInfoFile(request_.folder)))
            return RunWriter::resume(request_.folder, from_ ? from_->step + 1 : 1);
        RunInfo info;
        info.name = recipe_.name;
        info.recipe = recipe_.text;
        info.seed = recipe_.seed;
        info.device = device.str();
        info.versions = {{"program", CUDA_AGENT_VERSION}, {"torch", TORCH_VERSION}};
        for (const auto &stage : recipe_.stages)
            info.stages.push_back({stage, stepsOf(stage)});
        return RunWriter::create(request_.folder, std::move(info));
    }

    static Result<void> closed(RunWriter &writer, const Result<StageEnd> &end) {
        auto status = writer.status();
        status.state = !end                     ? RunState::failed
                       : *end == StageEnd::done ? RunState::done
                                                : RunState::stopped;
        if (!end)
            status.error = end.error().message;
        return writer.setStatus(status);
    }

    const TrainRequest &request_;
    const TrainRecipe &recipe_;
    std::function<void(const std::string &)> note_;
    std::optional<Checkpoint> from_;
};

} // namespace

Result<TrainResult> train(const TrainRequest &request,
                          const std::function<void(const std::string &)> &note,
                          const std::stop_token &stop) {
    try {
        return Training(
                   request, note ? note : [](const std::string &) {})
            .run(stop);
    } catch (const c10::Error &error) { // PyTorch's way to say that memory or a kernel is missing
        return machineError("PyTorch: {}", error.what_without_backtrace());
    }
}

} // namespace cuda_agent::learn
