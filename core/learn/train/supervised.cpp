// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The stages that first collect and then learn from what was collected.
#include "core/base/elapsed.h"
#include "core/learn/train/experience.h"
#include "core/learn/train/stages.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace cuda_agent::learn {

namespace fs = std::filesystem;

namespace {

/// Why `rft` does not learn from it; empty: it does.
std::string reasonAgainst(const Trajectory &one, const RftOptions &options) {
    const auto &episode = one.episode;
    if (one.record.cut)
        return "were cut";
    if (one.reward < options.leastReward)
        return "have too little reward (least_reward)";
    if (episode.refused > options.mostRefused)
        return "have calls that could not be done (most_refused)";
    if (episode.turns - episode.bestTurn > options.mostIdleTurns)
        return "went on for too long after their best turn (most_idle_turns)";
    return {};
}

using Clock = std::chrono::steady_clock;

/// `rounds` steps of tries, whose trajectories are kept in the run's folder, then steps of updates.
class CollectThenLearn : public Stage {
  protected:
    template <typename Options>
    CollectThenLearn(const StageInput &input, std::string_view name, const Options &options,
                     const Transformer &learner)
        : Stage(input, name, options.rounds + options.steps, options.checkpointEvery),
          rounds_(options.rounds), batch_(options.batch), updates_(options.steps),
          microTokens_(options.microTokens), tries_(options.tries), rates_(options.optimiser),
          learner_(learner), optimiser_(learner.parameters(), options.optimiser) {}

    /// Which of all are learned from.
    virtual std::vector<std::size_t> kept(const std::vector<Trajectory> &all) const = 0;
    virtual void begin(const Experience &) {} ///< before the groups of a batch
    /// The loss of a group's tokens over `tokens`, with gradients.
    virtual at::Tensor loss(const Experience &experience, const std::vector<std::size_t> &group,
                            double tokens) = 0;
    virtual void finish(const Experience &, Metrics &) {} ///< after the groups
    virtual std::string_view prefix() const = 0;          ///< of metrics: "train", "critic"
    /// Times that updates come to a trajectory; 0: no limit.
    virtual std::int64_t mostPasses() const { return 0; }
    /// Of trajectories of which none is kept, in brackets behind a blank.
    virtual std::string whyNot(const std::vector<Trajectory> &) const { return {}; }

  private:
    Result<void> step(const std::stop_token &stop) override {
        return done_ < rounds_ ? collectRound(stop) : update(stop);
    }

    Rollouts::Wanted wanted(std::int64_t round) const {
        Rollouts::Wanted wanted;
        wanted.stage = name_;
        wanted.step = round;
        wanted.steps = rounds_;
        wanted.runStep = input_.firstStep + round + 1;
        wanted.tries = tries_;
        wanted.keep = true;
        return wanted;
    }

    Result<void> collectRound(const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(collected, input_.rollouts->play(wanted(done_), stop));
        ++done_;
        return log(metricsOf(collected));
    }

    /// Reads the rounds, which lie in the run's folder.
    Result<void> gather(const std::stop_token &stop) {
        std::vector<Trajectory> all;
        for (std::int64_t round = 0; round < rounds_; ++round) {
            CUDA_AGENT_ASSIGN(collected, input_.rollouts->play(wanted(round), stop));
            for (auto &one : collected.trajectories)
                if (one.record.ownTokens() > 0)
                    all.push_back(std::move(one));
        }
        const auto good = kept(all);
        if (good.empty())
            return failedError("not one of {} trajectories is good enough to learn from{}: the "
                               "policy is too weak for this stage, or asks too much",
                               all.size(), whyNot(all));
        share_ = static_cast<double>(good.size()) / static_cast<double>(all.size());
        for (const auto i : good)
            learned_.push_back(std::move(all[i]));
        if (mostPasses() > 0) {
            const auto size = static_cast<std::int64_t>(learned_.size());
            const auto each = std::min(batch_, size);
            updates_ = std::min(updates_, (mostPasses() * size + each - 1) / each);
            steps_ = rounds_ + updates_;
        }
        return {};
    }

    Result<void> update(const std::stop_token &stop) {
        const auto begin = Clock::now();
        if (learned_.empty())
            CUDA_AGENT_TRY(gather(stop));
        if (done_ >= steps_) // it goes on behind the last one
            return {};
        const auto at = done_ - rounds_;
        const auto size = static_cast<std::int64_t>(learned_.size());
        Rounds rounds(size, input_.recipe.seed);
        std::vector<Trajectory> batch;
        for (std::int64_t i = 0; i < std::min(batch_, size); ++i)
            batch.push_back(learned_[static_cast<std::size_t>(rounds[at * batch_ + i])]);
        const Experience experience(batch, input_.actor.device(), microTokens_);
        const double tokens = experience.mask().sum().item<double>();
        optimiser_.zeroGradients();
        this->begin(experience);
        auto &processes = input_.processes;
        auto whole = at::zeros({}, at::TensorOptions(input_.actor.device()).dtype(at::kFloat));
        for (const auto &group : experience.groups(
                 experience.share(experience.all(), processes.rank(), processes.size()))) {
            const auto part = loss(experience, group, tokens);
            part.backward();
            whole += part.detach();
        }
        auto gradients = learner_.parameters().gradients();
        processes.sum(gradients);
        processes.sum(whole);
        const auto rate = learningRate(rates_, at, updates_);
        const auto norm = optimiser_.step(rate);
        const auto value = whole.item<double>();
        CUDA_AGENT_TRY(checkFinite(value));
        ++done_;
        tokens_ += static_cast<std::int64_t>(tokens);
        Metrics metrics;
        finish(experience, metrics);
        metrics[prefix() == "critic" ? "critic/vf_loss" : "train/loss"] = value;
        metrics[fmt::format("{}/grad_norm", prefix())] = norm.item<double>();
        metrics[fmt::format("{}/lr", prefix())] = rate;
        metrics["train/tokens"] = static_cast<double>(tokens_);
        if (at == 0)
            metrics["rft/kept"] = share_;
        metrics["perf/time_per_step"] = secondsSince(begin);
        return log(metrics);
    }

    Result<void> save(const fs::path &folder) const override {
        return saveOptimiser(folder / "optimiser.safetensors", optimiser_);
    }
    Result<void> restore(const Checkpoint &checkpoint) override {
        return restoreOptimiser(checkpoint.folder / "optimiser.safetensors", optimiser_);
    }

    const std::int64_t rounds_, batch_;
    std::int64_t updates_; ///< fewer where `mostPasses` through what is kept are
    const std::int64_t microTokens_;
    const Tries tries_;
    const OptimiserOptions rates_;
    const Transformer &learner_;
    Optimiser optimiser_;
    std::vector<Trajectory> learned_; ///< what is learned from, after the last round
    double share_ = 1;                ///< of all trajectories, these
};

class Rft : public CollectThenLearn {
  public:
    explicit Rft(const StageInput &input)
        : CollectThenLearn(input, rftStage, input.recipe.rft, input.actor) {}

  private:
    std::vector<std::size_t> kept(const std::vector<Trajectory> &all) const override {
        return goodOnes(all, input_.recipe.rft);
    }
    std::string whyNot(const std::vector<Trajectory> &all) const override {
        std::map<std::string, int> reasons;
        for (const auto &one : all)
            ++reasons[reasonAgainst(one, input_.recipe.rft)];
        std::vector<std::string> told;
        for (const auto &[reason, count] : reasons)
            told.push_back(fmt::format("{} {}", count, reason));
        return fmt::format(" ({})", fmt::join(told, ", "));
    }
    std::int64_t mostPasses() const override { return input_.recipe.rft.mostPasses; }
    at::Tensor loss(const Experience &experience, const std::vector<std::size_t> &group,
                    double tokens) override {
        const auto batch = experience.batch(group);
        return -batch.logProbabilities(input_.actor, {}).sum() / tokens;
    }
    std::string_view prefix() const override { return "train"; }
};

class ValuePretrain : public CollectThenLearn {
  public:
    explicit ValuePretrain(const StageInput &input)
        : CollectThenLearn(input, valueStage, input.recipe.valuePretrain, criticOf(input)) {}

  private:
    std::vector<std::size_t> kept(const std::vector<Trajectory> &all) const override {
        std::vector<std::size_t> everybody(all.size());
        std::iota(everybody.begin(), everybody.end(), std::size_t{0});
        return everybody;
    }
    at::Tensor loss(const Experience &experience, const std::vector<std::size_t> &group,
                    double tokens) override {
        const auto batch = experience.batch(group);
        const auto values = batch.values(*input_.critic);
        // Without a discount and by Monte Carlo, every state's return is the trajectory's reward.
        const auto returns = experience.rewards(group).unsqueeze(1).expand_as(values);
        for (std::size_t i = 0; i < group.size(); ++i)
            said_[static_cast<std::int64_t>(group[i])]
                .narrow(0, 0, batch.most())
                .copy_(values.detach()[static_cast<std::int64_t>(i)]);
        return valueLoss(values, values.detach(), returns, batch.mask(), tokens, {}).loss;
    }
    void begin(const Experience &experience) override {
        said_ = at::zeros(experience.mask().sizes(), experience.mask().options().dtype(at::kFloat));
    }
    void finish(const Experience &experience, Metrics &metrics) override {
        input_.processes.sum(said_);
        const auto &mask = experience.mask();
        const auto meant =
            experience.rewards(experience.all()).unsqueeze(1).expand_as(said_).contiguous();
        metrics["critic/vf_explained_var"] = explainedVariance(said_, meant, mask);
        metrics["critic/vpred_mean"] = said_.masked_select(mask).mean().item<double>();
        metrics["critic/returns/mean"] = meant.masked_select(mask).mean().item<double>();
    }
    std::string_view prefix() const override { return "critic"; }

    at::Tensor said_; ///< of the batch: a table of the critic's values
};

} // namespace

std::vector<std::size_t> goodOnes(const std::vector<Trajectory> &trajectories,
                                  const RftOptions &options) {
    std::vector<std::size_t> good;
    for (std::size_t i = 0; i < trajectories.size(); ++i)
        if (reasonAgainst(trajectories[i], options).empty())
            good.push_back(i);
    if (options.mostOfATask == 0)
        return good;
    std::ranges::stable_sort(good, std::greater(), [&](std::size_t i) {
        return std::pair(trajectories[i].reward, trajectories[i].episode.overCompile);
    });
    std::map<std::string, std::int64_t> taken;
    std::erase_if(
        good, [&](std::size_t i) { return ++taken[trajectories[i].task] > options.mostOfATask; });
    std::ranges::sort(good);
    return good;
}

std::unique_ptr<Stage> makeRft(const StageInput &input) {
    return std::make_unique<Rft>(input);
}

std::unique_ptr<Stage> makeValuePretrain(const StageInput &input) {
    return std::make_unique<ValuePretrain>(input);
}

Transformer &criticOf(const StageInput &input) {
    if (!input.critic)
        input.critic.emplace(input.actor.copy(Transformer::Head::value));
    return *input.critic;
}

} // namespace cuda_agent::learn
