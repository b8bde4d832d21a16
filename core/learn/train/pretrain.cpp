// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/elapsed.h"
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
    /// float, of the targets; 0 where a document begins, which nothing before it tells, and where a
    /// sequence is empty
    at::Tensor weights;
    at::Tensor byPolicy; ///< float, 1 where the policy writes the target
    Documents documents; ///< of the inputs; what is empty counts as one
};

/// `count` sequences from place `from` on.
Batch batchOf(const TokenSet &set, Sequences &sequences, std::int64_t from, std::int64_t count,
              double contextWeight, at::Device device) {
    const auto context = sequences.context(), length = context + 1;
    auto tokens = at::full({count, length}, set.tokens.back(), at::kInt); // an end of text
    auto weights = at::zeros({count, length}, at::kFloat);
    auto policy = at::zeros({count, length}, at::kFloat);
    std::vector<std::int64_t> sizes;
    for (std::int64_t i = 0; i < count; ++i) {
        auto *const token = tokens.data_ptr<std::int32_t>() + i * length;
        auto *const weight = weights.data_ptr<float>() + i * length;
        auto *const own = policy.data_ptr<float>() + i * length;
        std::int64_t place = 0;
        for (const auto &[begin, size] : sequences.at(from + i)) {
            std::copy_n(set.tokens.data() + begin, size, token + place);
            for (std::int64_t j = 1; j < size; ++j) {
                own[place + j] = set.byPolicy[static_cast<std::size_t>(begin + j)] != 0 ? 1 : 0;
                weight[place + j] = own[place + j] > 0 ? 1 : static_cast<float>(contextWeight);
            }
            sizes.push_back(std::min(size, context - place));
            place += size;
        }
        if (place < context)
            sizes.push_back(context - place);
    }
    const auto all = tokens.to(device).to(at::kLong);
    const auto targets = [&](const at::Tensor &of) {
        return of.narrow(1, 1, context).to(device).contiguous();
    };
    return {all.narrow(1, 0, context).contiguous(), targets(all), targets(weights), targets(policy),
            Documents(std::move(sizes), count, context, device)};
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
        optimiser_.zeroGradients();
        const auto part = options_.microBatch > 0 ? std::min(options_.microBatch, mine) : mine;
        std::vector<Batch> parts;
        auto weight = at::zeros({}, at::TensorOptions(actor.device()).dtype(at::kFloat));
        for (std::int64_t first = 0; first < mine; first += part) {
            parts.push_back(batchOf(input_.train, sequences_, from + first, part,
                                    options_.contextWeight, actor.device()));
            weight += parts.back().weights.sum();
        }
        processes.sum(weight);
        auto loss = at::zeros_like(weight);
        for (const auto &batch : parts) {
            const auto some = actor.weightedCrossEntropy(
                actor.hidden(batch.inputs, batch.documents), batch.targets, batch.weights / weight);
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
        const double took = secondsSince(begin);
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
        if (set.begins.empty() || !input_.run) // of several processes one is enough
            return {};
        Sequences sequences(set, sequences_.context(), 0); // the same ones every time
        const auto count = std::min(sequences.size(), options_.validationSequences);
        const auto part = options_.microBatch > 0 ? options_.microBatch : options_.batch;
        double all = 0, tokens = 0, policy = 0, policyTokens = 0, right = 0;
        for (std::int64_t first = 0; first < count; first += part) {
            const auto batch =
                batchOf(set, sequences, first, std::min(part, count - first), 1, actor.device());
            const auto logits = actor.logits(actor.hidden(batch.inputs, batch.documents));
            const auto losses = crossEntropy(logits, batch.targets);
            all += (losses * batch.weights).sum().item<double>();
            policy += (losses * batch.byPolicy).sum().item<double>();
            right += ((logits.argmax(-1) == batch.targets).to(at::kFloat) * batch.byPolicy)
                         .sum()
                         .item<double>();
            tokens += batch.weights.sum().item<double>();
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
    Optimiser optimiser_;
    Sequences sequences_;
};

} // namespace

std::unique_ptr<Stage> makePretrain(const StageInput &input) {
    return std::make_unique<Pretraining>(input);
}

} // namespace cuda_agent::learn
