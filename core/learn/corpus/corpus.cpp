// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/corpus.h"

#include "core/base/gzip.h"
#include "core/base/hash.h"
#include "core/base/parallel.h"
#include "core/bench/task_set.h"
#include "core/device/ceilings.h"
#include "core/device/cuda_driver.h"
#include "core/device/lease.h"
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
/// With a judge: what it found is written as often, too.
constexpr std::size_t judgedTasksAtOnce = 16;
constexpr int judgesPerGpu = 3; ///< one measures while others prepare

/// What became of one task.
struct Made {
    std::vector<Document> documents;
    JudgedCounts judged;
    std::string machineProblem;
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

/// What a corpus is made with, besides its options.
struct Means {
    Descriptions &descriptions;
    Observations &observations;
    const bench::TaskSet &set;
    int gpus = 0;                 ///< to judge on; 0: the CPU
    std::function<void()> judged; ///< see TaskJudge
};

class Maker {
  public:
    Maker(const CorpusOptions &options, Means means)
        : options_(options), means_(std::move(means)) {}

    /// Errors: machine, stopped.
    Result<Made> make(const bench::SuiteTask &task, std::stop_token stop) const {
        Made made;
        if (stop.stop_requested())
            return stoppedError();
        const std::string &code = means_.set.sources.at(task.file);
        policy::Context context;
        auto description = means_.descriptions.of(task.id, code, stop);
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
        auto generator = generatorOf(options_.seed, task.id);
        const auto prompt = chat::promptOf(context, code);
        CUDA_AGENT_ASSIGN(drafts, draw(made, context, *space, prompt, generator));
        const Document head{task.id, task.split, task.level, {}, {}, {prompt}, {}};
        if (options_.judge)
            CUDA_AGENT_TRY(judge(made, drafts, head, task, generator, stop));
        else
            for (const Draft &draft : drafts)
                CUDA_AGENT_TRY(write(made, draft, head));
        return made;
    }

  private:
    Result<std::vector<Draft>> draw(Made &made, const policy::Context &context,
                                    const policy::SearchSpace &space, const chat::Segment &prompt,
                                    std::mt19937_64 &generator) const {
        const auto signature = judge::signatureOf(context.task);
        const auto kind = context.device.kind;
        std::vector<Draft> drafts;
        std::set<std::string> seen;
        for (std::size_t i = 0;
             i < drawsPerDocument * options_.perTask && drafts.size() < options_.perTask; ++i) {
            Draft draft;
            draft.name = space.random(generator);
            if (!options_.judge && !seen.insert(draft.name).second)
                continue;
            CUDA_AGENT_ASSIGN(sound, candidateText(space, draft.name, kind));
            draft.sound = std::move(sound);
            if (auto checked = checkPlan(draft.sound.plan, signature, context.device); !checked) {
                made.reason = "no plan for it: " + checked.error().message;
                continue;
            }
            draft.thought = thoughtOf(space, draft.name, draft.sound.plan);
            draft.written = draft.sound;
            const double chance = static_cast<double>(generator() >> 11) * 0x1p-53;
            if (chance < options_.brokenShare)
                draft.mutation = mutate(draft.written, generator);
            if (options_.judge &&
                !seen.insert(draft.written.kernels + draft.written.plan.dump()).second)
                continue;
            CUDA_AGENT_ASSIGN(turn, turnOf(draft.thought, draft.written));
            if (prompt.text.size() + turn.text.size() > options_.mostBytes) {
                made.reason = "longer than a document may be";
                continue;
            }
            drafts.push_back(std::move(draft));
        }
        return drafts;
    }

    static Result<void> write(Made &made, const Draft &draft, const Document &head) {
        Document document = head;
        document.candidate = draft.name;
        document.mutation = draft.mutation;
        CUDA_AGENT_ASSIGN(turn, turnOf(draft.thought, draft.written));
        document.segments.push_back(std::move(turn));
        document.thoughtBytes = draft.thought.size();
        document.kernelBytes = draft.written.kernels.size();
        document.planBytes = draft.written.plan.dump().size();
        made.documents.push_back(std::move(document));
        return {};
    }

    Result<void> judge(Made &made, const std::vector<Draft> &drafts, const Document &head,
                       const bench::SuiteTask &task, std::mt19937_64 &generator,
                       const std::stop_token &stop) const {
        TaskJudge::Setting setting;
        CUDA_AGENT_ASSIGN(spec, task::openSpec(task.file, {}));
        setting.spec = std::move(spec);
        setting.code = means_.set.sources.at(task.file);
        setting.device = options_.target.info;
        setting.judge.numerics = options_.numerics;
        setting.open = [this] {
            return means_.gpus > 0 ? device::openCuda(static_cast<int>(
                                         next_++ % static_cast<unsigned>(means_.gpus)))
                                   : device::openCpu();
        };
        setting.known = &means_.observations;
        std::size_t verdicts = 0;
        setting.judged = [&] {
            ++verdicts;
            means_.judged();
        };
        TaskJudge judge(std::move(setting));
        auto played = playDrafts(drafts, head, judge, {options_.mostBytes, options_.improvedShare},
                                 generator, stop);
        if (!played) {
            if (played.error().kind != ErrorKind::request)
                return tl::unexpected(played.error());
            made.reason = "cannot be judged: " + reasonOf(played.error().message, task.id);
            return {};
        }
        made.documents = std::move(played->documents);
        made.judged = std::move(played->counts);
        made.judged.verdicts = verdicts;
        made.machineProblem = std::move(played->machineProblem);
        if (!made.machineProblem.empty())
            made.reason = "the machine failed: " + made.machineProblem;
        return {};
    }

    const CorpusOptions &options_;
    Means means_;
    mutable std::atomic<unsigned> next_{0}; ///< GPU
};

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
    const Maker maker(options, {descriptions, observations, set, gpus, [&] {
                                    const std::lock_guard lock(mutex);
                                    ++state.verdicts;
                                    if (progress)
                                        progress(state);
                                }});
    const auto file = options.out / "corpus.jsonl.gz";
    const auto part = options.out / "corpus.jsonl.gz.part";
    std::ofstream out(part, std::ios::binary | std::ios::trunc);

    CorpusSummary summary;
    summary.tasks = tasks.size();
    if (options.judge)
        summary.judged.emplace();
    std::string machineProblem;
    std::map<std::string, std::vector<std::size_t>> sizes;
    const auto atOnce = options.judge ? judgedTasksAtOnce : tasksAtOnce;
    for (std::size_t first = 0; first < tasks.size(); first += atOnce) {
        auto made = parallelResults<Made>(std::min(atOnce, tasks.size() - first), options.jobs,
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
        CUDA_AGENT_TRY(observations.save());
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
        }
        const auto member = gzip(lines);
        out.write(member.data(), static_cast<std::streamsize>(member.size()));
    }
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
