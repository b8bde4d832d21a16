// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/pretrain.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <chrono>
#include <cmath>

namespace cuda_agent::learn {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr const char *stageName = "pretrain";

/// Sequences as tensors on the device, all [batch, context].
struct Batch {
    at::Tensor inputs, targets; ///< int64
    at::Tensor weights;         ///< float, of the targets
    at::Tensor byPolicy;        ///< float, 1 where the policy writes the target
};

/// `read(i)` are the first tokens' places, i from 0 to count - 1.
template <typename Begin>
Batch batchOf(const TokenSet &set, std::int64_t context, std::int64_t count, double contextWeight,
              at::Device device, const Begin &begin) {
    auto tokens = at::empty({count, context + 1}, at::kInt);
    auto policy = at::empty({count, context}, at::kFloat);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto from = begin(i);
        std::copy_n(set.tokens.data() + from, context + 1,
                    tokens.data_ptr<std::int32_t>() + i * (context + 1));
        std::copy_n(set.byPolicy.data() + from + 1, context,
                    policy.data_ptr<float>() + i * context);
    }
    const auto all = tokens.to(device).to(at::kLong);
    const auto byPolicy = policy.to(device);
    return {all.narrow(1, 0, context).contiguous(), all.narrow(1, 1, context).contiguous(),
            byPolicy * (1 - contextWeight) + contextWeight, byPolicy};
}

/// Of each token: [batch, length] of float.
at::Tensor crossEntropy(const at::Tensor &logits, const at::Tensor &targets) {
    return at::cross_entropy_loss(logits.reshape({-1, logits.size(-1)}).to(at::kFloat),
                                  targets.reshape({-1}), {}, at::Reduction::None)
        .view(targets.sizes());
}

class Pretraining {
  public:
    Pretraining(const StageInput &input, Transformer &actor)
        : input_(input), options_(input.recipe.pretrain), actor_(actor),
          optimiser_(actor.parameters(), options_.optimiser),
          sequences_(input.train, input.recipe.context, input.recipe.seed) {}

    Result<void> restore(const Checkpoint &checkpoint) {
        CUDA_AGENT_ASSIGN(content, readSafetensors(checkpoint.folder / "optimiser.safetensors"));
        const auto set = optimiser_.setState(content.tensors);
        if (!set)
            return requestError("{}: {}", checkpoint.folder.string(), set.error().message);
        step_ = saved_ = checkpoint.step;
        seconds_ = checkpoint.state.value("seconds", 0.0);
        return {};
    }

    Result<StageEnd> go(const std::stop_token &stop) {
        auto asked = RunWriter::Asked::nothing;
        CUDA_AGENT_TRY(tell(RunState::running));
        while (step_ < options_.steps && asked != RunWriter::Asked::stop &&
               !stop.stop_requested()) {
            const auto begin = Clock::now();
            CUDA_AGENT_TRY(step(begin));
            seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
            if (step_ % options_.validateEvery == 0 || step_ == options_.steps)
                CUDA_AGENT_TRY(validate());
            if (step_ % options_.checkpointEvery == 0 || step_ == options_.steps)
                CUDA_AGENT_TRY(save());
            CUDA_AGENT_TRY(tell(RunState::running));
            asked = input_.run.waitWhilePaused(stop);
        }
        if (step_ == options_.steps)
            return StageEnd::done;
        if (saved_ != step_)
            CUDA_AGENT_TRY(save());
        return StageEnd::stopped;
    }

  private:
    Result<void> step(Clock::time_point begin) {
        const auto rate = learningRate(options_.optimiser, step_, options_.steps);
        const auto batch = batchOf(input_.train, sequences_.context(), options_.batch,
                                   options_.contextWeight, actor_.device(), [&](std::int64_t i) {
                                       return sequences_.begin(step_ * options_.batch + i);
                                   });
        optimiser_.zeroGradients();
        const auto part = options_.microBatch > 0 ? options_.microBatch : options_.batch;
        const auto whole = batch.weights.sum();
        auto loss = at::zeros({}, whole.options());
        for (std::int64_t first = 0; first < options_.batch; first += part) {
            const auto cut = [&](const at::Tensor &all) { return all.narrow(0, first, part); };
            const auto mine = weightedCrossEntropy(actor_.logits(actor_.hidden(cut(batch.inputs))),
                                                   cut(batch.targets), cut(batch.weights)) /
                              whole;
            mine.backward();
            loss += mine.detach();
        }
        const auto norm = optimiser_.step(rate);
        ++step_;
        const auto value = loss.item<double>();
        if (!std::isfinite(value))
            return failedError("the loss of step {} is {}; lower the learning rate, and go on from "
                               "the last checkpoint with --resume",
                               step_, value);
        const double took = std::chrono::duration<double>(Clock::now() - begin).count();
        const auto tokens = static_cast<double>(options_.batch * sequences_.context());
        return input_.run.log(step_, stageName,
                              {{"train/loss", value},
                               {"train/grad_norm", norm.item<double>()},
                               {"train/lr", rate},
                               {"train/tokens", tokens * static_cast<double>(step_)},
                               {"perf/throughput", tokens / took},
                               {"perf/time_per_step", took}});
    }

    Result<void> validate() {
        const at::NoGradGuard noGradients;
        const auto &set = input_.validation;
        const auto context = sequences_.context();
        const auto there = (static_cast<std::int64_t>(set.tokens.size()) - 1) / context;
        const auto count = std::min(there, options_.validationSequences);
        if (count <= 0)
            return {};
        const auto part = options_.microBatch > 0 ? options_.microBatch : options_.batch;
        double all = 0, tokens = 0, policy = 0, policyTokens = 0, right = 0;
        for (std::int64_t first = 0; first < count; first += part) {
            const auto batch =
                batchOf(set, context, std::min(part, count - first), 1, actor_.device(),
                        // Spread over the whole set, the same ones every time.
                        [&](std::int64_t i) { return (first + i) * there / count * context; });
            const auto logits = actor_.logits(actor_.hidden(batch.inputs));
            const auto losses = crossEntropy(logits, batch.targets);
            all += losses.sum().item<double>();
            policy += (losses * batch.byPolicy).sum().item<double>();
            right += ((logits.argmax(-1) == batch.targets).to(at::kFloat) * batch.byPolicy)
                         .sum()
                         .item<double>();
            tokens += static_cast<double>(batch.targets.numel());
            policyTokens += batch.byPolicy.sum().item<double>();
        }
        Metrics metrics{{"val/loss", all / tokens}};
        if (policyTokens > 0) {
            metrics["val/policy_loss"] = policy / policyTokens;
            metrics["val/policy_accuracy"] = right / policyTokens;
        }
        return input_.run.log(step_, stageName, metrics);
    }

    Result<void> save() {
        saved_ = step_;
        const Json state{{"stage", stageName}, {"seconds", seconds_}};
        return writeCheckpoint(
            input_.run.folder(), step_, state, input_.recipe.checkpointsKept,
            [&](const fs::path &folder) -> Result<void> {
                CUDA_AGENT_TRY(
                    actor_.save(folder / "actor", actor_.parameters().values().scalar_type()));
                std::error_code error;
                fs::copy_file(input_.tokenizerFile, folder / "actor" / "tokenizer.json", error);
                if (error)
                    return machineError("{}: {}", input_.tokenizerFile.string(), error.message());
                return writeSafetensors(folder / "optimiser.safetensors", {optimiser_.state(), {}});
            });
    }

    Result<void> tell(RunState state) {
        RunStatus status;
        status.state = state;
        status.stage = stageName;
        status.step = status.stageStep = step_;
        status.stageSteps = options_.steps;
        status.tokens = step_ * options_.batch * sequences_.context();
        status.seconds = seconds_;
        if (step_ > 0)
            status.secondsLeft =
                seconds_ / static_cast<double>(step_) * static_cast<double>(options_.steps - step_);
        return input_.run.setStatus(status);
    }

    const StageInput &input_;
    const PretrainOptions &options_;
    Transformer &actor_;
    AdamW optimiser_;
    Sequences sequences_;
    std::int64_t step_ = 0, saved_ = -1; ///< done, and of the last checkpoint
    double seconds_ = 0;                 ///< of training, over all starts
};

} // namespace

at::Tensor weightedCrossEntropy(const at::Tensor &logits, const at::Tensor &targets,
                                const at::Tensor &weights) {
    return (crossEntropy(logits, targets) * weights).sum();
}

Result<StageEnd> pretrain(const StageInput &input, Transformer &actor,
                          const std::optional<Checkpoint> &from, const std::stop_token &stop) {
    Pretraining pretraining(input, actor);
    if (from)
        CUDA_AGENT_TRY(pretraining.restore(*from));
    return pretraining.go(stop);
}

} // namespace cuda_agent::learn
