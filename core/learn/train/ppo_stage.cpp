// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/elapsed.h"
#include "core/device/lease.h"
#include "core/learn/train/experience.h"
#include "core/learn/train/stages.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <chrono>

namespace cuda_agent::learn {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

double meanOf(const at::Tensor &table, const at::Tensor &mask) {
    return table.masked_select(mask).mean().item<double>();
}

void spanInto(Metrics &metrics, const std::string &name, const at::Tensor &table,
              const at::Tensor &mask) {
    const auto mine = table.masked_select(mask);
    metrics[name + "/mean"] = mine.mean().item<double>();
    metrics[name + "/max"] = mine.max().item<double>();
    metrics[name + "/min"] = mine.min().item<double>();
}

class Ppo : public Stage {
  public:
    Ppo(const StageInput &input, std::string_view name, const PpoStageOptions &options)
        : Stage(input, name, options.steps, options.checkpointEvery, options.seconds),
          options_(options), hasCritic_(options.baseline == "critic"),
          actorOptimiser_(input.actor.parameters(), options.actor),
          sampling_{input.recipe.rollout.temperature, input.recipe.rollout.topP},
          kl_(options.kl, options.klTarget, options.klHorizon) {
        if (hasCritic_)
            criticOptimiser_.emplace(criticOf(input).parameters(), options.critic);
        if (options.kl > 0) {
            const at::NoGradGuard noGradients;
            reference_.emplace(input.actor.copy());
        }
    }

  private:
    Result<void> step(const std::stop_token &stop) override {
        const auto begin = Clock::now();
        CUDA_AGENT_ASSIGN(collected, play(stop));
        std::erase_if(collected.trajectories,
                      [](const Trajectory &one) { return one.record.ownTokens() == 0; });
        auto &trajectories = collected.trajectories;
        auto metrics = metricsOf(collected);
        if (trajectories.empty())
            return failedError("not one of the tries of step {} has a token of the policy's",
                               input_.firstStep + done_ + 1);
        // Others time on it. A CPU is all processes': with a share each, one would hold its own and
        // wait for another that somebody keeps out who waits to time.
        const auto &device = input_.rollouts->device();
        device::Share share(device, stop);
        const bool takes = device.kind == device::Kind::cuda || input_.processes.first();
        CUDA_AGENT_TRY(input_.processes.agreed(takes ? share.take() : Result<void>()));
        const Experience experience(trajectories, input_.actor.device(), options_.microTokens,
                                    input_.rollouts->masks());
        const auto tables = tablesOf(experience, trajectories, metrics);
        CUDA_AGENT_TRY(learn(experience, tables, metrics));
        if (reference_ && options_.klTarget > 0)
            kl_.update(metrics["actor/reward_kl_penalty"],
                       static_cast<std::int64_t>(trajectories.size()));
        ++done_;
        tokens_ += static_cast<std::int64_t>(metrics["perf/total_num_tokens"]);
        const double took = secondsSince(begin);
        workSharesInto(metrics);
        metrics["perf/time_per_step"] = metrics["timing_s/step"] = took;
        metrics["perf/throughput"] =
            metrics["perf/total_num_tokens"] / took / static_cast<double>(input_.processes.size());
        metrics["train/tokens"] = static_cast<double>(tokens_);
        metrics["training/global_step"] = static_cast<double>(input_.firstStep + done_);
        CUDA_AGENT_TRY(log(metrics));
        return options_.validateEvery > 0 && done_ % options_.validateEvery == 0 && done_ < steps_
                   ? validate(stop)
                   : Result<void>();
    }

    Result<Collected> play(const std::stop_token &stop) {
        Rollouts::Wanted wanted;
        wanted.stage = name_;
        wanted.step = done_;
        wanted.steps = steps_;
        wanted.runStep = input_.firstStep + done_ + 1;
        wanted.tries = options_.tries;
        wanted.exemplars = options_.exemplars;
        wanted.curriculum = options_.curriculum;
        wanted.keep = options_.keepTrajectories;
        return input_.rollouts->play(wanted, stop);
    }

    /// A stop in a score is no reason to lose the step: it is noticed after it.
    Result<void> validate(const std::stop_token &stop) {
        const auto begin = Clock::now();
        auto scores = input_.rollouts->score(input_.firstStep + done_, stop);
        if (!scores && scores.error().kind == ErrorKind::stopped)
            return {};
        CUDA_AGENT_TRY(scores);
        (*scores)["timing_s/testing"] = secondsSince(begin);
        return scores->empty() ? Result<void>() : log(*scores);
    }

    struct Tables {
        at::Tensor old;        ///< log-probabilities by the actor as it is before the update
        at::Tensor values;     ///< the critic's; zero where there is none
        at::Tensor advantages; ///< of the actor
        at::Tensor returns;    ///< the critic's targets
    };

    /// Of all trajectories, each process its share.
    at::Tensor tableOf(const Experience &experience,
                       const std::function<at::Tensor(const TrajectoryBatch &)> &of) {
        auto table = experience.table(shareOf(experience, experience.all()), of);
        input_.processes.sum(table);
        return table;
    }

    Tables tablesOf(const Experience &experience, const std::vector<Trajectory> &trajectories,
                    Metrics &metrics) {
        const auto &mask = experience.mask();
        auto last = Clock::now();
        const auto lap = [&] {
            const auto now = Clock::now();
            return std::chrono::duration<double>(now - std::exchange(last, now)).count();
        };
        Tables tables;
        tables.old = tableOf(experience, [&](const TrajectoryBatch &batch) {
            return batch.logProbabilities(input_.actor, sampling_);
        });
        metrics["timing_s/old_log_prob"] = lap();
        const auto apart = (tables.old.exp() - experience.drawn().exp()).abs();
        metrics["training/rollout_probs_diff_mean"] = meanOf(apart, mask);
        metrics["training/rollout_probs_diff_max"] = apart.masked_select(mask).max().item<double>();
        tables.values = hasCritic_ ? tableOf(experience,
                                             [&](const TrajectoryBatch &batch) {
                                                 return batch.values(*input_.critic);
                                             })
                                   : at::zeros_like(tables.old);
        metrics["timing_s/values"] = lap();
        auto rewards = experience.rewards();
        if (reference_) {
            const auto other = tableOf(experience, [&](const TrajectoryBatch &batch) {
                return batch.logProbabilities(*reference_, sampling_);
            });
            const auto penalty = (tables.old - other).masked_fill(~mask, 0);
            metrics["actor/reward_kl_penalty"] = meanOf(penalty, mask);
            metrics["actor/reward_kl_penalty_coeff"] = kl_.coefficient();
            rewards = rewards - penalty * kl_.coefficient();
        }
        spanInto(metrics, "critic/rewards", rewards.sum(1), mask.any(1));
        if (hasCritic_) {
            const auto both = estimateAdvantages(rewards, tables.values, mask, options_.advantages);
            tables.advantages = both.advantages;
            tables.returns = both.returns;
            spanInto(metrics, "critic/values", tables.values, mask);
            metrics["critic/vf_explained_var"] =
                explainedVariance(tables.values, tables.returns, mask);
        } else {
            std::vector<std::int64_t> groups;
            for (const auto &one : trajectories)
                groups.push_back(options_.baseline == "group" ? one.group : 0);
            tables.advantages =
                groupAdvantages(rewards.sum(1), at::tensor(groups, at::kLong), mask);
            tables.returns = rewards.sum(1, true).expand_as(mask).masked_fill(~mask, 0);
        }
        spanInto(metrics, "critic/advantages", tables.advantages, mask);
        spanInto(metrics, "critic/returns", tables.returns, mask);
        metrics["timing_s/adv"] = lap();
        return tables;
    }

    /// What the groups of the mini batches add up to.
    struct Sums {
        at::Tensor policy, kl, clipped, lower, value, valueClipped, said;
        int batches = 0;
    };

    Result<void> learn(const Experience &experience, const Tables &tables, Metrics &metrics) {
        const auto count = static_cast<std::int64_t>(experience.size());
        const auto mini = options_.miniBatch > 0 ? std::min(options_.miniBatch, count) : count;
        const auto actorRate = learningRate(options_.actor, done_, steps_);
        const auto criticRate = learningRate(options_.critic, done_, steps_);
        // Where all came to the same, advantages are the critic's errors, which whitening would
        // blow up to the size of a signal.
        const bool differ = metrics["critic/rewards/max"] - metrics["critic/rewards/min"] > 1e-6;
        const bool actorLearns = differ && (done_ >= options_.criticWarmUp || !hasCritic_);
        const auto zero = [&] {
            return at::zeros({}, at::TensorOptions(input_.actor.device()).dtype(at::kFloat));
        };
        Sums sums{zero(), zero(), zero(), zero(), zero(), zero(), zero()};
        double actorNorm = 0, criticNorm = 0, actorSeconds = 0, criticSeconds = 0;
        const auto timed = [](double &into, const auto &work) {
            const auto begin = Clock::now();
            const auto result = work();
            into += secondsSince(begin);
            return result;
        };
        for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
            auto random = randomOf({input_.recipe.seed, static_cast<std::uint64_t>(done_),
                                    static_cast<std::uint64_t>(epoch)});
            const auto order = shuffled(count, random);
            for (std::int64_t first = 0; first < count; first += mini) {
                const std::vector<std::size_t> chosen(
                    order.begin() + first, order.begin() + std::min(first + mini, count));
                if (actorLearns)
                    actorNorm = timed(actorSeconds, [&] {
                        return updateActor(experience, tables, chosen, actorRate, sums);
                    });
                if (hasCritic_)
                    criticNorm = timed(criticSeconds, [&] {
                        return updateCritic(experience, tables, chosen, criticRate, sums);
                    });
                ++sums.batches;
            }
        }
        auto told = at::stack({sums.policy, sums.kl, sums.clipped, sums.lower, sums.value,
                               sums.valueClipped, sums.said});
        input_.processes.sum(told);
        sums = {told[0], told[1], told[2], told[3], told[4], told[5], told[6], sums.batches};
        const auto mean = [&](const at::Tensor &sum) {
            return sum.item<double>() / std::max(sums.batches, 1);
        };
        if (actorLearns) {
            metrics["actor/pg_loss"] = mean(sums.policy);
            metrics["actor/ppo_kl"] = mean(sums.kl);
            metrics["actor/pg_clipfrac"] = mean(sums.clipped);
            metrics["actor/pg_clipfrac_lower"] = mean(sums.lower);
            metrics["actor/grad_norm"] = actorNorm;
            metrics["actor/lr"] = actorRate;
            metrics["timing_s/update_actor"] = actorSeconds;
            CUDA_AGENT_TRY(checkFinite(metrics["actor/pg_loss"]));
        }
        if (hasCritic_) {
            metrics["critic/vf_loss"] = mean(sums.value);
            metrics["critic/vf_clipfrac"] = mean(sums.valueClipped);
            metrics["critic/vpred_mean"] = mean(sums.said);
            metrics["critic/grad_norm"] = criticNorm;
            metrics["critic/lr"] = criticRate;
            metrics["timing_s/update_critic"] = criticSeconds;
            CUDA_AGENT_TRY(checkFinite(metrics["critic/vf_loss"]));
        }
        return {};
    }

    /// Returns the gradients' norm.
    double updateActor(const Experience &experience, const Tables &tables,
                       const std::vector<std::size_t> &chosen, double rate, Sums &sums) {
        const double tokens = tokensOf(experience, chosen);
        actorOptimiser_.zeroGradients();
        for (const auto &group : experience.groups(shareOf(experience, chosen))) {
            const auto batch = experience.batch(group);
            const auto loss = policyLoss(batch.logProbabilities(input_.actor, sampling_),
                                         experience.rows(tables.old, group, batch),
                                         experience.rows(tables.advantages, group, batch),
                                         batch.mask(), tokens, options_.ppo);
            loss.loss.backward();
            sums.policy += loss.loss.detach();
            sums.kl += loss.kl;
            sums.clipped += loss.clipped;
            sums.lower += loss.clippedLower;
        }
        auto gradients = input_.actor.parameters().gradients();
        input_.processes.sum(gradients);
        return actorOptimiser_.step(rate).item<double>();
    }

    double updateCritic(const Experience &experience, const Tables &tables,
                        const std::vector<std::size_t> &chosen, double rate, Sums &sums) {
        const double tokens = tokensOf(experience, chosen);
        criticOptimiser_->zeroGradients();
        for (const auto &group : experience.groups(shareOf(experience, chosen))) {
            const auto batch = experience.batch(group);
            const auto values = batch.values(*input_.critic);
            const auto loss = valueLoss(values, experience.rows(tables.values, group, batch),
                                        experience.rows(tables.returns, group, batch), batch.mask(),
                                        tokens, options_.ppo);
            loss.loss.backward();
            sums.value += loss.loss.detach();
            sums.valueClipped += loss.clipped;
            sums.said += values.detach().masked_select(batch.mask()).sum() / tokens;
        }
        auto gradients = input_.critic->parameters().gradients();
        input_.processes.sum(gradients);
        return criticOptimiser_->step(rate).item<double>();
    }

    /// This process's part of a mini batch.
    std::vector<std::size_t> shareOf(const Experience &experience,
                                     const std::vector<std::size_t> &chosen) const {
        return experience.share(chosen, input_.processes.rank(), input_.processes.size());
    }

    static double tokensOf(const Experience &experience, const std::vector<std::size_t> &chosen) {
        double tokens = 0;
        for (const auto i : chosen)
            tokens += experience.mask()[static_cast<std::int64_t>(i)].sum().item<double>();
        return tokens;
    }

    Result<void> save(const fs::path &folder) const override {
        CUDA_AGENT_TRY(saveOptimiser(folder / "optimiser.safetensors", actorOptimiser_));
        if (criticOptimiser_)
            CUDA_AGENT_TRY(
                saveOptimiser(folder / "critic_optimiser.safetensors", *criticOptimiser_));
        return reference_ ? reference_->save(folder / "reference",
                                             reference_->parameters().values().scalar_type())
                          : Result<void>();
    }

    Result<void> restore(const Checkpoint &checkpoint) override {
        CUDA_AGENT_TRY(
            restoreOptimiser(checkpoint.folder / "optimiser.safetensors", actorOptimiser_));
        if (criticOptimiser_)
            CUDA_AGENT_TRY(restoreOptimiser(checkpoint.folder / "critic_optimiser.safetensors",
                                            *criticOptimiser_));
        kl_ = AdaptiveKl(checkpoint.state.value("kl", options_.kl), options_.klTarget,
                         options_.klHorizon);
        if (reference_) {
            CUDA_AGENT_ASSIGN(reference,
                              Transformer::load(checkpoint.folder / "reference",
                                                Transformer::Head::logits, input_.actor.device(),
                                                input_.actor.parameters().values().scalar_type()));
            reference_.emplace(std::move(reference));
        }
        return {};
    }

    Json state() const override { return {{"kl", kl_.coefficient()}}; }

    const PpoStageOptions &options_;
    const bool hasCritic_;
    Optimiser actorOptimiser_;
    std::optional<Optimiser> criticOptimiser_;
    std::optional<Transformer> reference_; ///< the stage's first actor, where the penalty needs it
    const Sampling sampling_;
    AdaptiveKl kl_;
};

} // namespace

std::unique_ptr<Stage> makePpo(const StageInput &input, std::string_view name,
                               const PpoStageOptions &options) {
    return std::make_unique<Ppo>(input, name, options);
}

} // namespace cuda_agent::learn
