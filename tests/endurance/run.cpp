// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/endurance/run.h"

#include "core/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace cuda_agent::endurance {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t progressEvery = 50;
constexpr std::size_t leakEvery = 5;
/// What has ended leaves /proc, its control group and its folders a moment later.
constexpr auto patience = 5s;
constexpr auto glance = 50ms;
constexpr double mebibyte = 1 << 20;

double inMebibytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / mebibyte;
}

/// Kinds whose parts are shown as one figure.
constexpr std::array shownKinds{
    "processes",      "zombies",       "threads",         "descriptors",     "mounts",
    "control groups", "shared memory", "shared mappings", "temporary files", "cache files"};

Json toJson(const Census &census) {
    Json json{{"resident_bytes", census.residentBytes},
              {"heap_bytes", census.heapBytes},
              {"shared_bytes", census.sharedBytes},
              {"cache_bytes", census.cacheBytes}};
    for (const auto &[kind, items] : census.items)
        json["counts"][kind] = items.size();
    if (census.freeBytes)
        json["gpu_free_bytes"] = *census.freeBytes;
    return json;
}

} // namespace

Result<std::unique_ptr<Run>> Run::prepare(const Options &options, Manifest manifest) {
    CUDA_AGENT_ASSIGN(leak, Leak::make(options.leaks));
    std::unique_ptr<Run> run(new Run(options, std::move(manifest), std::move(leak)));
    CUDA_AGENT_ASSIGN(before, takeCensus(nullptr));
    for (const auto &file : before.items["shared memory"])
        run->knownMemory_.insert(file);
    if (options.share)
        run->runners_ = std::make_shared<judge::IdleRunners>(options.jobs);
    CUDA_AGENT_TRY(run->openPlaces());
    run->draw_ = draw(run->manifest_, options.count, options.seed, options.vary);
    run->seen_.resize(run->manifest_.entries.size());
    return run;
}

/// One each; with several that work, as many for each task as its share of what is drawn keeps
/// busy.
std::vector<std::size_t> Run::placesOfTasks() const {
    std::vector<double> weights(manifest_.tasks.size());
    double whole = 0;
    for (const auto &entry : manifest_.entries) {
        weights[entry.task] += entry.weight;
        whole += entry.weight;
    }
    std::vector<std::size_t> counts;
    for (std::size_t task = 0; task < weights.size(); ++task) {
        const double share =
            std::ceil(static_cast<double>(options_.jobs) * weights[task] / std::max(whole, 1e-9));
        // Who is timed has the device alone: more of them would wait for each other.
        counts.push_back(manifest_.tasks[task].timing
                             ? 1
                             : std::max<std::size_t>(1, static_cast<std::size_t>(share)));
    }
    return counts;
}

Result<std::unique_ptr<judge::Judge>> Run::open(const Task &task) const {
    CUDA_AGENT_ASSIGN(spec, task::openSpec(task.file, task.sets));
    CUDA_AGENT_ASSIGN(device, device::openNamed(options_.device));
    judge::Options judging;
    judging.rules = task.rules;
    judging.timing = task.timing;
    judging.runners = runners_;
    judging.threads = judge::threadsOfEach(options_.jobs);
    const auto start = Clock::now();
    CUDA_AGENT_ASSIGN(judge, judge::Judge::prepare(spec, std::move(device), judging, {}, {}));
    fmt::print("prepared {}/{}{} in {:.1f} s\n", spec.file.parent_path().filename().string(),
               spec.name(), task.timing ? " with timing" : "",
               std::chrono::duration<double>(Clock::now() - start).count());
    std::fflush(stdout);
    return std::move(judge);
}

Result<void> Run::openPlaces() {
    const auto counts = placesOfTasks();
    for (std::size_t task = 0; task < counts.size(); ++task)
        for (std::size_t i = 0; i < counts[task]; ++i)
            places_.push_back({.task = task});
    CUDA_AGENT_ASSIGN(judges,
                      parallelResults<std::unique_ptr<judge::Judge>>(
                          places_.size(), static_cast<unsigned>(options_.jobs),
                          [&](std::size_t i) { return open(manifest_.tasks[places_[i].task]); }));
    for (std::size_t i = 0; i < places_.size(); ++i)
        places_[i].judge = std::move(judges[i]);
    return {};
}

void Run::add(std::vector<Finding> found) {
    for (auto &finding : found) {
        fmt::print("FOUND after {}: {}: {}\n", finding.after, finding.kind, finding.what);
        findings_.push_back(std::move(finding));
    }
    std::fflush(stdout);
}

Result<judge::Verdict> Run::judgeOne(const Turn &turn, judge::Judge &judge) const {
    CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(manifest_.entries[turn.entry].path));
    if (turn.variation > 0)
        varyTexts(candidate, turn.variation);
    return judge.judge(candidate, turn.full ? verify::Strength::full : verify::Strength::training,
                       {});
}

void Run::record(const Turn &turn, const Result<judge::Verdict> &verdict, double seconds) {
    const auto &entry = manifest_.entries[turn.entry];
    ++done_;
    honest_ += entry.honest ? 1 : 0;
    auto &seen = seen_[turn.entry];
    ++seen.places[placeOf(verdict)];
    seen.seconds += seconds;
    seen.longest = std::max(seen.longest, seconds);
    if (auto wrong = complaint(manifest_, entry, verdict))
        add({{"verdict", done_, std::move(*wrong)}});
}

bool Run::over(const std::atomic<bool> &stop) const {
    return stop || (options_.limit.count() > 0 && Clock::now() - start_ > options_.limit);
}

/// The one that has judged least: all are used while this warms up, as they fetch what they need by
/// need. Null when none is free.
Run::Place *Run::freePlace(std::size_t task) {
    Place *found = nullptr;
    for (auto &each : places_)
        if (each.task == task && !each.taken && (!found || each.judged < found->judged))
            found = &each;
    return found;
}

/// In any order: whoever is free takes the first turn that has a free place.
void Run::judgeSome(std::span<const Turn> turns, const std::atomic<bool> &stop) {
    std::vector<const Turn *> waiting;
    for (const auto &turn : turns)
        waiting.push_back(&turn);
    std::mutex mutex;
    std::condition_variable freed;
    const auto work = [&] {
        std::unique_lock lock(mutex);
        while (!waiting.empty() && !over(stop)) {
            Place *place = nullptr;
            const auto next = std::ranges::find_if(waiting, [&](const Turn *turn) {
                place = freePlace(manifest_.entries[turn->entry].task);
                return place != nullptr;
            });
            if (next == waiting.end()) {
                freed.wait(lock);
                continue;
            }
            const Turn &turn = **next;
            waiting.erase(next);
            place->taken = true;
            ++place->judged;
            lock.unlock();
            const auto start = Clock::now();
            const auto verdict = judgeOne(turn, *place->judge);
            const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
            lock.lock();
            record(turn, verdict, seconds);
            place->taken = false;
            freed.notify_all();
        }
        freed.notify_all();
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(options_.jobs, turns.size()); ++i)
        others.emplace_back(work);
    work();
}

/// A census once nothing that is on its way out is left: until it holds no more than is normal, or,
/// before there is a normal, until two in a row hold the same.
Result<Census> Run::settled() {
    const auto until = Clock::now() + patience;
    std::map<std::string, std::size_t> before;
    for (;;) {
        // The free memory of a host is other programs' doing.
        auto *gpu = options_.device == "cuda" ? &places_.front().judge->device() : nullptr;
        CUDA_AGENT_ASSIGN(census, takeCensus(gpu, knownMemory_));
        std::map<std::string, std::size_t> counts;
        for (const auto &[kind, items] : census.items)
            counts[kind] = items.size();
        const bool quiet = watch_.begun() ? !watch_.exceeds(census) : counts == before;
        if (quiet || Clock::now() > until)
            return std::move(census);
        before = std::move(counts);
        std::this_thread::sleep_for(watch_.begun() ? glance : 4 * glance);
    }
}

Result<void> Run::measure() {
    // Which of them keep a process for the next candidate hangs on what came last.
    for (auto &place : places_)
        place.judge->rest();
    if (runners_)
        runners_->clear();
    CUDA_AGENT_ASSIGN(census, settled());
    last_ = census;
    if (!watch_.begun())
        watch_.begin(std::move(census));
    else
        add(watch_.look(census, done_));
    return {};
}

Result<void> Run::judgeAll(const std::atomic<bool> &stop) {
    start_ = Clock::now();
    std::size_t from = 0;
    while (from < draw_.turns.size() && !over(stop)) {
        auto to = (from / options_.every + 1) * options_.every;
        if (from < draw_.warmUp)
            to = std::min(to, draw_.warmUp);
        to = std::min(to, draw_.turns.size());
        const auto before = done_;
        judgeSome(std::span(draw_.turns).subspan(from, to - from), stop);
        from = to;
        if (watch_.begun())
            for (auto lost = before / leakEvery; lost < done_ / leakEvery; ++lost)
                CUDA_AGENT_TRY(leak_.lose());
        if (done_ >= draw_.warmUp)
            CUDA_AGENT_TRY(measure());
        seconds_ = std::chrono::duration<double>(Clock::now() - start_).count();
        if (done_ / progressEvery > before / progressEvery)
            printProgress();
    }
    if (!watch_.begun())
        return failedError("only {} candidates were judged, of the {} that warm this up: raise "
                           "--count or --seconds",
                           done_, draw_.warmUp);
    add(watch_.finish());
    return {};
}

std::size_t Run::findingsOf(const std::string &prefix) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        findings_, [&](const Finding &each) { return each.kind.starts_with(prefix); }));
}

void Run::printProgress() const {
    fmt::print("{:5} of {}  {:5.2f} s each  {:7.1f} MiB resident, {:.2f} heap  {} descriptors  {} "
               "processes  "
               "cache {:.0f} MiB  {} findings\n",
               done_, draw_.turns.size(), seconds_ / static_cast<double>(done_),
               inMebibytes(last_.residentBytes), inMebibytes(last_.heapBytes),
               last_.countAll("descriptors"), last_.count("processes"),
               inMebibytes(last_.cacheBytes), findings_.size());
    std::fflush(stdout);
}

void Run::printTable() const {
    fmt::print("\n{} candidates in {:.0f} s ({} honest, {} hostile or broken), {} entries of {} "
               "tasks, seed {}, device {}, {} at a time{}\n",
               done_, seconds_, honest_, done_ - honest_, manifest_.entries.size(),
               manifest_.tasks.size(), options_.seed, options_.device, options_.jobs,
               options_.share ? " in shared processes" : "");
    fmt::print("{:18} {:>10} {:>8} {:>9}\n", "", "warmed up", "at last", "findings");
    for (const std::string kind : shownKinds)
        fmt::print("{:18} {:>10} {:>8} {:>9}\n", kind, watch_.normal().countAll(kind),
                   last_.countAll(kind), findingsOf(kind));
    fmt::print("{:18} {:>10.1f} {:>8.1f} {:>9}  {:+.2f} MiB per 1,000 candidates\n", "resident MiB",
               inMebibytes(watch_.normal().residentBytes), inMebibytes(last_.residentBytes),
               findingsOf("resident memory"), watch_.residentSlope() * 1000 / mebibyte);
    fmt::print("{:18} {:>10.1f} {:>8.1f}\n", "mapped shared MiB",
               inMebibytes(watch_.normal().sharedBytes), inMebibytes(last_.sharedBytes));
    fmt::print("{:18} {:>10.2f} {:>8.2f} {:>9}  {:+.3f} MiB per 1,000 candidates\n", "heap MiB",
               inMebibytes(watch_.normal().heapBytes), inMebibytes(last_.heapBytes),
               findingsOf("heap"), watch_.heapSlope() * 1000 / mebibyte);
    if (last_.freeBytes && watch_.normal().freeBytes)
        fmt::print("{:18} {:>10.0f} {:>8.0f} {:>9}\n", "free GPU MiB",
                   inMebibytes(*watch_.normal().freeBytes), inMebibytes(*last_.freeBytes),
                   findingsOf("GPU memory"));
    std::map<std::string, std::size_t> places;
    for (const auto &seen : seen_)
        for (const auto &[place, count] : seen.places)
            places[place] += count;
    fmt::print("verdicts, {} of them wrong:\n", findingsOf("verdict"));
    for (const auto &[place, count] : places)
        fmt::print("  {:20} {}\n", place, count);
    fmt::print("{}\n", clean() ? "clean" : fmt::format("{} findings", findings_.size()));
    std::fflush(stdout);
}

Json Run::toJson() const {
    Json json{{"device", options_.device},
              {"judged", done_},
              {"wanted", draw_.turns.size()},
              {"honest", honest_},
              {"seed", options_.seed},
              {"jobs", options_.jobs},
              {"shared", options_.share},
              {"seconds", seconds_},
              {"warm_up", draw_.warmUp},
              {"warmed_up", endurance::toJson(watch_.normal())},
              {"last", endurance::toJson(last_)},
              {"resident_bytes_per_candidate", watch_.residentSlope()},
              {"heap_bytes_per_candidate", watch_.heapSlope()},
              {"resident", watch_.resident()},
              {"heap", watch_.heap()},
              {"findings", Json::array()},
              {"entries", Json::array()}};
    for (const auto &finding : findings_)
        json["findings"].push_back(
            {{"kind", finding.kind}, {"after", finding.after}, {"what", finding.what}});
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        const auto &entry = manifest_.entries[i];
        json["entries"].push_back({{"name", entry.name},
                                   {"task", manifest_.tasks[entry.task].file.string()},
                                   {"timing", manifest_.tasks[entry.task].timing},
                                   {"honest", entry.honest},
                                   {"places", seen_[i].places},
                                   {"seconds", seen_[i].seconds},
                                   {"longest", seen_[i].longest}});
    }
    return json;
}

} // namespace cuda_agent::endurance
