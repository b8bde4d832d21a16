// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/metric_names.h"

#include <array>

namespace cuda_agent::learn {

namespace {

constexpr auto names = std::to_array<MetricName>({
    {"critic/score/mean", "", "Mean score of the sequences, as the environment gives it."},
    {"critic/score/max", "", "Greatest score of a sequence of the batch."},
    {"critic/score/min", "", "Least score of a sequence of the batch."},
    {"critic/rewards/mean", "", "Mean reward of the sequences: score less the KL penalty, if any."},
    {"critic/rewards/max", "", "Greatest reward of a sequence of the batch."},
    {"critic/rewards/min", "", "Least reward of a sequence of the batch."},
    {"critic/advantages/mean", "", "Mean advantage over the response tokens."},
    {"critic/advantages/max", "", "Greatest advantage of a response token."},
    {"critic/advantages/min", "", "Least advantage of a response token."},
    {"critic/returns/mean", "", "Mean return over the response tokens."},
    {"critic/returns/max", "", "Greatest return of a response token."},
    {"critic/returns/min", "", "Least return of a response token."},
    {"critic/values/mean", "", "Mean of the critic's estimates over the response tokens."},
    {"critic/values/max", "", "Greatest estimate of the critic for a response token."},
    {"critic/values/min", "", "Least estimate of the critic for a response token."},
    {"critic/vf_loss", "", "Loss of the critic: squared error of its estimates."},
    {"critic/vf_clipfrac", "share", "Share of tokens whose value loss was clipped."},
    {"critic/vf_explained_var", "",
     "1 - Var(return - value) / Var(return); 1 is a perfect critic, 0 one that knows only the "
     "mean."},
    {"critic/vpred_mean", "", "Mean of the critic's estimates during the update."},
    {"critic/grad_norm", "", "Norm of the critic's gradient before clipping."},
    {"critic/lr", "", "Learning rate of the critic."},
    {"actor/pg_loss", "", "Policy gradient loss (clipped surrogate)."},
    {"actor/entropy", "nat", "Mean entropy of the policy's next-token distribution."},
    {"actor/ppo_kl", "nat",
     "Estimated KL divergence from the policy that sampled to the one updated."},
    {"actor/pg_clipfrac", "share", "Share of tokens whose ratio was clipped."},
    {"actor/pg_clipfrac_lower", "share",
     "Share of tokens of negative advantage that the dual clip bounded."},
    {"actor/kl_loss", "nat", "KL divergence from the reference policy, as a loss."},
    {"actor/kl_coef", "", "Weight of that loss."},
    {"actor/reward_kl_penalty", "nat",
     "KL divergence from the reference policy that was taken off the rewards."},
    {"actor/reward_kl_penalty_coeff", "", "Weight of that penalty."},
    {"actor/grad_norm", "", "Norm of the actor's gradient before clipping."},
    {"actor/lr", "", "Learning rate of the actor."},
    {"response_length/mean", "tokens", "Mean length of the responses."},
    {"response_length/max", "tokens", "Length of the longest response."},
    {"response_length/min", "tokens", "Length of the shortest response."},
    {"response_length/clip_ratio", "share",
     "Share of responses that reached the longest length allowed."},
    {"response/aborted_ratio", "share", "Share of samples without any response token."},
    {"prompt_length/mean", "tokens", "Mean length of the prompts."},
    {"prompt_length/max", "tokens", "Length of the longest prompt."},
    {"prompt_length/min", "tokens", "Length of the shortest prompt."},
    {"prompt/exemplars", "candidates",
     "Mean number of earlier candidates, with their scores, that the prompts showed."},
    {"prompt_length/clip_ratio", "share",
     "Share of prompts that reached the longest length allowed."},
    {"num_turns/mean", "turns", "Mean number of turns of an episode."},
    {"num_turns/max", "turns", "Turns of the longest episode."},
    {"num_turns/min", "turns", "Turns of the shortest episode."},
    {"tool_call_counts/mean", "calls", "Mean number of tool calls of an episode."},
    {"tool_call_counts/max", "calls", "Greatest number of tool calls of an episode."},
    {"tool_call_counts/min", "calls", "Least number of tool calls of an episode."},
    {"perf/guessed_tokens", "share",
     "Share of the drawn tokens that had been guessed from what was written before, and took no "
     "pass of the model's own."},
    {"perf/total_num_tokens", "tokens", "Tokens of the batch, prompts and responses."},
    {"perf/time_per_step", "s", "Time of the whole step."},
    {"perf/throughput", "tokens/s", "Tokens a second and GPU."},
    {"perf/max_memory_allocated_gb", "GB", "Most memory that was in use on the GPU."},
    {"perf/max_memory_reserved_gb", "GB", "Most memory that the allocator held on the GPU."},
    {"perf/cpu_memory_used_gb", "GB", "Main memory in use."},
    {"perf/work_share/*", "share",
     "That part's share of all seconds of decoding, preparing judges, compiling, verifying, timing "
     "and updating, whatever ran beside what."},
    {"perf/mfu/*", "share",
     "Model floating point operations against the GPU's peak, of that part."},
    {"timing_s/gen", "s", "Sampling the rollouts."},
    {"timing_s/gen_wait", "s", "Sampling waited for the device, where others timed on it."},
    {"timing_s/reward", "s", "Compiling, verifying and timing the candidates."},
    {"timing_s/prepare", "s", "Preparing the tasks' judges, over all of them."},
    {"timing_s/compile", "s", "Compiling candidates, over all environments."},
    {"timing_s/verify", "s", "Starting and verifying candidates, over all environments."},
    {"timing_s/time", "s", "Timing candidates, alone on the device, over all environments."},
    {"timing_s/device_wait", "s", "Waiting for the device to time on it, over all environments."},
    {"timing_s/old_log_prob", "s", "Log-probabilities under the policy that sampled."},
    {"timing_s/values", "s", "The critic's estimates."},
    {"timing_s/adv", "s", "Advantages and returns."},
    {"timing_s/update_critic", "s", "Updating the critic."},
    {"timing_s/update_actor", "s", "Updating the actor."},
    {"timing_s/save_checkpoint", "s", "Writing a checkpoint."},
    {"timing_s/testing", "s", "Evaluating on held-out tasks."},
    {"timing_s/step", "s", "The whole step."},
    {"timing_s/*", "s", "Time of that part of the step."},
    {"timing_per_token_ms/*", "ms", "Time of that part of the step for one token."},
    {"train/loss", "nat/token", "Cross entropy of supervised training."},
    {"train/lr", "", "Learning rate of supervised training."},
    {"train/grad_norm", "", "Norm of the gradient before clipping, in supervised training."},
    {"train/tokens", "tokens", "Tokens that the run has seen so far: the axis of tokens."},
    {"training/epoch", "", "Passes over the training set."},
    {"training/global_step", "", "Step of the run."},
    {"val/loss", "nat/token", "Cross entropy on held-out documents."},
    {"val/*", "", "On held-out tasks or documents."},
    {"val-aux/*/memorised", "share",
     "Share of episodes whose best candidate has the kernel sources of one in the training corpus, "
     "but for blanks at ends of lines."},
    {"val-aux/*/unmemorised/pass_rate", "share",
     "Share of correct candidates among the episodes whose answer is not in the training corpus."},
    {"val-aux/*/unmemorised/faster_than_eager", "share",
     "Share of candidates more than 5 % faster than PyTorch eager among the episodes whose answer "
     "is not in the training corpus."},
    {"val-aux/*/unmemorised/faster_than_compile", "share",
     "Share of candidates more than 5 % faster than torch.compile among the episodes whose answer "
     "is not in the training corpus."},
    {"val-aux/*/unmemorised/faster_or_at_limit", "share",
     "Share of candidates more than 5 % faster than torch.compile, or at the machine's limit, "
     "among the episodes whose answer is not in the training corpus."},
    {"val-aux/*/unmemorised/geomean_speedup", "x",
     "Geometric mean of the speed-up over torch.compile of the correct candidates that are not in "
     "the training corpus."},
    {"val-core/*/pass_rate", "share",
     "On held-out tasks: share of those with a correct candidate."},
    {"val-core/*/faster_than_eager", "share",
     "On held-out tasks: share of candidates more than 5 % faster than PyTorch eager."},
    {"val-core/*/faster_than_compile", "share",
     "On held-out tasks: share of candidates more than 5 % faster than torch.compile."},
    {"val-core/*/faster_or_at_limit", "share",
     "On held-out tasks: share of candidates more than 5 % faster than torch.compile, or at the "
     "machine's limit."},
    {"val-core/*/geomean_speedup", "x",
     "On held-out tasks: geometric mean of the correct candidates' speed-up over torch.compile."},
    {"val-core/*", "", "On held-out tasks: the figures that decide."},
    {"val-aux/*", "", "On held-out tasks: further figures."},
    {"reward/pass_rate", "share", "Share of episodes with a correct candidate."},
    {"reward/faster_than_eager", "share",
     "Share of episodes whose candidate is more than 5 % faster than PyTorch eager."},
    {"reward/faster_than_compile", "share",
     "Share of episodes whose candidate is more than 5 % faster than torch.compile."},
    {"reward/faster_or_at_limit", "share",
     "Share of episodes whose candidate is more than 5 % faster than torch.compile, or takes no "
     "more than 1/0.95 of the least time that the machine could need."},
    {"reward/geomean_speedup", "x",
     "Geometric mean of the correct candidates' speed-up over torch.compile."},
    {"tools/error_rate", "share", "Share of tool calls that were answered with an error."},
    {"env/infrastructure_failures", "episodes",
     "Episodes dropped because the machine failed; they are no wrong answers."},
    {"env/stragglers", "episodes", "Episodes dropped because they took too long."},
    {"env/unusable_tasks", "episodes", "Episodes dropped because their task cannot be judged by."},
    {"env/episodes_per_second", "episodes/s", "Episodes brought to their end in a second."},
    {"rft/kept", "share", "Share of the trajectories that are good enough to learn from."},
    {"training/rollout_probs_diff_mean", "",
     "Mean difference of tokens' probabilities between sampling and the update's model."},
    {"training/rollout_probs_diff_max", "", "Greatest such difference."},
});

} // namespace

std::span<const MetricName> metricNames() {
    return names;
}

const MetricName *findMetricName(std::string_view name) {
    for (const MetricName &entry : names)
        if (entry.name == name)
            return &entry;
    for (const MetricName &entry : names) {
        const auto star = entry.name.find('*');
        if (star == entry.name.npos)
            continue;
        const auto before = entry.name.substr(0, star), behind = entry.name.substr(star + 1);
        if (name.size() > before.size() + behind.size() && name.starts_with(before) &&
            name.ends_with(behind))
            return &entry;
    }
    return nullptr;
}

} // namespace cuda_agent::learn
