// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/corpus.h"

#include "core/base/gzip.h"
#include "core/base/hash.h"
#include "core/base/parallel.h"
#include "core/bench/task_set.h"
#include "core/judge/candidate.h"
#include "core/learn/corpus/descriptions.h"
#include "core/plan/make_program.h"

#include <chrono>
#include <fstream>
#include <set>

namespace cuda_agent::learn {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t drawsPerDocument = 12;
/// Tasks whose documents are made, then written as one gzip member.
constexpr std::size_t tasksAtOnce = 64;

/// What became of one task.
struct Made {
    std::vector<Document> documents;
    bool planned = false;
    std::string reason; ///< why there is no document
};

std::mt19937_64 generatorOf(std::uint64_t seed, const std::string &task) {
    const auto hash = sha256Hex(fmt::format("{} {}", seed, task));
    return std::mt19937_64(std::stoull(hash.substr(0, 16), nullptr, 16));
}

/// Without the task's name and line in front, so that equal reasons count together.
std::string reasonOf(std::string message, const std::string &task) {
    if (message.starts_with(task)) {
        const auto colon = message.find(": ");
        message.erase(0, colon == message.npos ? 0 : colon + 2);
    }
    return message;
}

/// Whether a plan is one for that task on that device. Errors: request, failed.
Result<void> checkPlan(const Json &json, const plan::Signature &signature,
                       const device::Info &device) {
    CUDA_AGENT_ASSIGN(plan, plan::planFromJson(json));
    CUDA_AGENT_TRY(plan::resolve(plan, signature, plan::limitsOf(device)));
    return {};
}

class Maker {
  public:
    Maker(const CorpusOptions &options, Descriptions &descriptions, const bench::TaskSet &set)
        : options_(options), descriptions_(descriptions), set_(set) {}

    /// Errors: machine, stopped.
    Result<Made> make(const bench::SuiteTask &task, std::stop_token stop) const {
        Made made;
        if (stop.stop_requested())
            return stoppedError();
        const std::string &code = set_.sources.at(task.file);
        policy::Context context;
        auto description = descriptions_.of(task.id, code, std::move(stop));
        if (!description) {
            if (description.error().kind != ErrorKind::request)
                return tl::unexpected(description.error());
            made.reason = "no description: " + reasonOf(description.error().message, task.id);
            return made;
        }
        if (description->graph.nodes.empty()) {
            made.reason = "no graph: " + reasonOf(description->graphProblem, task.id);
            return made;
        }
        context.task = std::move(*description);
        context.device = options_.target.info;
        context.ceilings = options_.target.ceilings;
        context.numerics = options_.numerics;
        const auto space = policy::SearchSpace::make(context.task, context.device, context.ceilings,
                                                     context.numerics);
        if (!space) {
            made.reason = space.error().message;
            return made;
        }
        made.planned = true;
        CUDA_AGENT_TRY(draw(made, task, context, *space, chat::promptOf(context, code)));
        return made;
    }

  private:
    Result<void> draw(Made &made, const bench::SuiteTask &task, const policy::Context &context,
                      const policy::SearchSpace &space, const chat::Segment &prompt) const {
        auto generator = generatorOf(options_.seed, task.id);
        const auto signature = judge::signatureOf(context.task);
        const auto kind = context.device.kind;
        std::set<std::string> seen;
        for (std::size_t i = 0;
             i < drawsPerDocument * options_.perTask && made.documents.size() < options_.perTask;
             ++i) {
            const auto name = space.random(generator);
            if (!seen.insert(name).second)
                continue;
            CUDA_AGENT_ASSIGN(candidate, candidateText(space, name, kind));
            if (auto checked = checkPlan(candidate.plan, signature, context.device); !checked) {
                made.reason = "no plan for it: " + checked.error().message;
                continue;
            }
            Document document{task.id, task.split, task.level, name, {}, {prompt}};
            const auto thought = thoughtOf(space, name, candidate.plan);
            const double chance = static_cast<double>(generator() >> 11) * 0x1p-53;
            if (chance < options_.brokenShare)
                document.mutation = mutate(candidate, generator);
            CUDA_AGENT_ASSIGN(turn, turnOf(thought, candidate));
            document.segments.push_back(std::move(turn));
            document.thoughtBytes = thought.size();
            document.kernelBytes = candidate.kernels.size();
            document.planBytes = candidate.plan.dump().size();
            if (document.bytes() > options_.mostBytes) {
                made.reason = "longer than a document may be";
                continue;
            }
            made.documents.push_back(std::move(document));
        }
        if (!made.documents.empty())
            made.reason.clear();
        return {};
    }

    const CorpusOptions &options_;
    Descriptions &descriptions_;
    const bench::TaskSet &set_;
};

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
    return {{"tasks", summary.tasks},         {"planned", summary.planned},
            {"written", summary.written},     {"documents", summary.documents},
            {"bytes", summary.bytes},         {"mutations", summary.mutations},
            {"reasons", summary.reasons},     {"sizes", std::move(sizes)},
            {"described", summary.described}, {"seconds", summary.seconds}};
}

Result<CorpusSummary> makeCorpus(const CorpusOptions &options,
                                 const std::function<void(const CorpusProgress &)> &progress,
                                 std::stop_token stop) {
    const auto begin = Clock::now();
    CUDA_AGENT_ASSIGN(set, bench::readTaskSet(options.set));
    const auto tasks = chosen(set, options);
    if (tasks.empty())
        return requestError("{} has no task of the splits asked for", options.set.string());
    std::error_code error;
    fs::create_directories(options.out, error);
    if (error)
        return machineError("cannot create {}: {}", options.out.string(), error.message());
    const auto kind = options.target.info.kind;
    Descriptions descriptions(options.out / fmt::format("descriptions-{}.gz", device::nameOf(kind)),
                              kind);
    const Maker maker(options, descriptions, set);
    const auto file = options.out / "corpus.jsonl.gz";
    const auto part = options.out / "corpus.jsonl.gz.part";
    std::ofstream out(part, std::ios::binary | std::ios::trunc);

    CorpusSummary summary;
    summary.tasks = tasks.size();
    std::map<std::string, std::vector<std::size_t>> sizes;
    std::mutex mutex;
    CorpusProgress state{0, tasks.size(), 0};
    for (std::size_t first = 0; first < tasks.size(); first += tasksAtOnce) {
        auto made = parallelResults<Made>(std::min(tasksAtOnce, tasks.size() - first), options.jobs,
                                          [&](std::size_t i) {
                                              auto result = maker.make(tasks[first + i], stop);
                                              if (result) {
                                                  const std::lock_guard lock(mutex);
                                                  ++state.done;
                                                  state.documents += result->documents.size();
                                                  if (progress)
                                                      progress(state);
                                              }
                                              return result;
                                          });
        if (!made) {
            CUDA_AGENT_TRY(descriptions.save());
            out.close();
            fs::remove(part, error);
            return tl::unexpected(made.error());
        }
        std::string lines;
        for (const Made &task : *made) {
            summary.planned += task.planned;
            summary.written += !task.documents.empty();
            if (task.documents.empty())
                ++summary.reasons[task.reason];
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
        }
        const auto member = gzip(lines);
        out.write(member.data(), static_cast<std::streamsize>(member.size()));
    }
    CUDA_AGENT_TRY(descriptions.save());
    out.close();
    if (out.fail())
        return machineError("cannot write {}: is the disk full?", part.string());
    fs::rename(part, file, error);
    if (error)
        return machineError("cannot write {}: {}", file.string(), error.message());
    for (auto &[name, values] : sizes)
        summary.sizes[name] = spreadOf(std::move(values));
    summary.described = descriptions.described();
    summary.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    CUDA_AGENT_TRY(
        writeFileAtomically(options.out / "summary.json", toJson(summary).dump(2) + "\n"));
    return summary;
}

Result<std::vector<Document>> readCorpus(const fs::path &file) {
    CUDA_AGENT_ASSIGN(text, readGzipFile(file, std::size_t{8} << 30));
    std::vector<Document> documents;
    for (std::size_t at = 0, number = 1; at < text.size(); ++number) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto what = fmt::format("{}:{}", file.string(), number);
        CUDA_AGENT_ASSIGN(json, parseJson(std::string_view(text).substr(at, end - at), what));
        auto document = documentFromJson(json);
        if (!document)
            return requestError("{}: {}", what, document.error().message);
        documents.push_back(std::move(*document));
        at = end + 1;
    }
    return documents;
}

} // namespace cuda_agent::learn
