// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/endurance/run.h"

#include <algorithm>
#include <cstdio>
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
    for (const auto &task : run->manifest_.tasks) {
        CUDA_AGENT_ASSIGN(spec, task::openSpec(task.file, task.sets));
        CUDA_AGENT_ASSIGN(device, device::openNamed(options.device));
        judge::Options judging;
        judging.rules = task.rules;
        judging.timing = task.timing;
        const auto start = Clock::now();
        CUDA_AGENT_ASSIGN(judge, judge::Judge::prepare(spec, std::move(device), judging, {}, {}));
        fmt::print("prepared {}/{}{} in {:.1f} s\n", spec.file.parent_path().filename().string(),
                   spec.name(), task.timing ? " with timing" : "",
                   std::chrono::duration<double>(Clock::now() - start).count());
        std::fflush(stdout);
        run->judges_.push_back(std::move(judge));
    }
    run->draw_ = draw(run->manifest_, options.count, options.seed, options.vary);
    run->seen_.resize(run->manifest_.entries.size());
    return run;
}

void Run::add(std::vector<Finding> found) {
    for (auto &finding : found) {
        fmt::print("FOUND after {}: {}: {}\n", finding.after, finding.kind, finding.what);
        findings_.push_back(std::move(finding));
    }
    std::fflush(stdout);
}

void Run::judgeOne(const Turn &turn) {
    const auto &entry = manifest_.entries[turn.entry];
    const auto start = Clock::now();
    const auto verdict = [&]() -> Result<judge::Verdict> {
        CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(entry.path));
        if (turn.variation > 0)
            varyTexts(candidate, turn.variation);
        return judges_[entry.task]->judge(
            candidate, turn.full ? verify::Strength::full : verify::Strength::training, {});
    }();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    ++done_;
    honest_ += entry.honest ? 1 : 0;
    auto &seen = seen_[turn.entry];
    ++seen.places[placeOf(verdict)];
    seen.seconds += seconds;
    seen.longest = std::max(seen.longest, seconds);
    if (auto wrong = complaint(manifest_, entry, verdict))
        add({{"verdict", done_, std::move(*wrong)}});
}

/// A census once nothing that is on its way out is left: until it holds no more than is normal, or,
/// before there is a normal, until two in a row hold the same.
Result<Census> Run::settled() {
    const auto until = Clock::now() + patience;
    std::map<std::string, std::size_t> before;
    for (;;) {
        // The free memory of a host is other programs' doing.
        auto *gpu = options_.device == "cuda" ? &judges_.front()->device() : nullptr;
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
    bool measured = false;
    for (const auto &turn : draw_.turns) {
        if (stop || (options_.limit.count() > 0 && Clock::now() - start_ > options_.limit))
            break;
        judgeOne(turn);
        const bool warm = done_ >= draw_.warmUp;
        if (warm && watch_.begun() && done_ % leakEvery == 0)
            CUDA_AGENT_TRY(leak_.lose());
        measured = warm && (done_ == draw_.warmUp || done_ % options_.every == 0);
        if (measured)
            CUDA_AGENT_TRY(measure());
        seconds_ = std::chrono::duration<double>(Clock::now() - start_).count();
        if (done_ % progressEvery == 0)
            printProgress();
    }
    if (!watch_.begun())
        return failedError("only {} candidates were judged, of the {} that warm this up: raise "
                           "--count or --seconds",
                           done_, draw_.warmUp);
    if (!measured)
        CUDA_AGENT_TRY(measure());
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
               "tasks, seed {}, device {}\n",
               done_, seconds_, honest_, done_ - honest_, manifest_.entries.size(),
               manifest_.tasks.size(), options_.seed, options_.device);
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
