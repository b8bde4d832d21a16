// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/stages.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <chrono>

namespace cuda_agent::learn {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

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

class Pretraining : public Stage {
  public:
    explicit Pretraining(const StageInput &input)
        : Stage(input, pretrainStage, input.recipe.pretrain.steps,
                input.recipe.pretrain.checkpointEvery),
          options_(input.recipe.pretrain), optimiser_(input.actor.parameters(), options_.optimiser),
          sequences_(input.train, input.recipe.context, input.recipe.seed) {}

  private:
    Result<void> step(const std::stop_token &) override {
        const auto begin = Clock::now();
        const auto &actor = input_.actor;
        const auto rate = learningRate(options_.optimiser, done_, options_.steps);
        auto &processes = input_.processes;
        const auto mine = options_.batch / processes.size(); // of this process
        const auto from = done_ * options_.batch + processes.rank() * mine;
        const auto batch =
            batchOf(input_.train, sequences_.context(), mine, options_.contextWeight,
                    actor.device(), [&](std::int64_t i) { return sequences_.begin(from + i); });
        optimiser_.zeroGradients();
        const auto part = options_.microBatch > 0 ? std::min(options_.microBatch, mine) : mine;
        auto weight = batch.weights.sum();
        processes.sum(weight);
        const auto shares = batch.weights / weight;
        auto loss = at::zeros({}, shares.options());
        for (std::int64_t first = 0; first < mine; first += part) {
            const auto cut = [&](const at::Tensor &all) { return all.narrow(0, first, part); };
            const auto some = actor.weightedCrossEntropy(actor.hidden(cut(batch.inputs)),
                                                         cut(batch.targets), cut(shares));
            some.backward();
            loss += some.detach();
        }
        auto gradients = actor.parameters().gradients();
        processes.sum(gradients);
        processes.sum(loss);
        const auto norm = optimiser_.step(rate);
        const auto value = loss.item<double>();
        CUDA_AGENT_TRY(checkFinite(value));
        ++done_;
        tokens_ += options_.batch * sequences_.context();
        const double took = std::chrono::duration<double>(Clock::now() - begin).count();
        const auto tokens = static_cast<double>(mine * sequences_.context()); // of one process
        CUDA_AGENT_TRY(log({{"train/loss", value},
                            {"train/grad_norm", norm.item<double>()},
                            {"train/lr", rate},
                            {"train/tokens", static_cast<double>(tokens_)},
                            {"perf/throughput", tokens / took},
                            {"perf/time_per_step", took}}));
        return done_ % options_.validateEvery == 0 || done_ == steps_ ? validate() : Result<void>();
    }

    Result<void> validate() {
        const at::NoGradGuard noGradients;
        const auto &actor = input_.actor;
        const auto &set = input_.validation;
        const auto context = sequences_.context();
        const auto there = (static_cast<std::int64_t>(set.tokens.size()) - 1) / context;
        const auto count = std::min(there, options_.validationSequences);
        if (count <= 0 || !input_.run) // of several processes one is enough
            return {};
        const auto part = options_.microBatch > 0 ? options_.microBatch : options_.batch;
        double all = 0, tokens = 0, policy = 0, policyTokens = 0, right = 0;
        for (std::int64_t first = 0; first < count; first += part) {
            const auto batch =
                batchOf(set, context, std::min(part, count - first), 1, actor.device(),
                        // Spread over the whole set, the same ones every time.
                        [&](std::int64_t i) { return (first + i) * there / count * context; });
            const auto logits = actor.logits(actor.hidden(batch.inputs));
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
        return log(metrics);
    }

    Result<void> save(const fs::path &folder) const override {
        return saveOptimiser(folder / "optimiser.safetensors", optimiser_);
    }
    Result<void> restore(const Checkpoint &checkpoint) override {
        return restoreOptimiser(checkpoint.folder / "optimiser.safetensors", optimiser_);
    }

    const PretrainOptions &options_;
    AdamW optimiser_;
    Sequences sequences_;
};

} // namespace

std::unique_ptr<Stage> makePretrain(const StageInput &input) {
    return std::make_unique<Pretraining>(input);
}

} // namespace cuda_agent::learn
