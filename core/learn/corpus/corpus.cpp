// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/corpus.h"

#include "core/base/elapsed.h"
#include "core/base/gzip.h"
#include "core/base/parallel.h"
#include "core/base/parallel_in_order.h"
#include "core/device/ceilings.h"
#include "core/device/cuda_driver.h"
#include "core/device/lease.h"
#include "core/learn/corpus/document_maker.h"

#include <chrono>
#include <fstream>
#include <thread>

namespace cuda_agent::learn {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Tasks of a thread that are made while the slowest is, which takes a hundred times as long as
/// most.
constexpr std::size_t tasksOfAThread = 64;
constexpr std::size_t memberBytes = std::size_t{8} << 20; ///< of text, in a gzip member
constexpr auto saveEvery = std::chrono::minutes(1); ///< what is known, while tasks are under way
constexpr int judgesPerGpu = 3;                     ///< one measures while others prepare

/// The device that candidates of a judged corpus run on, and how many of its kind there are.
/// Errors: machine.
Result<int> setTarget(Target &target, std::stop_token stop) {
    const bool cuda = target.info.kind == device::Kind::cuda;
    CUDA_AGENT_ASSIGN(device, cuda ? device::openCuda() : device::openCpu());
    target.info = device->info();
    if (auto known = device::knownCeilings(target.info)) {
        target.ceilings = *known;
    } else {
        CUDA_AGENT_ASSIGN(lease, device::Lease::take(target.info, std::move(stop)));
        (void)lease;
        CUDA_AGENT_ASSIGN(ceilings, device->ceilings());
        target.ceilings = ceilings;
    }
    if (!cuda)
        return 0;
    CUDA_AGENT_ASSIGN(driver, device::cuda::Driver::load());
    return driver->deviceCount;
}

TaskDocuments outOfTime() {
    TaskDocuments none;
    none.reason = "its turn did not come within the time given";
    return none;
}

Spread spreadOf(std::vector<std::size_t> sizes) {
    if (sizes.empty())
        return {};
    std::ranges::sort(sizes);
    return {sizes[sizes.size() / 2], sizes[sizes.size() * 9 / 10], sizes.back()};
}

std::vector<bench::SuiteTask> chosen(const bench::TaskSet &set, const CorpusOptions &options) {
    std::vector<bench::SuiteTask> tasks;
    for (const auto &task : set.tasks) {
        if (options.tasks > 0 && tasks.size() >= options.tasks)
            break;
        if (options.splits.empty() ||
            std::ranges::find(options.splits, task.split) != options.splits.end())
            tasks.push_back(task);
    }
    return tasks;
}

/// Errors: request, naming the line.
Result<Document> documentOf(std::string_view line, const fs::path &file, std::size_t number) {
    const auto what = fmt::format("{}:{}", file.string(), number);
    CUDA_AGENT_ASSIGN(json, parseJson(line, what));
    auto document = documentFromJson(json);
    if (!document)
        return requestError("{}: {}", what, document.error().message);
    return document;
}

} // namespace

Target h200Target() {
    Target target;
    target.info.kind = device::Kind::cuda;
    target.info.name = "NVIDIA H200";
    target.info.architecture = "sm_90";
    target.info.multiprocessors = 132;
    target.info.memoryBytes = 141'000'000'000;
    target.info.cacheBytes = 50u << 20;
    target.info.sharedBytesPerBlock = 227u << 10;
    target.ceilings.copyBytesPerSecond = 4.24e12; // tests/gpu/kernelbench-h200.md
    return target;
}

Target cpuTarget() {
    Target target;
    target.info.kind = device::Kind::cpu;
    target.info.name = "CPU";
    target.info.multiprocessors = 2;
    target.ceilings.copyBytesPerSecond = 20e9;
    return target;
}

Json toJson(const CorpusSummary &summary) {
    Json sizes = Json::object();
    for (const auto &[name, spread] : summary.sizes)
        sizes[name] = {
            {"median", spread.median}, {"most90", spread.most90}, {"maximum", spread.maximum}};
    Json json{{"tasks", summary.tasks},         {"planned", summary.planned},
              {"written", summary.written},     {"documents", summary.documents},
              {"bytes", summary.bytes},         {"mutations", summary.mutations},
              {"reasons", summary.reasons},     {"sizes", std::move(sizes)},
              {"described", summary.described}, {"seconds", summary.seconds}};
    if (summary.judged)
        json["judged"] = toJson(*summary.judged);
    return json;
}

Result<CorpusSummary> makeCorpus(const CorpusOptions &asked,
                                 const std::function<void(const CorpusProgress &)> &progress,
                                 std::stop_token stop) {
    const auto begin = Clock::now();
    CorpusOptions options = asked;
    CUDA_AGENT_ASSIGN(set, bench::readTaskSet(options.set));
    const auto tasks = chosen(set, options);
    if (tasks.empty())
        return requestError("{} has no task of the splits asked for", options.set.string());
    std::error_code error;
    fs::create_directories(options.out, error);
    if (error)
        return machineError("cannot create {}: {}", options.out.string(), error.message());
    int gpus = 0;
    if (options.judge) {
        CUDA_AGENT_TRY(bench::writeTasks(set, tasks));
        CUDA_AGENT_ASSIGN(found, setTarget(options.target, stop));
        gpus = found;
        if (options.jobs == 0)
            options.jobs = static_cast<unsigned>(std::max(1, judgesPerGpu * gpus));
    }
    const auto kind = options.target.info.kind;
    const auto kept = [&](const char *what) {
        return options.out / fmt::format("{}-{}.gz", what, device::nameOf(kind));
    };
    Descriptions descriptions(kept("descriptions"), kind);
    Observations observations(options.judge ? kept("verdicts") : fs::path());
    std::mutex mutex;
    CorpusProgress state{0, tasks.size(), 0, 0};
    auto nextSave = Clock::now() + saveEvery; // all is written anew: a twentieth of a thread's time
    std::mutex saving;
    const auto saveKnown = [&] { // by one who has just learned something, beside the others
        const std::unique_lock lock(saving, std::try_to_lock);
        // Somebody may kill it. What cannot be written now is tried, and told, below.
        const auto begun = Clock::now();
        if (lock && begun >= nextSave && observations.save() && descriptions.save())
            nextSave =
                Clock::now() + std::max<Clock::duration>(saveEvery, 20 * (Clock::now() - begun));
    };
    const auto judged = [&] {
        {
            const std::lock_guard lock(mutex);
            ++state.verdicts;
            if (progress)
                progress(state);
        }
        saveKnown();
    };
    std::map<std::string, std::vector<OwnTry>> tries;
    if (!options.tries.empty()) {
        const auto wanted = options.judge ? TriesWanted::wrong : TriesWanted::verified;
        CUDA_AGENT_ASSIGN(found, readOwnTries(options.tries, kind, wanted));
        tries = std::move(found);
    }
    const DocumentMaker maker(options, {descriptions, observations, set, tries, gpus, judged});
    const auto file = options.out / "corpus.jsonl.gz";
    const auto part = options.out / "corpus.jsonl.gz.part";
    std::ofstream out(part, std::ios::binary | std::ios::trunc);

    CorpusSummary summary;
    summary.tasks = tasks.size();
    if (options.judge)
        summary.judged.emplace();
    std::string machineProblem;
    std::map<std::string, std::vector<std::size_t>> sizes;
    if (options.jobs == 0)
        options.jobs = std::max(1u, std::thread::hardware_concurrency());
    const auto make = [&](std::size_t i) {
        const bool late = options.seconds > 0 && secondsSince(begin) >= options.seconds;
        auto result = late ? Result<TaskDocuments>(outOfTime()) : maker.make(tasks[i], stop);
        if (result) {
            const std::lock_guard lock(mutex);
            ++state.done;
            state.documents += result->documents.size();
            if (progress)
                progress(state);
        }
        saveKnown();
        return result;
    };
    std::string lines;
    const auto write = [&] {
        const auto member = gzip(lines);
        out.write(member.data(), static_cast<std::streamsize>(member.size()));
        lines.clear();
    };
    const auto take = [&](std::size_t, const TaskDocuments &task) -> Result<void> {
        summary.planned += task.planned;
        summary.written += !task.documents.empty();
        if (task.documents.empty())
            ++summary.reasons[task.reason];
        if (summary.judged)
            summary.judged->add(task.judged);
        if (machineProblem.empty())
            machineProblem = task.machineProblem;
        for (const Document &document : task.documents) {
            lines += toJson(document).dump(-1, ' ', false, Json::error_handler_t::replace);
            lines += '\n';
            ++summary.documents;
            summary.bytes += document.bytes();
            if (document.mutation)
                ++summary.mutations[document.mutation->kind];
            sizes["prompt"].push_back(document.segments.front().text.size());
            sizes["thought"].push_back(document.thoughtBytes);
            sizes["kernels"].push_back(document.kernelBytes);
            sizes["plan"].push_back(document.planBytes);
            sizes["document"].push_back(document.bytes());
        }
        if (lines.size() >= memberBytes)
            write();
        return {};
    };
    const auto made = parallelInOrder<TaskDocuments>(tasks.size(), options.jobs,
                                                     tasksOfAThread * options.jobs, make, take);
    CUDA_AGENT_TRY(observations.save());
    if (!made) {
        CUDA_AGENT_TRY(descriptions.save());
        out.close();
        fs::remove(part, error);
        return tl::unexpected(made.error());
    }
    write();
    CUDA_AGENT_TRY(descriptions.save());
    out.close();
    if (out.fail())
        return machineError("cannot write {}: is the disk full?", part.string());
    if (summary.documents == 0 && !machineProblem.empty()) {
        fs::remove(part, error);
        return machineError("no document, as the machine failed: {}", machineProblem);
    }
    fs::rename(part, file, error);
    if (error)
        return machineError("cannot write {}: {}", file.string(), error.message());
    for (auto &[name, values] : sizes)
        summary.sizes[name] = spreadOf(std::move(values));
    summary.described = descriptions.described();
    summary.seconds = secondsSince(begin);
    CUDA_AGENT_TRY(
        writeFileAtomically(options.out / "summary.json", toJson(summary).dump(2) + "\n"));
    return summary;
}

Result<void> eachDocument(const fs::path &file, const std::function<Result<void>(Document)> &take) {
    return eachGzipLine(file, [&](std::string_view line, std::size_t number) -> Result<void> {
        CUDA_AGENT_ASSIGN(document, documentOf(line, file, number));
        return take(std::move(document));
    });
}

Result<std::vector<Document>> readCorpus(const fs::path &file) {
    std::vector<std::string> lines;
    CUDA_AGENT_TRY(eachGzipLine(file, [&](std::string_view line, std::size_t) -> Result<void> {
        lines.emplace_back(line);
        return {};
    }));
    return parallelResults<Document>(lines.size(), 0, [&](std::size_t i) {
        return documentOf(std::exchange(lines[i], {}), file, i + 1);
    });
}

} // namespace cuda_agent::learn
