// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/synthesis.h"

#include "core/base/deadline.h"
#include "core/base/elapsed.h"
#include "core/base/gzip.h"
#include "core/base/temporary_folder.h"
#include "core/device/cuda_driver.h"
#include "core/synthesis/audit.h"
#include "core/synthesis/difficulty.h"
#include "core/synthesis/endpoint_composer.h"
#include "core/synthesis/filter.h"
#include "core/synthesis/folder.h"
#include "core/synthesis/proposed.h"
#include "core/synthesis/proposer.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <mutex>
#include <thread>

namespace cuda_agent::synthesis {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t smallestWave = 16, largestWave = 4096;
constexpr double firstYield = 0.5, smallestYield = 0.02;
constexpr auto progressEvery = std::chrono::seconds(1);
/// A set that no candidate gets into is a recipe's or a machine's fault.
constexpr std::size_t hopeless = 2000;

/// What the stages have done and refused so far.
void countStages(Progress &progress, const Folder &folder) {
    progress.checked = folder.done(Stage::check);
    progress.timed = folder.done(Stage::time);
    progress.compiled = folder.done(Stage::compile);
    progress.rejected = folder.rejected();
}

class Synthesizer {
  public:
    Synthesizer(const Request &request, const Listener &listener, Folder &folder, fs::path scratch,
                std::vector<device::Info> devices, KeptTraits kept, std::stop_token stop)
        : request_(request), recipe_(request.recipe), listener_(listener), folder_(folder),
          kept_(std::move(kept)), devices_(std::move(devices)),
          stop_(std::move(stop), request.seconds), proposer_(recipe_, scratch, request.against),
          filter_(recipe_, {devices_, perDevice(), scratch}), scratch_(std::move(scratch)) {}

    Result<Synthesis> run() {
        progress_.wanted = recipe_.tasks;
        progress_.proposed = folder_.candidates().size();
        count();
        auto whole = steps();
        progress_.seconds = secondsSince(start_);
        progress_.left.reset();
        progress_.state = whole && *whole ? "done" : "stopped";
        tell(true);
        if (!whole && !(whole.error().kind == ErrorKind::stopped && stop_.passed()))
            return tl::unexpected(whole.error());
        return Synthesis{progress_, whole && *whole};
    }

  private:
    int perDevice() const {
        if (request_.perDevice > 0)
            return request_.perDevice;
        const auto cores = std::max(1u, std::thread::hardware_concurrency());
        return std::max(1, static_cast<int>(cores / std::max<std::size_t>(devices_.size(), 1)));
    }

    /// Whether the set is there now.
    Result<bool> steps() {
        // The crawl takes a core for a minute and is wanted at the end, or by an endpoint.
        auto crawled = std::async(std::launch::async, [this] { return crawl(); });
        if (request_.endpoint)
            CUDA_AGENT_TRY(crawled.get());
        std::size_t fruitful = 0; ///< proposals when the set grew last
        while (folder_.accepted() < recipe_.tasks) {
            const auto before = folder_.accepted();
            if (request_.proposeOnly && progress_.proposed >= recipe_.tasks) {
                CUDA_AGENT_TRY(writeProposed());
                return false;
            }
            CUDA_AGENT_TRY(propose());
            if (request_.proposeOnly)
                continue;
            for (const auto stage : stages)
                CUDA_AGENT_TRY(filter(stage));
            if (folder_.accepted() > before)
                fruitful = progress_.proposed;
            else if (progress_.proposed - fruitful >= hopeless)
                return failedError("none of the last {} candidates passed; see {}",
                                   progress_.proposed - fruitful,
                                   (folder_.path() / "checked.jsonl").string());
        }
        if (crawled.valid())
            CUDA_AGENT_TRY(crawled.get());
        enter("audit");
        CUDA_AGENT_ASSIGN(versions, versionsOf());
        const auto set = assemble(recipe_, folder_.entries(), folder_.difficulty());
        const auto audited = [&](std::size_t done, std::size_t all) {
            const std::lock_guard lock(mutex_);
            progress_.left =
                done > 0 ? std::optional(secondsSince(entered_) / static_cast<double>(done) *
                                         static_cast<double>(all - done))
                         : std::nullopt;
            tell(false);
        };
        const auto card = folder_.cardFor(set);
        auto audit = auditFromJson(card.value("audit", Json()));
        if (!audit || card.value("versions", Json()) != versions || !request_.against.empty())
            audit = auditOf(recipe_, set, filter_, proposer_, audited, stop_.token());
        if (!audit)
            return tl::unexpected(audit.error());
        enter("write");
        CUDA_AGENT_TRY(folder_.write(set, *audit, versions, stop_.token()));
        return true;
    }

    Result<void> writeProposed() {
        return writeFileAtomically(folder_.path() / "proposed.jsonl.gz",
                                   gzip(proposedLines(folder_.candidates(), kept_)));
    }

    Result<void> crawl() {
        if (folder_.hasCrawl())
            return {};
        Proposer crawler(recipe_, scratch_ / "crawl", request_.against);
        CUDA_AGENT_ASSIGN(found, crawler.crawl(stop_.token()));
        return folder_.setCrawl(found);
    }

    /// How many candidates it takes until the set is full, by what came of those before.
    std::size_t wave() const {
        const auto missing = static_cast<double>(recipe_.tasks - progress_.accepted);
        const double yield =
            progress_.accepted > 0
                ? std::max(smallestYield, static_cast<double>(progress_.accepted) /
                                              static_cast<double>(progress_.proposed))
                : firstYield;
        const auto wanted = static_cast<std::size_t>(std::ceil(missing / yield * 1.05));
        return std::clamp(wanted, smallestWave, largestWave);
    }

    Result<void> propose() {
        // What an earlier run has proposed and not filtered comes first.
        if (!request_.proposeOnly &&
            std::ranges::any_of(stages, [&](Stage stage) { return !folder_.todo(stage).empty(); }))
            return {};
        enter("propose");
        const auto from = folder_.candidates().size();
        const auto to = from + wave();
        std::atomic<std::size_t> done = from;
        const auto heard = [&](std::size_t more) {
            const std::lock_guard lock(mutex_);
            progress_.proposed = done += more;
            tell(false);
        };
        CUDA_AGENT_ASSIGN(candidates, proposer_.propose(from, to, heard, stop_.token()));
        CUDA_AGENT_TRY(invent(candidates));
        CUDA_AGENT_TRY(folder_.add(std::move(candidates)));
        progress_.proposed = folder_.candidates().size();
        count();
        return {};
    }

    /// Has an endpoint write those candidates that are its part.
    Result<void> invent(std::vector<Candidate> &candidates) {
        if (!request_.endpoint)
            return {};
        enter("endpoint");
        EndpointComposer composer(recipe_, *request_.endpoint, folder_.crawl());
        for (auto &candidate : candidates) {
            if (!composer.takes(candidate.index))
                continue;
            CUDA_AGENT_ASSIGN(written, composer.write(candidate.index, stop_.token()));
            if (written.rejected.empty())
                CUDA_AGENT_TRY(proposer_.look(written, stop_.token()));
            candidate = std::move(written);
        }
        return {};
    }

    Result<void> filter(Stage stage) {
        const auto todo = folder_.todo(stage);
        if (todo.empty())
            return {};
        enter(std::string(nameOf(stage)));
        std::size_t done = 0;
        return filter_.run(
            stage, todo, Rigour::clearly,
            [&](Checked checked) -> Result<bool> {
                const std::lock_guard lock(mutex_);
                if (checked.outcome == Outcome::machine && listener_.note)
                    listener_.note(fmt::format("candidate {}: {}", checked.index, checked.detail));
                CUDA_AGENT_TRY(folder_.add(std::move(checked)));
                ++done;
                const double took = secondsSince(entered_);
                progress_.rates[std::string(nameOf(stage))] = static_cast<double>(done) / took;
                count();
                estimate(todo.size() - done, took / static_cast<double>(done), stage);
                tell(false);
                // Those begun are the first, so the set is that of its recipe.
                return stage != Stage::compile || progress_.accepted < recipe_.tasks;
            },
            stop_.token());
    }

    /// Seconds left, as if all goes on as it went so far.
    void estimate(std::size_t waiting, double each, Stage stage) {
        const auto rate = [&](const char *of) {
            const auto found = progress_.rates.find(of);
            return found == progress_.rates.end() ? 0.0 : found->second;
        };
        double left = static_cast<double>(waiting) * each;
        if (stage == Stage::compile && progress_.accepted > 0 && rate("check") > 0 &&
            rate("time") > 0 && progress_.accepted < recipe_.tasks) {
            const auto missing = static_cast<double>(recipe_.tasks - progress_.accepted);
            const auto accepted = static_cast<double>(progress_.accepted);
            left = missing / accepted *
                   (static_cast<double>(progress_.checked) / rate("check") +
                    static_cast<double>(progress_.timed) / rate("time") +
                    static_cast<double>(progress_.compiled) / rate("compile"));
        }
        progress_.left = left;
    }

    void count() {
        countStages(progress_, folder_);
        progress_.accepted = std::min(folder_.promising(), recipe_.tasks);
    }

    void enter(const std::string &stage) {
        const std::lock_guard lock(mutex_);
        progress_.stage = stage;
        progress_.left.reset();
        entered_ = Clock::now();
        tell(true);
    }

    /// The lock is held, or nobody else runs.
    void tell(bool now) {
        if (!now && Clock::now() - told_ < progressEvery)
            return;
        told_ = Clock::now();
        progress_.seconds = secondsSince(start_);
        (void)writeFileAtomically(folder_.path() / "progress.json",
                                  toJson(progress_).dump(2) + "\n");
        if (listener_.progress)
            listener_.progress(progress_);
    }

    Result<Json> versionsOf() {
        CUDA_AGENT_ASSIGN(versions, proposer_.versions(stop_.token()));
        Json all{{"program", CUDA_AGENT_VERSION},
                 {"torch", versions.value("torch", Json())},
                 {"python", versions.value("python", Json())},
                 {"device", devices_.front().name}};
        if (const auto packages = versions.find("packages"); packages != versions.end())
            all.update(*packages);
        if (devices_.front().kind == device::Kind::cuda)
            all["driver"] = "CUDA " + device::cuda::versionText(devices_.front().driverVersion);
        return all;
    }

    const Request &request_;
    const Recipe &recipe_;
    const Listener &listener_;
    Folder &folder_;
    const KeptTraits kept_; ///< of what is only proposed
    const std::vector<device::Info> devices_;
    Deadline stop_;
    Proposer proposer_;
    Filter filter_;
    fs::path scratch_;
    std::mutex mutex_;
    Progress progress_;
    Clock::time_point start_ = Clock::now(), entered_ = start_, told_ = start_;
};

/// A benchmark's folder has to hold files that can be tasks.
Result<void> checkBenchmark(const fs::path &folder) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
        if (at->path().extension() == ".py")
            return {};
    return requestError("{}: there are no tasks in that folder", folder.string());
}

/// What there is of a synthesis without running anything.
Progress progressOf(const Recipe &recipe, const Folder &folder, const TaskSet &set) {
    Progress progress;
    progress.stage = "write";
    progress.wanted = recipe.tasks;
    progress.proposed = folder.candidates().size();
    progress.accepted = set.tasks.size();
    countStages(progress, folder);
    return progress;
}

/// The set as it stands, for those who do not need torch.compile's time.
Result<Synthesis> asDraft(const Request &request) {
    std::error_code error;
    if (!fs::exists(request.folder / "checked.jsonl", error))
        return requestError("there is no synthesis in {}", request.folder.string());
    CUDA_AGENT_ASSIGN(folder, Folder::open(request.folder, request.recipe));
    const auto set = assemble(request.recipe, folder.entries(), folder.difficulty(), Stage::time);
    if (set.tasks.empty())
        return requestError("nothing in {} has been timed yet", request.folder.string());
    CUDA_AGENT_TRY(writeFileAtomically(request.folder / "draft.jsonl.gz", gzip(linesOf(set))));
    Synthesis outcome;
    outcome.progress = progressOf(request.recipe, folder, set);
    outcome.progress.state = "stopped";
    return outcome;
}

/// The set again, with what an evaluation of it says of its tasks.
Result<Synthesis> withDifficulty(const Request &request, const Listener &listener,
                                 std::stop_token stop) {
    const auto &recipe = request.recipe;
    CUDA_AGENT_ASSIGN(found, difficultyFrom(request.difficulty));
    std::error_code error;
    if (!fs::exists(request.folder / "card.json", error))
        return requestError("there is no set in {}", request.folder.string());
    CUDA_AGENT_ASSIGN(folder, Folder::open(request.folder, recipe));
    auto set = assemble(recipe, folder.entries(), folder.difficulty());
    const auto card = folder.cardFor(set);
    const auto audit = auditFromJson(card.value("audit", Json()));
    if (!audit || set.tasks.size() < recipe.tasks)
        return requestError("the set in {} is not the one of this recipe; run the same command "
                            "without --difficulty first",
                            request.folder.string());
    std::map<std::string, Json> figures;
    for (const auto &task : set.tasks)
        if (const auto entry = found.find(task.name); entry != found.end())
            figures[task.candidate->id] = entry->second;
    if (figures.empty())
        return requestError("{} has no results of tasks of the set in {}",
                            request.difficulty.string(), request.folder.string());
    CUDA_AGENT_TRY(folder.addDifficulty(figures));
    if (listener.note)
        listener.note(fmt::format("{} of {} tasks have a measured difficulty",
                                  folder.difficulty().size(), set.tasks.size()));
    set = assemble(recipe, folder.entries(), folder.difficulty());
    CUDA_AGENT_TRY(folder.write(set, *audit, card.value("versions", Json()), std::move(stop)));
    Synthesis outcome;
    outcome.whole = true;
    outcome.progress = progressOf(recipe, folder, set);
    outcome.progress.state = "done";
    return outcome;
}

Result<std::vector<device::Info>> devicesOf(const Request &request) {
    std::vector<device::Info> devices;
    if (request.recipe.device == device::Kind::cpu || request.proposeOnly) {
        CUDA_AGENT_ASSIGN(cpu, device::openCpu());
        devices.push_back(cpu->info());
        return devices;
    }
    for (int gpu = 0; request.gpus == 0 || gpu < request.gpus; ++gpu) {
        auto device = device::openCuda(gpu);
        if (!device && gpu > 0 && request.gpus == 0)
            break;
        if (!device)
            return tl::unexpected(device.error());
        devices.push_back((*device)->info());
    }
    return devices;
}

} // namespace

Json toJson(const Progress &progress) {
    Json json{{"state", progress.state},       {"stage", progress.stage},
              {"wanted", progress.wanted},     {"proposed", progress.proposed},
              {"checked", progress.checked},   {"timed", progress.timed},
              {"compiled", progress.compiled}, {"accepted", progress.accepted},
              {"rejected", progress.rejected}, {"seconds", progress.seconds},
              {"rates", progress.rates}};
    json["left"] = progress.left ? Json(*progress.left) : Json();
    return json;
}

Result<Synthesis> synthesize(const Request &request, const Listener &listener,
                             std::stop_token stop) {
    if (request.recipe.sources.contains("endpoint") && !request.endpoint)
        return requestError("the recipe has the source \"endpoint\"; name one with --base-url and "
                            "--model, or take it out of [compose] sources");
    if (!request.against.empty())
        CUDA_AGENT_TRY(checkBenchmark(request.against));
    if (request.draft)
        return asDraft(request);
    if (!request.difficulty.empty())
        return withDifficulty(request, listener, std::move(stop));
    CUDA_AGENT_ASSIGN(kept, keptFromTraining(request.apart));
    CUDA_AGENT_ASSIGN(devices, devicesOf(request));
    CUDA_AGENT_ASSIGN(folder, Folder::open(request.folder, request.recipe));
    CUDA_AGENT_ASSIGN(scratch, TemporaryFolder::make("cuda-agent-synthesis"));
    Synthesizer synthesizer(request, listener, folder, scratch.path(), std::move(devices),
                            std::move(kept), std::move(stop));
    return synthesizer.run();
}

} // namespace cuda_agent::synthesis
