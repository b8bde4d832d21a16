// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/rollouts.h"

#include "core/bench/summary.h"
#include "core/device/lease.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::learn {

namespace fs = std::filesystem;

namespace {

/// A number for each of a few names and numbers (FNV-1a over their text).
std::uint64_t numberOf(const std::string &text) {
    std::uint64_t hash = 14695981039346656037ull;
    for (const unsigned char byte : text)
        hash = (hash ^ byte) * 1099511628211ull;
    return hash;
}

JudgePool::Options judgesOf(const TrainRecipe &recipe, const fs::path &run,
                            const device::Info &device) {
    const auto &rollout = recipe.rollout;
    JudgePool::Options options;
    options.device = nameOf(device.kind);
    options.gpu = device.kind == device::Kind::cuda ? device.index : 0;
    options.judge.timing = rollout.timing;
    options.judge.interleaveBaselines = false;
    options.judge.numerics =
        task::numericsFromName(rollout.numerics).value_or(task::Numerics::standard);
    if (rollout.timing)
        options.judge.baselines = rollout.baselines.empty() ? run / "baselines" : rollout.baselines;
    options.kept = static_cast<std::size_t>(rollout.judges);
    options.atOnce = static_cast<int>(rollout.verdicts);
    // What others compute on a CPU takes time from what is timed there.
    const int cores = rollout.timing ? device.multiprocessors / 2 : device.multiprocessors;
    if (options.atOnce == 0)
        options.atOnce = device.kind == device::Kind::cuda ? 8 : std::max(1, cores);
    return options;
}

/// `most` of them, spread over all; 0: all.
std::vector<bench::SuiteTask> spread(std::vector<bench::SuiteTask> tasks, std::int64_t most) {
    const auto size = static_cast<std::int64_t>(tasks.size());
    if (most == 0 || most >= size)
        return tasks;
    std::vector<bench::SuiteTask> some;
    for (std::int64_t i = 0; i < most; ++i)
        some.push_back(tasks[static_cast<std::size_t>(i * size / most)]);
    return some;
}

Result<std::vector<bench::SuiteTask>> tasksOf(const fs::path &set, const std::string &split) {
    bench::Selection selection;
    selection.splits = {split};
    CUDA_AGENT_ASSIGN(suite, bench::openSuite(set, selection));
    return std::move(suite.tasks);
}

RolloutRow rowOf(const Trajectory &one, std::int64_t runStep, std::string note) {
    return {runStep, one.task, one.reward, one.episode.turns, one.session, std::move(note)};
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

} // namespace

Rollouts::Rollouts(const TrainRecipe &recipe, RunWriter &run, const Transformer &actor,
                   Tokenizer tokenizer, JudgePool::Options judges, device::Info device)
    : recipe_(recipe), run_(run), actor_(actor), tokenizer_(std::move(tokenizer)),
      device_(std::move(device)), judges_(std::move(judges)) {}

Result<std::unique_ptr<Rollouts>> Rollouts::open(const TrainRecipe &recipe, RunWriter &run,
                                                 const Transformer &actor, Tokenizer tokenizer,
                                                 fs::path replay) {
    CUDA_AGENT_ASSIGN(train, tasksOf(recipe.rollout.tasks, "train"));
    CUDA_AGENT_ASSIGN(device, actor.device().is_cuda() ? device::openCuda(actor.device().index())
                                                       : device::openCpu());
    const auto info = device->info();
    std::unique_ptr<Rollouts> rollouts(new Rollouts(recipe, run, actor, std::move(tokenizer),
                                                    judgesOf(recipe, run.folder(), info), info));
    rollouts->train_ = std::move(train);
    for (const auto &split : recipe.scoring.splits) {
        CUDA_AGENT_ASSIGN(tasks, tasksOf(recipe.rollout.tasks, split));
        rollouts->scored_[split] = spread(std::move(tasks), recipe.scoring.tasks);
    }
    rollouts->replay_ = std::move(replay);
    return rollouts;
}

fs::path Rollouts::trajectoryFile(const fs::path &run, std::string_view stage, std::int64_t step) {
    return run / "trajectories" / stage / fmt::format("step-{}.safetensors", step);
}

Result<Collected> Rollouts::play(const Wanted &wanted, const std::stop_token &stop) {
    const auto kept =
        trajectoryFile(replay_.empty() ? run_.folder() : replay_, wanted.stage, wanted.step);
    if (!replay_.empty() || (wanted.keep && fs::exists(kept))) {
        Collected collected;
        CUDA_AGENT_ASSIGN(trajectories, readTrajectories(kept));
        collected.asked = static_cast<std::int64_t>(trajectories.size());
        collected.trajectories = std::move(trajectories);
        return collected;
    }
    const auto tasks = chosen(wanted);
    std::vector<Try> tries;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        for (std::int64_t k = 0; k < wanted.tries.samples; ++k)
            tries.push_back({tasks[i], static_cast<std::int64_t>(i),
                             numberOf(fmt::format("{} {} {} {} {}", recipe_.seed, wanted.stage,
                                                  wanted.step, i, k)),
                             fmt::format("{:03}-{}-{}", i, tasks[i]->name(), k)});
    const auto folder = rolloutFolder(run_.folder(), wanted.runStep);
    std::error_code error;
    fs::remove_all(folder, error); // of a start that was killed
    CUDA_AGENT_ASSIGN(collected, this->collected(tries, folder, wanted.tries.turns,
                                                 recipe_.rollout.temperature, stop));
    CUDA_AGENT_TRY(keepSessions(collected, folder, wanted.runStep));
    if (wanted.keep)
        CUDA_AGENT_TRY(writeTrajectories(kept, collected.trajectories));
    return std::move(collected);
}

std::vector<const bench::SuiteTask *> Rollouts::chosen(const Wanted &wanted) {
    std::vector<const bench::SuiteTask *> allowed;
    std::vector<std::string> levels;
    for (const auto &task : train_)
        levels.push_back(task.level);
    std::ranges::sort(levels);
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    const auto open = wanted.curriculum
                          ? 1 + wanted.step * static_cast<std::int64_t>(levels.size()) /
                                    std::max<std::int64_t>(wanted.steps, 1)
                          : static_cast<std::int64_t>(levels.size());
    for (const auto &task : train_)
        if (std::ranges::find(levels, task.level) - levels.begin() < open)
            allowed.push_back(&task);
    const auto size = static_cast<std::int64_t>(allowed.size());
    const auto count = std::min(wanted.tries.tasks, size);
    Rounds rounds(size, numberOf(fmt::format("{} {}", recipe_.seed, wanted.stage)));
    std::vector<const bench::SuiteTask *> tasks;
    // A round's end within the step may name a task twice: the next one then.
    for (auto at = wanted.step * count; static_cast<std::int64_t>(tasks.size()) < count; ++at) {
        const auto *const task = allowed[static_cast<std::size_t>(rounds[at])];
        if (std::ranges::find(tasks, task) == tasks.end())
            tasks.push_back(task);
    }
    return tasks;
}

Result<Collected> Rollouts::collected(const std::vector<Try> &tries, const fs::path &folder,
                                      std::int64_t turns, double temperature,
                                      const std::stop_token &stop) {
    const auto &rollout = recipe_.rollout;
    std::vector<Ask> asks;
    for (const auto &each : tries) {
        CUDA_AGENT_ASSIGN(spec, task::openSpec(each.task->file, {}));
        std::error_code error;
        fs::remove_all(folder / each.session, error);
        asks.push_back({std::move(spec), each.task->id, each.task->level, each.group,
                        static_cast<int>(turns), each.seed, folder / each.session});
    }
    std::error_code error;
    fs::create_directories(folder, error);
    device::Share share(device_, stop);
    Generator::Options options;
    options.rows = std::min(rollout.environments,
                            static_cast<std::int64_t>(std::max<std::size_t>(asks.size(), 1)));
    options.context = recipe_.context;
    options.endToken = tokenizer_.id(chat::imEnd).value_or(0);
    options.sampling = {temperature, temperature > 0 ? rollout.topP : 1};
    options.enter = [&] { return share.step(); };
    options.leave = [&] { share.leave(); };
    CollectOptions how;
    how.environments = static_cast<std::size_t>(options.rows);
    how.longestTurn = rollout.longestTurn;
    how.seconds = rollout.seconds;
    how.reward = rollout.reward == "speedup" ? RewardKind::speedup : RewardKind::milestone;
    Generator generator(actor_, options);
    return collect(generator, tokenizer_, judges_, asks, how, stop);
}

Result<void> Rollouts::keepSessions(const Collected &collected, const fs::path &folder,
                                    std::int64_t runStep) {
    std::vector<const Trajectory *> byReward;
    for (const auto &one : collected.trajectories)
        byReward.push_back(&one);
    std::ranges::stable_sort(byReward, std::greater(), &Trajectory::reward);
    const auto size = static_cast<std::int64_t>(byReward.size());
    const auto most = std::min(recipe_.rollout.sessions, size);
    std::set<std::string> kept;
    for (std::int64_t i = 0; i < most; ++i) { // the best, the worst, and some between
        const auto &one =
            *byReward[static_cast<std::size_t>(most > 1 ? i * (size - 1) / (most - 1) : 0)];
        kept.insert(one.session);
        CUDA_AGENT_TRY(run_.addRollout(rowOf(one, runStep, one.episode.reason)));
    }
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_directory(ignored) && !kept.contains(entry->path().filename().string()) &&
            !entry->path().filename().string().starts_with("score-"))
            fs::remove_all(entry->path(), ignored);
    }
    return {};
}

Result<Metrics> Rollouts::score(std::int64_t runStep, const std::stop_token &stop) {
    const auto &scoring = recipe_.scoring;
    const auto folder = rolloutFolder(run_.folder(), runStep);
    Metrics metrics;
    for (const auto &split : scoring.splits) {
        std::vector<Try> tries;
        const auto &tasks = scored_.at(split);
        for (std::size_t i = 0; i < tasks.size(); ++i)
            for (std::int64_t k = 0; k < scoring.tries.samples; ++k)
                tries.push_back(
                    {&tasks[i], static_cast<std::int64_t>(i),
                     numberOf(fmt::format("{} score {} {}", recipe_.seed, i, k)),
                     fmt::format("score-{}-{:03}-{}-{}", split, i, tasks[i].name(), k)});
        CUDA_AGENT_ASSIGN(collected, this->collected(tries, folder, scoring.tries.turns,
                                                     scoring.temperature, stop));
        for (const auto &one : collected.trajectories)
            CUDA_AGENT_TRY(run_.addRollout(rowOf(one, runStep, split + ": " + one.episode.reason)));
        const auto all = metricsOf(collected);
        for (const auto &[name, value] : all) {
            if (name.starts_with("reward/"))
                metrics[fmt::format("val-core/{}/{}", split, name.substr(7))] = value;
            else if (!name.starts_with("timing_s/"))
                metrics[fmt::format("val-aux/{}/{}", split, name)] = value;
        }
    }
    return metrics;
}

Metrics metricsOf(const Collected &collected) {
    Metrics metrics;
    std::vector<double> scores, responses, prompts, turns, calls;
    double correct = 0, eager = 0, compile = 0, logs = 0, timed = 0, refused = 0, cut = 0,
           entropy = 0, written = 0, all = 0;
    for (const auto &one : collected.trajectories) {
        const auto &episode = one.episode;
        const auto own = one.record.ownTokens();
        scores.push_back(one.reward);
        responses.push_back(static_cast<double>(own));
        const auto first = std::ranges::find(one.record.byPolicy, 1);
        prompts.push_back(static_cast<double>(first - one.record.byPolicy.begin()));
        turns.push_back(episode.turns);
        calls.push_back(episode.calls);
        refused += episode.refused;
        cut += one.record.cut;
        written += static_cast<double>(own);
        all += static_cast<double>(one.record.tokens.size());
        entropy += std::accumulate(one.record.entropy.begin(), one.record.entropy.end(), 0.0);
        if (!episode.correct())
            continue;
        ++correct;
        eager += episode.overEager > bench::clearlyFaster;
        compile += episode.overCompile > bench::clearlyFaster;
        if (episode.overCompile > 0) {
            logs += std::log(episode.overCompile);
            ++timed;
        }
    }
    const auto count = static_cast<double>(collected.trajectories.size());
    spanInto(metrics, "critic/score", scores);
    spanInto(metrics, "response_length", responses);
    spanInto(metrics, "prompt_length", prompts);
    spanInto(metrics, "num_turns", turns);
    spanInto(metrics, "tool_call_counts", calls);
    if (count > 0) {
        metrics["response_length/clip_ratio"] = cut / count;
        metrics["reward/pass_rate"] = correct / count;
        metrics["reward/faster_than_eager"] = eager / count;
        metrics["reward/faster_than_compile"] = compile / count;
        const auto made = std::accumulate(calls.begin(), calls.end(), 0.0);
        metrics["tools/error_rate"] = made > 0 ? refused / made : 0;
        metrics["perf/total_num_tokens"] = all;
    }
    if (timed > 0)
        metrics["reward/geomean_speedup"] = std::exp(logs / timed);
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
        metrics["timing_s/reward"] = collected.judging;
        metrics["timing_s/judge_wait"] = collected.waiting;
    }
    return metrics;
}

} // namespace cuda_agent::learn
