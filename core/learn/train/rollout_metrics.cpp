// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/rollout_metrics.h"

#include "core/reward/reward.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cuda_agent::learn {

namespace {

/// Rates and speed-ups of some tries, without a name's beginning; nothing of none, and how many are
/// faster only where those that are correct were timed.
Metrics ratesOf(const std::vector<const Episode *> &episodes) {
    Metrics metrics;
    double correct = 0, eager = 0, compile = 0, orAtLimit = 0, logs = 0, compared = 0;
    bool timed = false;
    for (const auto *episode : episodes) {
        if (!episode->correct())
            continue;
        ++correct;
        timed = timed || episode->seconds > 0;
        eager += episode->overEager > reward::clearlyFaster;
        const bool faster = episode->overCompile > reward::clearlyFaster;
        compile += faster;
        orAtLimit += faster || episode->ofLimit >= reward::atLimit;
        if (episode->overCompile > 0) {
            logs += std::log(episode->overCompile);
            ++compared;
        }
    }
    const auto count = static_cast<double>(episodes.size());
    if (count > 0)
        metrics["pass_rate"] = correct / count;
    if (count > 0 && (timed || correct == 0)) {
        metrics["faster_than_eager"] = eager / count;
        metrics["faster_than_compile"] = compile / count;
        metrics["faster_or_at_limit"] = orAtLimit / count;
    }
    if (compared > 0)
        metrics["geomean_speedup"] = std::exp(logs / compared);
    return metrics;
}

void prefixedInto(Metrics &metrics, const std::string &prefix, const Metrics &rates) {
    for (const auto &[name, value] : rates)
        metrics[prefix + name] = value;
}

/// Mean, greatest and least under verl's three names.
void spanInto(Metrics &metrics, const std::string &name, const std::vector<double> &values) {
    if (values.empty())
        return;
    metrics[name + "/mean"] =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    metrics[name + "/max"] = std::ranges::max(values);
    metrics[name + "/min"] = std::ranges::min(values);
}

/// What a phase of a verdict is, in the words of the metrics.
std::string_view partOf(std::string_view phase) {
    if (phase == "compile")
        return "compile";
    if (phase == "waiting")
        return "device_wait";
    return phase == "timing" || phase == "baselines" ? "time" : "verify";
}

} // namespace

Metrics metricsOf(const Collected &collected) {
    Metrics metrics;
    std::vector<double> scores, responses, prompts, turns, calls;
    std::vector<const Episode *> episodes;
    double refused = 0, cut = 0, shown = 0, entropy = 0, written = 0, all = 0;
    for (const auto &one : collected.trajectories) {
        const auto own = one.record.ownTokens();
        responses.push_back(static_cast<double>(own));
        const auto first = std::ranges::find(one.record.byPolicy, 1);
        prompts.push_back(static_cast<double>(first - one.record.byPolicy.begin()));
        cut += one.record.cut;
        shown += static_cast<double>(one.exemplars);
        written += static_cast<double>(own);
        all += static_cast<double>(one.record.tokens.size());
        entropy += std::accumulate(one.record.entropy.begin(), one.record.entropy.end(), 0.0);
    }
    const auto whole = wholeEpisodes(collected.trajectories);
    for (const auto &one : whole) {
        episodes.push_back(&one.episode);
        scores.push_back(one.reward);
        turns.push_back(one.episode.turns);
        calls.push_back(one.episode.calls);
        refused += one.episode.refused;
    }
    const auto count = static_cast<double>(collected.trajectories.size());
    spanInto(metrics, "critic/score", scores);
    spanInto(metrics, "response_length", responses);
    spanInto(metrics, "prompt_length", prompts);
    spanInto(metrics, "num_turns", turns);
    spanInto(metrics, "tool_call_counts", calls);
    if (count > 0) {
        metrics["response_length/clip_ratio"] = cut / count;
        const auto made = std::accumulate(calls.begin(), calls.end(), 0.0);
        metrics["tools/error_rate"] = made > 0 ? refused / made : 0;
        metrics["perf/total_num_tokens"] = all;
        if (shown > 0)
            metrics["prompt/exemplars"] = shown / count;
    }
    prefixedInto(metrics, "reward/", ratesOf(episodes));
    if (written > 0)
        metrics["actor/entropy"] = entropy / written;
    metrics["env/infrastructure_failures"] = static_cast<double>(collected.machineFailures);
    metrics["env/stragglers"] = static_cast<double>(collected.stragglers);
    metrics["env/unusable_tasks"] = static_cast<double>(collected.unusable);
    if (collected.seconds > 0) {
        metrics["env/episodes_per_second"] =
            static_cast<double>(collected.asked) / collected.seconds;
        metrics["timing_s/rollout"] = collected.seconds;
        metrics["timing_s/gen"] = collected.writing;
        if (collected.written > 0)
            metrics["perf/guessed_tokens"] =
                static_cast<double>(collected.guessed) / static_cast<double>(collected.written);
        metrics["timing_s/gen_wait"] = collected.heldUp;
        metrics["timing_s/reward"] = collected.judging;
        metrics["timing_s/judge_wait"] = collected.waiting;
        metrics["timing_s/prepare"] = collected.preparing;
        for (const auto &[phase, seconds] : collected.phases)
            metrics[fmt::format("timing_s/{}", partOf(phase))] += seconds;
    }
    return metrics;
}

void workSharesInto(Metrics &metrics) {
    static const std::map<std::string, std::vector<std::string>> parts{
        {"decode", {"gen"}},
        {"prepare", {"prepare"}},
        {"compile", {"compile"}},
        {"verify", {"verify"}},
        {"time", {"time"}},
        {"update", {"old_log_prob", "values", "adv", "update_actor", "update_critic"}}};
    std::map<std::string, double> seconds;
    double all = 0;
    for (const auto &[part, timings] : parts)
        for (const auto &timing : timings)
            if (const auto found = metrics.find("timing_s/" + timing); found != metrics.end()) {
                seconds[part] += found->second;
                all += found->second;
            }
    if (all > 0)
        for (const auto &[part, own] : seconds)
            metrics["perf/work_share/" + part] = own / all;
}

Metrics memorisedOf(const Collected &collected, const CandidateIndex &corpus) {
    const auto whole = wholeEpisodes(collected.trajectories);
    std::vector<const Episode *> others;
    for (const auto &one : whole)
        if (!corpus.has(one.episode.candidate))
            others.push_back(&one.episode);
    Metrics metrics;
    const auto count = static_cast<double>(whole.size());
    if (count > 0)
        metrics["memorised"] = 1 - static_cast<double>(others.size()) / count;
    prefixedInto(metrics, "unmemorised/", ratesOf(others));
    return metrics;
}

} // namespace cuda_agent::learn
