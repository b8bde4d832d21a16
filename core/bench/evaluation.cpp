// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/evaluation.h"

#include "core/agent/best_of.h"
#include "core/base/deadline.h"
#include "core/base/elapsed.h"
#include "core/bench/memory_need.h"
#include "core/bench/phase_clock.h"
#include "core/bench/schedule.h"
#include "core/device/busy.h"
#include "core/device/cuda_driver.h"
#include "core/reference/describer.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>

namespace cuda_agent::bench {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int usualPerGpu = 3; ///< one measures while others prepare
/// Of what only helps to plan. Most take a fifth of a second, unrolled recurrences half a minute.
constexpr std::chrono::milliseconds longestDescription{8'000};
/// Of a graph that takes long to export, plan and compile.
constexpr std::size_t manyNodes = 150;
/// How the planner marks a candidate that rewrites; an endpoint's may say so too.
constexpr std::string_view algebraMark = "The same in exact arithmetic:";

/// What one worker does before it takes the next: a policy's session on one task, or the judging
/// of all candidates that one task has.
struct Job {
    const SuiteTask *task = nullptr;
    task::Numerics numerics = task::Numerics::standard;
    std::vector<Sample> samples; ///< empty: a policy
};

/// Where a job is done.
struct Place {
    int gpu;
    bool shared; ///< with other jobs
    std::function<Result<void>(std::stop_token)> waitForRoom;
};

int perDeviceOf(const Request &request, int gpus) {
    const int usual = gpus > 0 ? usualPerGpu : 1;
    return request.perDevice > 0 ? request.perDevice : usual;
}

Result<Json> settingsOf(const Request &request) {
    const auto &one = request.one;
    Json numerics = Json::array();
    for (const auto each : request.numerics)
        numerics.push_back(task::nameOf(each));
    Json settings{{"suite", fs::absolute(request.suite.source).string()},
                  {"numerics", std::move(numerics)},
                  {"rules", modules::nameOf(one.judge.rules)},
                  {"max_autotune", one.judge.maxAutotune},
                  {"device", one.device}};
    if (request.sharedWorkers)
        settings["shared_workers"] = true;
    if (request.suite.mostBytes > 0)
        settings["most_bytes"] = request.suite.mostBytes;
    // Folders of policies that were judged in full have none of earlier versions.
    if (!request.samplesFolder.empty() || one.judge.strongest != verify::Strength::full)
        settings["strength"] = verify::nameOf(one.judge.strongest);
    if (!one.judge.timing)
        settings["untimed"] = true;
    else if (one.enough > 0)
        settings["until_reward"] = one.enough;
    if (request.samplesFolder.empty()) {
        settings["policy"] = one.policy;
        settings["turns"] = one.budget.turns > 0 ? one.budget.turns : agent::usualTurns(one.policy);
        if (one.policy == "endpoint")
            settings["endpoint"] = policy::describeEndpoint(one.endpoint);
        if (one.policy == "transformer") {
            CUDA_AGENT_ASSIGN(model, agent::describeModel(one.transformer));
            model.update(policy::toJson(agent::drawingOf(one.transformer, 1)));
            settings["transformer"] = std::move(model);
        }
    } else {
        settings["candidates"] = fs::absolute(request.samplesFolder).string();
        if (one.judge.timedCalls > 0)
            settings["timed_calls"] = one.judge.timedCalls;
    }
    return settings;
}

std::string titleOf(const Request &request) {
    const auto name = fs::absolute(request.suite.source).lexically_normal();
    const auto last = name.has_filename() ? name.filename() : name.parent_path().filename();
    return fmt::format("{}: {}", last.string(),
                       request.samplesFolder.empty() ? request.one.policy
                                                     : request.samplesFolder.string());
}

Json versionsOf(const device::Info &device) {
    Json versions{{"program", CUDA_AGENT_VERSION}, {"device", device.name}};
    if (device.kind == device::Kind::cuda)
        versions["driver"] = "CUDA " + device::cuda::versionText(device.driverVersion);
    return versions;
}

void setError(Record &record, const Error &error, Outcome whenRequest) {
    record.cause = error.message;
    record.outcome = error.kind == ErrorKind::machine   ? Outcome::machine
                     : error.kind == ErrorKind::request ? whenRequest
                                                        : Outcome::none;
}

bool usesAlgebra(const fs::path &candidate) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(candidate, error), end; !error && at != end;
         at.increment(error))
        if (at->is_regular_file())
            if (const auto text = readTextFile(at->path());
                text && text->find(algebraMark) != text->npos)
                return true;
    return false;
}

void addPhases(std::map<std::string, double> &to, const Json &verdict) {
    const auto found = verdict.find("phases");
    if (found == verdict.end() || !found->is_object())
        return;
    for (const auto &[phase, seconds] : found->items())
        if (seconds.is_number())
            to[phase] += seconds.get<double>();
}

class Evaluator {
  public:
    Evaluator(const Request &request, const Listener &listener, Store &store, agent::Lanes lanes,
              std::stop_token stop)
        : request_(request), listener_(listener), store_(store), gpus_(lanes.gpus),
          stop_(std::move(stop), request.seconds) {
        perDevice_ = perDeviceOf(request, gpus_);
        for (int device = 0; request.sharedWorkers && device < std::max(gpus_, 1); ++device)
            stocks_.push_back(
                std::make_shared<reference::Stock>(static_cast<std::size_t>(perDevice_)));
        collect();
    }

    Result<void> run() {
        {
            const std::lock_guard lock(mutex_);
            if (listener_.begun)
                listener_.begun(status());
        }
        CUDA_AGENT_TRY(work());
        if (failure_)
            return tl::unexpected(*failure_);
        return store_.addCost(secondsSince(start_) * std::max(gpus_, 1));
    }

    bool whole() const { return done_ >= all_; }

  private:
    void collect() {
        for (const auto numerics : request_.numerics)
            for (const auto &task : request_.suite.tasks) {
                Job job{&task, numerics, {}};
                const auto found = request_.samples.find(task.id);
                if (request_.samplesFolder.empty() || found == request_.samples.end()) {
                    ++all_;
                    if (const auto record = begin(job, -1); store_.has(record.key()))
                        count(record.key());
                    else
                        jobs_.push_back(job);
                    continue;
                }
                for (const auto &sample : found->second) {
                    ++all_;
                    if (const auto record = begin(job, sample.number); store_.has(record.key()))
                        count(record.key());
                    else
                        job.samples.push_back(sample);
                }
                if (!job.samples.empty())
                    jobs_.push_back(job);
            }
    }

    void count(const std::string &key) {
        ++done_;
        const auto &records = store_.records();
        const auto found = std::ranges::find(records, key, &Record::key);
        correct_ += found != records.end() && found->outcome == Outcome::correct ? 1 : 0;
    }

    static Record begin(const Job &job, int sample) {
        Record record;
        record.task = job.task->id;
        record.level = job.task->level;
        record.name = job.task->name();
        record.numerics = job.numerics;
        record.sample = sample;
        return record;
    }

    /// Everything that is left, several tasks at a time. Errors: machine.
    Result<void> work() {
        Schedule::Room room{static_cast<std::size_t>(std::max(gpus_, 1)),
                            static_cast<std::size_t>(perDevice_), 0};
        const bool foretold = perDevice_ > 1;
        if (foretold) {
            CUDA_AGENT_ASSIGN(bytes, leastFreeBytes());
            room.memory = bytes;
            caseBytes_ = bytes / room.perDevice;
        }
        Schedule schedule(jobs_.size(), room, foretold);
        std::vector<std::jthread> threads;
        std::atomic<std::size_t> next{0};
        for (std::size_t i = 0; foretold && i < describers(); ++i)
            threads.emplace_back([&] { foretell(schedule, next); });
        for (std::size_t lane = 0; lane < std::min(room.devices * room.perDevice, jobs_.size());
             ++lane)
            threads.emplace_back([&, lane] {
                while (auto turn = schedule.next(lane % room.devices, stop_.token())) {
                    Place place{static_cast<int>(turn->device), foretold && !turn->alone, {}};
                    if (foretold)
                        place.waitForRoom = [&](std::stop_token stop) {
                            return schedule.waitForRoom(*turn, std::move(stop));
                        };
                    if (auto rest = doJob(jobs_[turn->item], place)) {
                        jobs_[turn->item] = std::move(*rest);
                        schedule.again(*turn);
                    } else {
                        schedule.end(*turn);
                    }
                }
            });
        return {};
    }

    Result<std::uint64_t> leastFreeBytes() const {
        auto least = std::numeric_limits<std::uint64_t>::max();
        for (int gpu = 0; gpu < std::max(gpus_, 1); ++gpu) {
            CUDA_AGENT_ASSIGN(device, openDevice(gpu));
            CUDA_AGENT_ASSIGN(bytes, device->freeBytes());
            least = std::min(least, bytes);
        }
        return least;
    }

    /// Processes that describe tasks beside those that judge them.
    static std::size_t describers() {
        return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 4, 1, 8);
    }

    /// Tells the schedule what each task needs of a GPU's memory, from `next` on: by what its set
    /// measured, else by its description. Where a task cannot be described, such as one that reads
    /// values of tensors, nobody knows.
    void foretell(Schedule &schedule, std::atomic<std::size_t> &next) const {
        auto describer =
            reference::Describer::make({.kind = gpus_ > 0 ? device::Kind::cuda : device::Kind::cpu,
                                        .timeout = longestDescription});
        const auto strongest = request_.one.judge.strongest;
        for (std::size_t item; (item = next++) < jobs_.size();) {
            Schedule::Need need{{}, true}; // of a task that cannot be described in time
            const auto &task = *jobs_[item].task;
            if (task.memoryBytes > 0)
                need = {memoryNeed(task.memoryBytes, caseBytes_, strongest), false};
            else if (const auto code = readTextFile(task.file); describer && code)
                if (const auto told = describer->describe(task.name(), *code, stop_.token()))
                    need = {memoryNeed(*told, caseBytes_, strongest),
                            told->graph.nodes.size() >= manyNodes};
            schedule.need(item, need);
        }
    }

    /// What is to be done once more, because it found too little memory beside others.
    std::optional<Job> doJob(const Job &job, const Place &place) {
        if (request_.samplesFolder.empty())
            return runPolicy(job, place);
        if (job.samples.empty()) {
            reportMissing(job);
            return std::nullopt;
        }
        return judgeSamples(job, place);
    }

    void say(const Job &job, const std::string &what) {
        const std::lock_guard lock(mutex_);
        if (listener_.doing)
            listener_.doing(job.task->id, what);
    }

    void reportMissing(const Job &job) {
        Record record = begin(job, -1);
        record.outcome = Outcome::missing;
        record.cause = "no candidate is there";
        finish(std::move(record));
    }

    /// `deadline`: of the job, which does not count how long it waits for room.
    agent::RunRequest requestFor(const Job &job, const Place &place, Deadline &deadline) const {
        agent::RunRequest one = request_.one;
        one.judge.numerics = job.numerics;
        if (!stocks_.empty())
            one.judge.stock = stocks_[static_cast<std::size_t>(place.gpu)];
        if (gpus_ > 0) {
            one.device = "cuda";
            one.gpu = place.gpu;
            one.judge.threads = judge::threadsOfEach(static_cast<std::size_t>(gpus_ * perDevice_));
        }
        if (place.waitForRoom)
            one.judge.waitForRoom = [&place, &deadline](std::stop_token stop) {
                deadline.pause();
                auto waited = place.waitForRoom(std::move(stop));
                deadline.resume();
                return waited;
            };
        if (place.shared)
            one.judge.caseBytes = caseBytes_;
        return one;
    }

    Result<std::unique_ptr<device::Device>> openDevice(int gpu) const {
        return gpus_ > 0 ? device::openCuda(gpu) : device::openNamed(request_.one.device);
    }

    std::optional<Job> runPolicy(const Job &job, const Place &place) {
        Record record = begin(job, -1);
        record.session = fmt::format("sessions/{}-{}", job.task->id, task::nameOf(job.numerics));
        const auto start = Clock::now();
        Deadline deadline(stop_.token(), request_.longest);
        PhaseClock clock;
        const auto done = [&]() -> Result<session::State> {
            CUDA_AGENT_ASSIGN(spec, task::openSpec(job.task->file, {}));
            auto one = requestFor(job, place, deadline);
            one.spec = std::move(spec);
            one.judge.openRunner = true;
            one.session = store_.folder() / record.session;
            CUDA_AGENT_ASSIGN(device, openDevice(place.gpu));
            record.versions = versionsOf(device->info());
            device.reset();
            CUDA_AGENT_ASSIGN(ended, agent::Run::ended(one));
            if (ended)
                return std::move(*ended);
            agent::RunListener listener;
            listener.event = [&](const session::Event &event) {
                if (event.type == session::EventType::turnStarted)
                    clock.end();
            };
            listener.progress = [&](const std::string &what) {
                clock.enter(what);
                say(job, what);
            };
            CUDA_AGENT_ASSIGN(run, agent::Run::open(std::move(one), std::move(listener)));
            const auto gone = run.go(nullptr, deadline.token());
            const bool late = !gone && deadline.passed();
            if (!gone && !late && gone.error().kind != ErrorKind::failed)
                return tl::unexpected(gone.error());
            if (late)
                record.cause = fmt::format("its {:g} s are up", request_.longest);
            else if (!gone)
                record.cause = gone.error().message;
            return run.state();
        }();
        clock.end();
        record.seconds = secondsSince(start);
        record.phases = clock.take();
        if (!done) {
            if (done.error().kind == ErrorKind::stopped)
                return std::nullopt; // goes on when the evaluation does
            setError(record, done.error(), Outcome::unusable);
        } else {
            setOutcomeOf(record, *done);
        }
        if (place.shared && foundTooLittleMemory(record))
            return job;
        finish(std::move(record));
        return std::nullopt;
    }

    static bool foundTooLittleMemory(const Record &record) {
        return record.outcome != Outcome::correct &&
               record.cause.find("memory") != std::string::npos;
    }

    void setOutcomeOf(Record &record, const session::State &state) const {
        record.turns = static_cast<int>(state.endedTurns().size());
        double known = 0;
        for (const auto &turn : state.turns)
            if (turn.verdict)
                addPhases(record.phases, *turn.verdict);
        for (const auto &[phase, seconds] : record.phases)
            known += seconds;
        record.phases["policy and the rest"] = std::max(0.0, record.seconds - known);
        if (state.bestTurn > 0) {
            record.cause.clear();
            setOutcome(record, state.bestVerdict);
            record.bestTurn = state.bestTurn;
            record.algebra = usesAlgebra(store_.folder() / record.session / "best");
            return;
        }
        const bool late = record.cause.ends_with("are up");
        record.outcome = late ? Outcome::outOfTime : Outcome::none;
        // What the last candidate failed by says more than that none was found.
        for (const auto &turn : state.turns)
            if (turn.verdict && !late && record.outcome != Outcome::correct) {
                setOutcome(record, *turn.verdict);
                if (record.outcome == Outcome::correct) // and nothing is timed
                    record.bestTurn = turn.number;
            }
        if (record.cause.empty() && record.outcome != Outcome::correct)
            record.cause = state.end ? state.end->value("reason", std::string())
                                     : std::string("no candidate was found");
    }

    std::optional<Job> judgeSamples(const Job &job, const Place &place) {
        PhaseClock clock;
        auto start = Clock::now();
        Json versions = Json::object();
        const auto prepare = [&]() -> Result<std::unique_ptr<judge::Judge>> {
            CUDA_AGENT_ASSIGN(spec, task::openSpec(job.task->file, {}));
            CUDA_AGENT_ASSIGN(device, openDevice(place.gpu));
            versions = versionsOf(device->info());
            Deadline deadline(stop_.token(), request_.longest);
            auto judge = judge::Judge::prepare(
                spec, std::move(device), requestFor(job, place, deadline).judge,
                [&](const std::string &what) {
                    clock.enter(what);
                    say(job, what);
                },
                deadline.token());
            if (!judge && judge.error().kind == ErrorKind::stopped && deadline.passed())
                return failedError("preparing the task took longer than {:g} s", request_.longest);
            return judge;
        };
        auto judge = prepare();
        clock.end();
        if (!judge && judge.error().kind == ErrorKind::stopped)
            return std::nullopt;
        Job again{job.task, job.numerics, {}};
        for (const auto &sample : job.samples) {
            Record record = begin(job, sample.number);
            record.versions = versions;
            record.phases = clock.take();
            if (!judge) {
                setError(record, judge.error(), Outcome::unusable);
                if (judge.error().kind == ErrorKind::failed)
                    record.outcome = Outcome::outOfTime;
            } else if (!judgeSample(job, sample, **judge, record)) {
                return std::nullopt; // stopped
            }
            record.seconds = secondsSince(start);
            start = Clock::now();
            if (place.shared && foundTooLittleMemory(record))
                again.samples.push_back(sample);
            else
                finish(std::move(record));
        }
        return again.samples.empty() ? std::nullopt : std::optional(std::move(again));
    }

    /// False when the evaluation was stopped meanwhile.
    bool judgeSample(const Job &job, const Sample &sample, judge::Judge &judge, Record &record) {
        say(job, "verifying and timing");
        Deadline deadline(stop_.token(), request_.longest);
        const auto verdict = [&]() -> Result<judge::Verdict> {
            CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(sample.path));
            return judge.judge(candidate, request_.one.judge.strongest, deadline.token());
        }();
        if (verdict) {
            setOutcome(record, judge::toJson(*verdict));
            addPhases(record.phases, record.verdict);
            record.algebra = record.outcome == Outcome::correct && usesAlgebra(sample.path);
        } else if (verdict.error().kind == ErrorKind::stopped) {
            if (!deadline.passed())
                return false;
            record.outcome = Outcome::outOfTime;
            record.cause = fmt::format("its {:g} s are up", request_.longest);
        } else {
            setError(record, verdict.error(), Outcome::notCompiled);
        }
        return true;
    }

    void finish(Record record) {
        const std::lock_guard lock(mutex_);
        const bool again = record.again();
        const bool correct = record.outcome == Outcome::correct;
        if (const auto written = store_.append(record); !written) {
            failure_ = written.error();
            stop_.request();
            return;
        }
        done_ += again ? 0 : 1;
        correct_ += correct ? 1 : 0;
        ++ended_;
        if (listener_.finished)
            listener_.finished(record, status());
    }

    Status status() const {
        Status status{done_, all_, correct_, secondsSince(start_), {}};
        if (ended_ > 0)
            status.left = status.seconds / static_cast<double>(ended_) *
                          static_cast<double>(all_ - std::min(done_, all_));
        return status;
    }

    const Request &request_;
    const Listener &listener_;
    Store &store_;
    int gpus_;
    int perDevice_ = 1;
    Deadline stop_;                                         ///< of the whole evaluation
    std::vector<std::shared_ptr<reference::Stock>> stocks_; ///< by device; empty: not shared
    std::vector<Job> jobs_;
    std::uint64_t caseBytes_ = 0; ///< Options::caseBytes of tasks beside others
    std::size_t all_ = 0;
    std::size_t done_ = 0; ///< these four under the mutex once threads run
    std::size_t correct_ = 0;
    std::size_t ended_ = 0; ///< in this run
    std::optional<Error> failure_;
    Clock::time_point start_ = Clock::now();
    std::mutex mutex_; ///< of the store, the counts and the listener
};

Result<void> writeReports(const Store &store, const Heading &heading,
                          const std::vector<Summary> &summaries) {
    Json json{{"settings", heading.settings},
              {"whole", heading.whole},
              {"device_seconds", heading.deviceSeconds},
              {"modes", Json::array()}};
    if (heading.busyShare)
        json["gpu_busy"] = *heading.busyShare;
    for (const auto &summary : summaries)
        json["modes"].push_back(toJson(summary));
    const auto &folder = store.folder();
    CUDA_AGENT_TRY(writeFileAtomically(
        folder / "summary.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
    CUDA_AGENT_TRY(writeFileAtomically(folder / "report.html",
                                       htmlReport(heading, store.records(), summaries)));
    return writeFileAtomically(folder / "report.md",
                               markdownReport(heading, store.records(), summaries));
}

} // namespace

Result<Evaluation> evaluate(const Request &given, const Listener &listener, std::stop_token stop) {
    Request request = given;
    if (request.one.policy == "replay" && request.samplesFolder.empty())
        return requestError("a recorded session belongs to one task; evaluate the planner, the "
                            "transformer, an endpoint or a folder of candidates");
    CUDA_AGENT_ASSIGN(lanes, agent::lanesFor({request.one, 1, 0}));
    if (request.gpus > lanes.gpus)
        return requestError("{} GPUs are asked for where CUDA sees {}", request.gpus, lanes.gpus);
    if (request.gpus > 0)
        lanes.gpus = request.gpus;
    if (request.one.policy == "transformer" && request.samplesFolder.empty())
        CUDA_AGENT_TRY(
            agent::startModel(request.one.transformer, request.one.device,
                              std::max(lanes.gpus, 1) * perDeviceOf(request, lanes.gpus)));
    CUDA_AGENT_ASSIGN(settings, settingsOf(request));
    CUDA_AGENT_ASSIGN(store, Store::open(request.folder, settings));
    std::optional<device::BusyMeter> busy;
    if (lanes.gpus > 0)
        busy.emplace(lanes.gpus);
    Evaluator evaluator(request, listener, store, lanes, std::move(stop));
    CUDA_AGENT_TRY(evaluator.run());
    Evaluation outcome;
    outcome.records = store.records();
    outcome.summaries = summarise(outcome.records);
    outcome.whole = evaluator.whole();
    outcome.machineFailures = static_cast<std::size_t>(
        std::ranges::count(outcome.records, Outcome::machine, &Record::outcome));
    Heading heading{titleOf(request), settings, store.cost(), busy ? busy->share() : std::nullopt,
                    outcome.whole};
    CUDA_AGENT_TRY(writeReports(store, heading, outcome.summaries));
    return outcome;
}

} // namespace cuda_agent::bench
