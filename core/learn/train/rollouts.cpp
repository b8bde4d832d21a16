// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/rollouts.h"

#include "core/base/temporary_folder.h"
#include "core/device/cuda_driver.h"
#include "core/device/lease.h"
#include "core/learn/train/gathering.h"

#include <algorithm>

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

/// GPUs to judge on, as the driver counts those that it shows, where the model is on `own`.
std::vector<int> judgingGpus(const RolloutOptions &rollout, int own, bool alone) {
    std::vector<int> gpus;
    const auto driver = device::cuda::Driver::load();
    for (int gpu = 0; rollout.otherGpus && alone && driver && gpu < (*driver)->deviceCount; ++gpu)
        if (gpu != own)
            gpus.push_back(gpu);
    return gpus.empty() ? std::vector{own} : gpus;
}

JudgePool::Options judgesOf(const TrainRecipe &recipe, const fs::path &run,
                            const device::Info &device, int own, int processes) {
    const auto &rollout = recipe.rollout;
    JudgePool::Options options;
    options.device = nameOf(device.kind);
    if (device.kind == device::Kind::cuda)
        options.gpus = judgingGpus(rollout, own, processes == 1);
    options.judge.timing = rollout.timing;
    options.judge.interleaveBaselines = false;
    options.judge.strongest = verify::Strength::training;
    options.judge.numerics =
        task::numericsFromName(rollout.numerics).value_or(task::Numerics::standard);
    if (rollout.timing)
        options.judge.baselines = rollout.baselines.empty() ? run / "baselines" : rollout.baselines;
    options.kept = static_cast<std::size_t>(rollout.judges);
    options.atOnce = static_cast<int>(rollout.verdicts);
    // What others compute on a CPU takes time from what is timed there.
    const int cores = rollout.timing ? device.multiprocessors / 2 : device.multiprocessors;
    const int gpus = static_cast<int>(options.gpus.size());
    if (options.atOnce == 0)
        options.atOnce = device.kind == device::Kind::cuda ? 8 * gpus : std::max(1, cores);
    options.judge.threads =
        judge::threadsOfEach(static_cast<std::size_t>(options.atOnce * processes));
    options.perTask = static_cast<int>(rollout.verdictsPerTask);
    options.unusable = [](const std::string &task, const std::string &why) {
        fmt::print(stderr, "{} is left out: {}\n", task, why);
    };
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

Result<std::vector<bench::SuiteTask>> tasksOf(const RolloutOptions &options,
                                              const std::string &split,
                                              std::vector<std::string> levels = {}) {
    bench::Selection selection;
    selection.levels = std::move(levels);
    selection.splits = {split};
    selection.mostBytes = bench::bytesOf(options.taskGigabytes);
    CUDA_AGENT_ASSIGN(suite, bench::openSuite(options.tasks, selection));
    return std::move(suite.tasks);
}

RolloutRow rowOf(const WholeEpisode &one, std::int64_t runStep, const std::string &note) {
    return {runStep,           one.last->task,    one.reward,
            one.episode.turns, one.last->session, note + one.episode.reason};
}

std::int64_t mostExemplars(const TrainRecipe &recipe) {
    std::int64_t most = 0;
    for (const auto &[name, stage] :
         {std::pair{singleTurnStage, &recipe.singleTurn}, std::pair{agenticStage, &recipe.agentic}})
        if (recipe.has(name))
            most = std::max(most, stage->exemplars);
    return most;
}

Result<Collected> readKept(const fs::path &file) {
    Collected collected;
    CUDA_AGENT_ASSIGN(trajectories, readTrajectories(file));
    collected.trajectories = std::move(trajectories);
    collected.asked = static_cast<std::int64_t>(wholeEpisodes(collected.trajectories).size());
    return collected;
}

} // namespace

Rollouts::Rollouts(Setting setting, device::Info device)
    : setting_(std::move(setting)), recipe_(setting_.recipe), device_(std::move(device)),
      judges_(judgesOf(recipe_, setting_.folder, device_, setting_.actor.device().index(),
                       static_cast<int>(setting_.processes.size()))),
      exemplars_(mostExemplars(recipe_)) {}

Result<std::unique_ptr<Rollouts>> Rollouts::open(Setting setting) {
    const auto &recipe = setting.recipe;
    CUDA_AGENT_ASSIGN(train, tasksOf(recipe.rollout, "train"));
    const auto where = setting.actor.device();
    CUDA_AGENT_ASSIGN(device,
                      where.is_cuda() ? device::openCuda(where.index()) : device::openCpu());
    std::unique_ptr<Rollouts> rollouts(new Rollouts(std::move(setting), device->info()));
    rollouts->train_ = std::move(train);
    if (recipe.rollout.grammar) {
        const auto &given = rollouts->setting_;
        CUDA_AGENT_ASSIGN(masks,
                          TokenMasks::ofTools(given.tokenizer, given.actor.config().vocabulary));
        rollouts->grammar_ = std::move(masks);
    }
    for (const auto &split : recipe.scoring.splits) {
        CUDA_AGENT_ASSIGN(tasks, tasksOf(recipe.rollout, split, recipe.scoring.levels));
        rollouts->scored_[split] = spread(std::move(tasks), recipe.scoring.tasks);
    }
    return rollouts;
}

fs::path Rollouts::trajectoryFile(const fs::path &run, std::string_view stage, std::int64_t step) {
    return run / "trajectories" / stage / fmt::format("step-{}.safetensors", step);
}

Result<Collected> Rollouts::play(const Wanted &wanted, const std::stop_token &stop) {
    const bool replays = !setting_.replay.empty();
    const auto kept =
        trajectoryFile(replays ? setting_.replay : setting_.folder, wanted.stage, wanted.step);
    auto &processes = setting_.processes;
    const bool there = processes.firstSays(replays || (wanted.keep && fs::exists(kept)));
    CUDA_AGENT_ASSIGN(collected, !there ? played(wanted, kept, stop)
                                 : processes.first()
                                     ? gathered(processes, readKept(kept))
                                     : gathered(processes, Collected())); // it is the first's
    exemplars_.add(collected.trajectories);
    return std::move(collected);
}

Result<Collected> Rollouts::played(const Wanted &wanted, const fs::path &kept,
                                   const std::stop_token &stop) {
    const auto tasks = chosen(wanted);
    std::vector<Try> tries;
    for (std::size_t i = 0; i < tasks.size(); ++i)
        for (std::int64_t k = 0; k < wanted.tries.samples; ++k)
            tries.push_back({tasks[i], static_cast<std::int64_t>(i),
                             numberOf(fmt::format("{} {} {} {} {}", recipe_.seed, wanted.stage,
                                                  wanted.step, i, k)),
                             fmt::format("{:03}-{}-{}", i, tasks[i]->name(), k),
                             exemplars_.of(tasks[i]->id, wanted.exemplars)});
    CUDA_AGENT_TRY(prepareAhead(tasks, wanted));
    const auto folder = rolloutFolder(setting_.folder, wanted.runStep);
    std::error_code error;
    if (setting_.run)
        fs::remove_all(folder, error);             // of a start that was killed
    CUDA_AGENT_TRY(setting_.processes.agreed({})); // before another writes there
    const Sampling sampling{recipe_.rollout.temperature, recipe_.rollout.topP};
    CUDA_AGENT_ASSIGN(collected,
                      this->collected(tries, folder, wanted.tries.turns, sampling, stop));
    if (!setting_.run)
        return std::move(collected);
    CUDA_AGENT_TRY(keepSessions(collected, folder, wanted.runStep));
    if (wanted.keep)
        CUDA_AGENT_TRY(writeTrajectories(kept, collected.trajectories));
    return std::move(collected);
}

Result<void> Rollouts::prepareAhead(const std::vector<const bench::SuiteTask *> &tasks,
                                    Wanted next) {
    std::vector<task::Spec> specs;
    const auto add = [&](const std::vector<const bench::SuiteTask *> &some) -> Result<void> {
        for (std::size_t i = 0; i < some.size(); ++i) {
            if (sharesWholeTasks(some.size()) && !isMine(placeOf(*some[i])))
                continue;
            CUDA_AGENT_ASSIGN(spec, task::openSpec(some[i]->file, {}));
            specs.push_back(std::move(spec));
        }
        return {};
    };
    CUDA_AGENT_TRY(add(tasks));
    if (++next.step < next.steps)
        CUDA_AGENT_TRY(add(chosen(next)));
    judges_.prepareAhead(std::move(specs));
    return {};
}

bool Rollouts::sharesWholeTasks(std::size_t tasks) const {
    return tasks >= static_cast<std::size_t>(setting_.processes.size());
}

bool Rollouts::isMine(std::size_t number) const {
    const auto &processes = setting_.processes;
    return number % static_cast<std::size_t>(processes.size()) ==
           static_cast<std::size_t>(processes.rank());
}

std::size_t Rollouts::placeOf(const bench::SuiteTask &task) const {
    const auto within = [&](const std::vector<bench::SuiteTask> &tasks) {
        return std::ranges::find(tasks, &task, [](const auto &each) { return &each; });
    };
    if (const auto found = within(train_); found != train_.end())
        return static_cast<std::size_t>(found - train_.begin());
    for (const auto &[split, tasks] : scored_)
        if (const auto found = within(tasks); found != tasks.end())
            return static_cast<std::size_t>(found - tasks.begin());
    return 0; // every task is of one of these
}

std::vector<const bench::SuiteTask *> Rollouts::chosen(const Wanted &wanted) const {
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
                                      std::int64_t turns, const Sampling &sampling,
                                      const std::stop_token &stop) {
    auto &processes = setting_.processes;
    const auto groups = tries.empty() ? 0 : static_cast<std::size_t>(tries.back().group) + 1;
    std::vector<std::int64_t> mine;
    for (std::size_t i = 0; i < tries.size(); ++i)
        if (isMine(sharesWholeTasks(groups) ? placeOf(*tries[i].task) : i))
            mine.push_back(static_cast<std::int64_t>(i));
    CUDA_AGENT_ASSIGN(
        all, gathered(processes, collectedHere(tries, mine, folder, turns, sampling, stop)));
    if (all.trajectories.empty() && all.asked > 0)
        return machineError("not one of {} episodes came to its end; the last one: {}", all.asked,
                            all.problem);
    if (const auto lost = all.machineFailures + all.stragglers; lost > 0 && processes.first())
        fmt::print(stderr, "{} of {} episodes did not come to their end; the last one: {}\n", lost,
                   all.asked, all.problem);
    return std::move(all);
}

Result<Collected> Rollouts::collectedHere(const std::vector<Try> &tries,
                                          const std::vector<std::int64_t> &places,
                                          const fs::path &folder, std::int64_t turns,
                                          const Sampling &sampling, const std::stop_token &stop) {
    const auto &rollout = recipe_.rollout;
    std::optional<TemporaryFolder> own; // another machine's files are not the run's
    if (!setting_.run && !setting_.processes.onOneMachine()) {
        CUDA_AGENT_ASSIGN(made, TemporaryFolder::make("rollouts"));
        own.emplace(std::move(made));
    }
    const auto sessions = own ? own->path() : folder;
    std::vector<Ask> asks;
    for (const auto place : places) {
        const auto &each = tries[static_cast<std::size_t>(place)];
        CUDA_AGENT_ASSIGN(spec, task::openSpec(each.task->file, {}));
        std::error_code error;
        fs::remove_all(sessions / each.session, error);
        asks.push_back({std::move(spec), each.task->id, each.task->level, each.group,
                        static_cast<int>(turns), each.seed, sessions / each.session,
                        each.exemplars});
    }
    std::error_code error;
    fs::create_directories(sessions, error);
    device::Steps steps(device_, stop);
    Generator::Options options;
    options.rows = std::min(rollout.environments,
                            static_cast<std::int64_t>(std::max<std::size_t>(asks.size(), 1)));
    options.context = recipe_.context;
    options.endToken = setting_.tokenizer.id(chat::imEnd).value_or(0);
    const bool likeliest = sampling.temperature == 0; // but where turns have to be drawn
    options.sampling = sampling;
    if (likeliest) {
        options.sampling.temperature = recipe_.scoring.freshTemperature;
        options.sampling.minP = recipe_.scoring.freshMinP;
    }
    options.guessed = rollout.guessedTokens;
    options.masks = grammar_;
    options.enter = [&] { return steps.next(); };
    options.leave = [&] { steps.leave(); };
    CollectOptions how;
    how.environments = static_cast<std::size_t>(options.rows);
    how.longestTurn = rollout.longestTurn;
    how.seconds = rollout.seconds;
    how.reward = rollout.reward == "speedup" ? RewardKind::speedup : RewardKind::milestone;
    if (how.reward == RewardKind::milestone) // there is no more to be had
        how.enough = rollout.timing ? 3 : 1;
    CUDA_AGENT_ASSIGN(starts, policy::freshStartsFrom(rollout.freshStarts));
    how.freshStarts = starts;
    how.likeliest = likeliest;
    how.deviates = recipe_.scoring.deviations;
    Generator generator(setting_.actor, options);
    CUDA_AGENT_ASSIGN(collected, collect(generator, setting_.tokenizer, judges_, asks, how, stop));
    for (auto &one : collected.trajectories)
        one.place = places[static_cast<std::size_t>(one.place)];
    return std::move(collected);
}

Result<void> Rollouts::keepSessions(const Collected &collected, const fs::path &folder,
                                    std::int64_t runStep) {
    auto byReward = wholeEpisodes(collected.trajectories);
    std::erase_if(byReward, [](const WholeEpisode &one) {
        return one.last->session.empty(); // another machine has it
    });
    std::ranges::stable_sort(byReward, std::greater(), &WholeEpisode::reward);
    const auto size = static_cast<std::int64_t>(byReward.size());
    const auto most = std::min(recipe_.rollout.sessions, size);
    std::set<std::string> kept;
    for (std::int64_t i = 0; i < most; ++i) { // the best, the worst, and some between
        const auto &one =
            byReward[static_cast<std::size_t>(most > 1 ? i * (size - 1) / (most - 1) : 0)];
        kept.insert(one.last->session);
        CUDA_AGENT_TRY(setting_.run->addRollout(rowOf(one, runStep, "")));
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
    std::vector<Try> tries; // of all splits at once: a split's last ones would leave judges idle
    std::vector<std::string> splits;
    std::int64_t groups = 0;
    for (const auto &split : scoring.splits) {
        const auto &tasks = scored_.at(split);
        for (std::size_t i = 0; i < tasks.size(); ++i, ++groups)
            for (std::int64_t k = 0; k < scoring.tries.samples; ++k) {
                tries.push_back(
                    {&tasks[i], groups, numberOf(fmt::format("{} score {} {}", recipe_.seed, i, k)),
                     fmt::format("score-{}-{:03}-{}-{}", split, i, tasks[i].name(), k)});
                splits.push_back(split);
            }
    }
    if (tries.empty())
        return Metrics();
    CUDA_AGENT_ASSIGN(collected, this->collected(tries, rolloutFolder(setting_.folder, runStep),
                                                 scoring.tries.turns,
                                                 {scoring.temperature, scoring.topP}, stop));
    Metrics metrics;
    if (!setting_.run)
        return metrics; // the first process tells
    for (const auto &[name, value] : metricsOf(collected))
        if (name.starts_with("env/"))
            metrics["val-aux/all/" + name] = value;
    CUDA_AGENT_TRY(readCorpusIndex());
    std::map<std::string, Collected> bySplit;
    for (auto &one : collected.trajectories)
        bySplit[splits[static_cast<std::size_t>(one.place)]].trajectories.push_back(std::move(one));
    for (const auto &[split, its] : bySplit) {
        for (const auto &one : wholeEpisodes(its.trajectories))
            if (!one.last->session.empty())
                CUDA_AGENT_TRY(setting_.run->addRollout(rowOf(one, runStep, split + ": ")));
        for (const auto &[name, value] : metricsOf(its)) {
            if (name.starts_with("reward/"))
                metrics[fmt::format("val-core/{}/{}", split, name.substr(7))] = value;
            else if (!name.starts_with("env/")) // counted over all splits
                metrics[fmt::format("val-aux/{}/{}", split, name)] = value;
        }
        if (corpus_)
            for (const auto &[name, value] : memorisedOf(its, *corpus_))
                metrics[fmt::format("val-aux/{}/{}", split, name)] = value;
    }
    return metrics;
}

Result<void> Rollouts::readCorpusIndex() {
    std::error_code error;
    if (corpus_ || recipe_.corpus.empty() || !fs::exists(recipe_.corpus, error))
        return {};
    CUDA_AGENT_ASSIGN(index, CandidateIndex::read(recipe_.corpus));
    corpus_ = std::move(index);
    return {};
}

} // namespace cuda_agent::learn
