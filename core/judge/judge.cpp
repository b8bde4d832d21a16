// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/judge.h"

#include "core/base/elapsed.h"
#include "core/base/hash.h"
#include "core/device/ceilings.h"
#include "core/device/lease.h"
#include "core/judge/faults.h"
#include "core/judge/scrutiny.h"
#include "core/judge/state.h"
#include "core/reward/reward.h"

namespace cuda_agent::judge {

namespace {

using Clock = std::chrono::steady_clock;

/// A time this far below the counted limit is not believed without a look.
constexpr double implausible = 0.9;
/// Input sets that are rotated over in timing, at most.
constexpr int mostTimingSets = 4;
/// A copy that takes that much longer tells that stored baselines are of another machine or hour.
constexpr double otherMachine = 1.1;
/// Host seconds of a candidate's timed calls where their number is given.
constexpr double longestTiming = 60;

modules::ProcessOptions processOptionsOf(const Options &options) {
    modules::ProcessOptions result;
    result.numerics = options.numerics;
    result.rules = options.rules;
    return result;
}

} // namespace

Judge::Judge(std::unique_ptr<State> state) : state_(std::move(state)) {}
Judge::~Judge() = default;

const task::Description &Judge::description() const {
    return state_->pool->description;
}
const timing::Baselines &Judge::baselines() const {
    return state_->baselines;
}
const task::Spec &Judge::spec() const {
    return state_->spec;
}
device::Device &Judge::device() {
    return *state_->device;
}
const verify::Pool &Judge::pool() const {
    return *state_->pool;
}
const device::Info &Judge::deviceInfo() const {
    return state_->device->info();
}
const device::Ceilings &Judge::ceilings() const {
    return state_->ceilings;
}
const Options &Judge::options() const {
    return state_->options;
}
const Phases &Judge::preparation() const {
    return state_->preparation;
}
const std::vector<std::string> &Judge::notes() const {
    return state_->pool->notes;
}

void Judge::rest() {
    if (!state_->options.runners)
        state_->runners->clear();
    state_->opened = {};
    state_->standby.reset();
}

Result<std::string> Judge::compiledCode(std::stop_token stop) {
    if (state_->compiledCode.empty()) {
        CUDA_AGENT_ASSIGN(lease, device::Lease::take(state_->device->info(), stop));
        (void)lease;
        if (!state_->timingWorker) {
            CUDA_AGENT_ASSIGN(worker,
                              reference::Worker::start(state_->spec, *state_->device,
                                                       workerOptions(state_->options), stop));
            state_->timingWorker = std::move(worker);
        }
        CUDA_AGENT_ASSIGN(code, state_->timingWorker->compiledCode(randomSeed(), stop));
        CUDA_AGENT_TRY(state_->timingWorker->release());
        state_->compiledCode = std::move(code);
    }
    return state_->compiledCode;
}

void Judge::State::startAhead(const Candidate &candidate, verify::Strength strength) {
    const auto *module = std::get_if<modules::Candidate>(&candidate);
    if (!module || module->form != modules::Form::workspace)
        return;
    if (!standby)
        standby =
            std::make_unique<modules::Standby>(spec, device->info(), processOptionsOf(options));
    if (strength == verify::Strength::full && !pool->reshaped.empty())
        ahead = 2; // the hidden shapes' own
    standby->fill(ahead);
}

Result<CompileOutcome> Judge::State::compile(const Candidate &candidate, std::stop_token stop) {
    Compiled compiled;
    compiled.candidate = &candidate;
    if (const auto *module = std::get_if<modules::Candidate>(&candidate)) {
        CUDA_AGENT_TRY(modules::checkForm(*module, options.rules, device->info().kind));
        if (!builder) {
            CUDA_AGENT_ASSIGN(made, modules::Builder::make(device->info(), stop));
            builder = std::move(made);
        }
        CUDA_AGENT_ASSIGN(outcome, builder->compile(*module, stop));
        if (auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
            return CompileOutcome(std::move(*rejection));
        auto &built = std::get<modules::Compiled>(outcome);
        compiled.kernels = built.kernels;
        compiled.warnings = built.warnings;
        compiled.work = std::move(built);
        return CompileOutcome(std::move(compiled));
    }
    CUDA_AGENT_ASSIGN(outcome,
                      plan::compile(std::get<plan::Candidate>(candidate), *compiler, stop));
    if (auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
        return CompileOutcome(std::move(*rejection));
    auto &built = std::get<plan::CompiledPlan>(outcome);
    for (const auto &[path, binary] : built.binaries) {
        compiled.warnings.insert(compiled.warnings.end(), binary.warnings.begin(),
                                 binary.warnings.end());
        compiled.kernels.insert(compiled.kernels.end(), binary.entries.begin(),
                                binary.entries.end());
    }
    compiled.work = std::move(built);
    return CompileOutcome(std::move(compiled));
}

Result<CompileOutcome> Judge::compile(const Candidate &candidate, std::stop_token stop) {
    return state_->compile(candidate, std::move(stop));
}

Result<Judge::State::StartOutcome>
Judge::State::startCandidate(const Compiled &compiled, const reference::ReshapedCase *reshaped,
                             device::Share &share, std::stop_token stop,
                             std::unique_ptr<plan::LinkedCandidate> &running) {
    const auto &description = reshaped ? reshaped->description : pool->description;
    const auto &inputs = (reshaped ? reshaped->entry : pool->random.front()).inputs.tensors;
    const auto signature = signatureOf(description);
    std::unique_ptr<plan::LinkedCandidate> process;
    std::vector<std::string> flags;
    const bool isModule = std::holds_alternative<modules::Compiled>(compiled.work);
    if (const auto *built = std::get_if<modules::Compiled>(&compiled.work)) {
        modules::ProcessOptions processOptions = processOptionsOf(options);
        processOptions.standby = standby.get();
        // On cuda, Python's start and what a single file compiles are the processor's work, for
        // seconds and more: nobody who times on the card should wait for it. On a cpu it is the
        // device's, and a worker that waits has a share of its own.
        share.leave();
        if (device->info().kind == device::Kind::cpu) {
            if (standby)
                CUDA_AGENT_TRY(standby->settle(stop));
            CUDA_AGENT_TRY(share.take());
        }
        CUDA_AGENT_ASSIGN(outcome,
                          modules::start(*built, reshaped ? reshaped->spec : spec, description,
                                         signature, *device, processOptions, stop));
        if (auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
            return StartOutcome(std::move(*rejection));
        auto &started = std::get<modules::Started>(outcome);
        process = std::move(started.process);
        flags = std::move(started.flags);
    } else if (const auto &plan = std::get<plan::CompiledPlan>(compiled.work); running) {
        CUDA_AGENT_TRY(share.step());
        CUDA_AGENT_TRY(
            plan::reload(*running, plan, signature, *device, plan::RunnerOptions{}, stop));
        process = std::move(running);
    } else {
        // Opening a GPU runs nothing there, and takes longer than judging most candidates.
        if (device->info().kind == device::Kind::cuda)
            share.leave();
        else
            CUDA_AGENT_TRY(share.step());
        CUDA_AGENT_ASSIGN(
            runner, plan::startLinkedRunner(plan, signature, *device, plan::RunnerOptions{}, stop));
        process = std::move(runner);
    }
    CUDA_AGENT_TRY(share.take());
    CUDA_AGENT_ASSIGN(
        set, verify::GuardedSet::create(*device, inputs, pool->parameters, process->outputTypes()));
    CUDA_AGENT_TRY(process->bind(0, set.buffers()));
    return StartOutcome(Started{std::move(process), isModule, std::move(set), std::move(flags)});
}

bool Judge::State::canServeAgain(const Started &run) const {
    return device->info().kind == device::Kind::cuda && !run.isModule && run.process &&
           run.process->sound();
}

bool Judge::State::mayServeAgain(const Verdict &verdict) const {
    if (verdict.strength != verify::Strength::training)
        return false;
    const auto *failed = verdict.verification.failed();
    // Who answers right until the clock runs is no honest mistake.
    return failed ? options.runners && failed->isWrongAnswer() && !verdict.times : verdict.correct;
}

Result<void> Judge::State::finishProcess(Started &run, Verdict &verdict, std::stop_token stop) {
    if (mayServeAgain(verdict) && canServeAgain(run) && plan::unload(*run.process)) {
        runners->give({std::move(run.process), served + 1});
        return {};
    }
    return run.process ? endProcess(*run.process, device->info(), verdict, std::move(stop))
                       : Result<void>();
}

/// Which operators and kernels did the work, and what the rules say to that.
Result<verify::Check> Judge::State::checkOrigin(const Compiled &compiled,
                                                plan::LinkedCandidate &process, Verdict &verdict) {
    constexpr const char *name = "origin of the work";
    auto audit = modules::audit(process, 0);
    if (!audit) {
        if (audit.error().kind != ErrorKind::failed)
            return tl::unexpected(audit.error());
        return verify::Check{name, false, false, audit.error().message, {}};
    }
    const auto &built = std::get<modules::Compiled>(compiled.work);
    const auto finding =
        modules::judgeOrigin(options.rules, *audit, *built.candidate, built.kernels);
    append(verdict.flags, finding.flags);
    verdict.audit = std::move(*audit);
    if (!finding.refused.empty())
        return verify::Check{name, false, false, finding.refused, modules::toJson(*verdict.audit)};
    return verify::Check{
        name,
        true,
        false,
        fmt::format("nothing ran that --rules {} refuses", modules::nameOf(options.rules)),
        {}};
}

Result<void> Judge::State::timeCandidate(plan::CandidateProcess &process, verify::GuardedSet &set,
                                         Verdict &verdict, device::Share &share,
                                         std::stop_token stop) {
    const auto bytes = std::max<std::uint64_t>(pool->description.countedBytes, 1);
    std::vector<TensorType> outputs;
    for (const auto &view : set.buffers().outputs)
        outputs.push_back(view.type);
    // A private copy of each random case where one fits into the cache; the cpu device compares
    // with baselines that reuse one set too.
    std::vector<verify::GuardedSet> more;
    CUDA_AGENT_TRY(share.step());
    const bool rotate =
        device->info().kind == device::Kind::cuda && bytes < 2 * device->info().cacheBytes;
    std::vector<int> sets{0};
    CUDA_AGENT_TRY(set.load(pool->random.front().inputs.tensors));
    CUDA_AGENT_TRY(set.poison(outputPoison));
    for (std::size_t i = 1; rotate && i < pool->random.size() && i < mostTimingSets; ++i) {
        const auto &inputs = pool->random[i].inputs.tensors;
        CUDA_AGENT_ASSIGN(next,
                          verify::GuardedSet::create(*device, inputs, pool->parameters, outputs));
        CUDA_AGENT_TRY(next.load(inputs));
        CUDA_AGENT_TRY(next.poison(outputPoison));
        more.push_back(std::move(next));
        sets.push_back(static_cast<int>(i) + 1); // number 1 belongs to verification
        CUDA_AGENT_TRY(process.bind(sets.back(), more.back().buffers()));
    }
    share.leave();
    laps.end("timing");
    CUDA_AGENT_ASSIGN(alone, device::Lease::take(device->info(), stop));
    (void)alone;
    laps.end("waiting");
    auto &checks = verdict.verification.checks;
    auto protocol = protocolOf(verdict.strength);
    if (options.timedCalls > 0) {
        protocol.minimumSamples = protocol.maximumSamples = options.timedCalls;
        protocol.budgetSeconds = longestTiming;
    }
    if (verdict.audit)
        protocol.recordedSeconds = verdict.audit->kernelSeconds();
    auto times = timing::measureCandidate(process, *device, sets, bytes, protocol, stop);
    if (!times) {
        if (times.error().kind != ErrorKind::failed)
            return tl::unexpected(times.error());
        checks.push_back({"timed calls", false, false, times.error().message, {}});
        return {};
    }
    verdict.times = std::move(*times);
    for (std::size_t i = 0; i < sets.size(); ++i) {
        const auto &buffers = i == 0 ? set.buffers() : more[i - 1].buffers();
        CUDA_AGENT_ASSIGN(evidence,
                          verify::compareOutputs(*device, buffers, pool->random[i], *pool));
        if (!evidence.is_null()) {
            checks.push_back({"timed calls", false, false,
                              "the outputs of the timed calls are wrong", evidence});
            return {};
        }
    }
    checks.push_back({"timed calls", true, false, "the outputs of the timed calls are right", {}});
    laps.end("timing");
    CUDA_AGENT_ASSIGN(fresh, lookAtFreshInputs(process, set, *pool, *device, *verdict.times, stop));
    checks.push_back(std::move(fresh));
    letEngineDecide(*verdict.times);
    laps.end("fresh inputs");
    return {};
}

/// The checks on a candidate that is right and timed; they stop at the first that fails.
Result<void> Judge::State::scrutinize(const Compiled &compiled, plan::CandidateProcess &process,
                                      verify::GuardedSet &set, Verdict &verdict,
                                      std::stop_token stop) {
    auto &checks = verdict.verification.checks;
    CUDA_AGENT_ASSIGN(after, verify::verifyAfterTiming(process, set, *pool, *device));
    checks.push_back(after);
    if (!after.passed)
        return {};
    const auto *module = std::get_if<modules::Compiled>(&compiled.work);
    const bool others = module == nullptr || options.rules == modules::Rules::kernelbench ||
                        modules::namesLibraries(*module->candidate);
    CUDA_AGENT_ASSIGN(contribution, knockOut(process, set, *pool, *device, others, stop));
    append(verdict.flags, contribution.flags);
    checks.push_back(std::move(contribution.check));
    return {};
}

/// Reward, limit and flags from what was measured.
Result<void> Judge::State::finishVerdict(Verdict &verdict, std::stop_token stop) {
    const bool remeasure = options.interleaveBaselines && timingWorker && baselinesTime == 0 &&
                           verdict.strength == verify::Strength::full;
    if (remeasure) {
        CUDA_AGENT_ASSIGN(lease, device::Lease::take(device->info(), stop));
        (void)lease;
        auto again = timing::measureBaselines(*timingWorker, *device, wantedBaselines(options),
                                              pool->description.countedBytes,
                                              timing::trainingProtocol(), stop);
        if (!again && again.error().kind == ErrorKind::stopped)
            return tl::unexpected(again.error());
        if (again) {
            for (auto &[which, samples] : again->samples) {
                auto &all = baselines.samples[which];
                all.insert(all.end(), samples.begin(), samples.end());
                baselines.estimates[which] = timing::estimate(all);
            }
        } else {
            verdict.flags.push_back("baselines were not measured again: " + again.error().message);
            timingWorker.reset();
        }
        if (timingWorker)
            CUDA_AGENT_TRY(timingWorker->release());
        laps.end("baselines");
    }
    verdict.baselines = baselines;
    if (baselinesTime > 0 && baselines.yardstickSeconds > 0 &&
        verdict.times->yardstickSeconds > otherMachine * baselines.yardstickSeconds)
        verdict.flags.push_back(
            fmt::format("the machine copies {:.0f} % slower than when its baselines were measured",
                        100 * (verdict.times->yardstickSeconds / baselines.yardstickSeconds - 1)));
    const double candidate = verdict.times->estimate.median;
    const auto pair = declaredBaselines(verdict.numerics);
    const auto time = [&](reference::Baseline which) -> std::optional<double> {
        const auto found = baselines.estimates.find(which);
        if (found == baselines.estimates.end())
            return std::nullopt;
        return found->second.median;
    };
    verdict.reward =
        reward::milestone(verdict.correct, candidate, time(pair.eager), time(pair.compile));
    append(verdict.flags, verdict.times->flags);
    // Compares with what the ceilings allow now; whether that rules the time out.
    const auto compareWithLimit = [&] {
        verdict.limit = limitOf(pool->description, ceilings, options.numerics);
        verdict.fractionOfLimit = verdict.limit.seconds / candidate;
        // The cpu device's calls follow each other, so that small tasks live in its caches.
        const bool cached = device->info().kind == device::Kind::cpu &&
                            verdict.limit.by == "memory" &&
                            pool->description.countedBytes < 2 * device->info().cacheBytes;
        // A call may hide its launch behind another's end, its work nowhere.
        return !cached && verdict.limit.workSeconds() > candidate / implausible;
    };
    if (compareWithLimit()) {
        // Ceilings of a moment when the machine was busy are too low: look before accusing.
        CUDA_AGENT_ASSIGN(lease, device::Lease::take(device->info(), stop));
        (void)lease;
        CUDA_AGENT_ASSIGN(raised, device::raiseCeilings(*device, ceilings));
        ceilings = raised;
    }
    if (compareWithLimit())
        verdict.flags.push_back(
            fmt::format("faster than counted bytes and operations allow ({:.2f} times the limit)",
                        verdict.limit.workSeconds() / candidate));
    return {};
}

/// Verifies and times a candidate that runs; looks at it once more where it is right.
Result<void> Judge::State::examine(const Compiled &compiled, Started &run, Verdict &verdict,
                                   device::Share &share, std::stop_token stop) {
    auto &[process, isModule, set, startFlags] = run;
    const verify::Demand demand{verdict.strength, device->info().kind == device::Kind::cpu ||
                                                      !addsAtomically(*compiled.candidate)};
    CUDA_AGENT_ASSIGN(report, verify::verify(*process, set, *pool, *device, share, demand, stop));
    verdict.verification = std::move(report);
    append(verdict.flags, verdict.verification.flags);
    verdict.correct = verdict.verification.correct;
    laps.end("verification");
    if (verdict.correct && isModule) {
        CUDA_AGENT_ASSIGN(origin, checkOrigin(compiled, *process, verdict));
        verdict.correct = origin.passed;
        verdict.verification.checks.push_back(std::move(origin));
        laps.end("origin");
    }
    // Last of all where they take the process over.
    const bool full = verdict.strength == verify::Strength::full;
    const bool takesOver = canServeAgain(run);
    const auto shapes = [&]() -> Result<void> {
        CUDA_AGENT_TRY(share.take());
        CUDA_AGENT_TRY(checkShapes(compiled, run, verdict, share, stop));
        verdict.correct = verdict.verification.checks.back().passed;
        laps.end("hidden shapes");
        return {};
    };
    if (verdict.correct && full && !takesOver)
        CUDA_AGENT_TRY(shapes());
    if (verdict.correct && options.timing) {
        CUDA_AGENT_TRY(timeCandidate(*process, set, verdict, share, stop));
        if (verdict.verification.failed())
            return {};
        CUDA_AGENT_TRY(share.take());
        CUDA_AGENT_TRY(scrutinize(compiled, *process, set, verdict, stop));
        laps.end("knock-out");
        if (verdict.verification.failed())
            return {};
    }
    return verdict.correct && full && takesOver ? shapes() : Result<void>();
}

Result<Verdict> Judge::judge(const Candidate &candidate, verify::Strength strength,
                             std::stop_token stop) {
    strength = std::min(strength, state_->options.strongest);
    auto verdict = state_->judge(candidate, strength, false, stop);
    const bool stopped = !verdict && verdict.error().kind == ErrorKind::stopped;
    const bool good = verdict && (verdict->correct || !verdict->compiled);
    const bool memory =
        verdict && verdict->fault && verdict->fault->kind == plan::FaultKind::outOfMemory;
    const bool believed = verdict && state_->options.runners && !memory;
    if (!stopped) // for the next one
        state_->startAhead(candidate, strength);
    if (state_->served == 0 || stopped || good || believed)
        return verdict;
    // Nobody is to fail by what the one before may have left in a process.
    return state_->judge(candidate, strength, true, std::move(stop));
}

Result<Verdict> Judge::State::judge(const Candidate &candidate, verify::Strength strength,
                                    bool fresh, std::stop_token stop) {
    const auto start = Clock::now();
    auto &state = *this;
    state.laps = {};
    state.served = 0;
    Verdict verdict;
    verdict.strength = strength;
    verdict.device = state.device->info().kind;
    verdict.numerics = state.options.numerics;
    verdict.kind = kindOf(candidate);
    verdict.rules = modules::nameOf(state.options.rules);
    verdict.baselines = state.baselines;
    verdict.baselinesTime = state.baselinesTime;
    verdict.reference = state.reference;
    verdict.unenforced = state.unenforced;
    verdict.limit = limitOf(state.pool->description, state.ceilings, state.options.numerics);
    const auto conclude = [&]() -> Result<Verdict> {
        if (const auto *failed = verdict.verification.failed()) {
            verdict.correct = false;
            verdict.reward = -1;
            verdict.problem = failed->name + ": " + failed->detail;
        }
        verdict.seconds = secondsSince(start);
        verdict.phases = state.laps.phases();
        return std::move(verdict);
    };

    const auto reject = [&](const toolchain::Rejection &rejection) {
        verdict.compiled = false;
        verdict.problem = "does not compile: " + rejection.summary;
        verdict.diagnostics = rejection.diagnostics;
        verdict.compilerOutput = rejection.log;
        return conclude();
    };
    state.startAhead(candidate, strength);
    CUDA_AGENT_ASSIGN(outcome, state.compile(candidate, stop));
    verdict.compileSeconds = secondsSince(start);
    state.laps.end("compile");
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome))
        return reject(*rejection);
    const auto &compiled = std::get<Compiled>(outcome);
    verdict.compiled = true;
    verdict.diagnostics = compiled.warnings;
    verdict.kernels = compiled.kernels;
    if (const auto *built = std::get_if<modules::Compiled>(&compiled.work))
        if (auto refused = checkSources(*built, state.options.rules, verdict.flags)) {
            verdict.verification.checks.push_back(std::move(*refused));
            return conclude();
        }

    device::Share share(state.device->info(), stop);
    std::unique_ptr<plan::LinkedCandidate> running;
    const bool isPlan = std::holds_alternative<plan::CompiledPlan>(compiled.work);
    if (isPlan && strength == verify::Strength::training && !fresh)
        if (auto idle = state.runners->take()) {
            running = std::move(idle->process);
            state.served = idle->served;
        }
    if (isPlan && !running && state.opened.valid())
        if (auto ready = state.opened.get()) // where it failed one is started, and says why
            running = std::move(*ready);
    auto started = state.startCandidate(compiled, nullptr, share, stop, running);
    if (running && running->sound()) // the plan was refused
        state.runners->give({std::move(running), state.served});
    if (!started) {
        share.leave();
        if (started.error().kind != ErrorKind::failed)
            return tl::unexpected(started.error());
        CUDA_AGENT_TRY(takeStartFault(started.error(), state.device->info(), verdict, stop));
        return conclude();
    }
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&*started))
        return reject(*rejection);
    auto &run = std::get<State::Started>(*started);
    append(verdict.flags, run.flags);
    state.laps.end("start");
    auto done = state.examine(compiled, run, verdict, share, stop);
    share.leave();
    if (!done && done.error().kind != ErrorKind::failed)
        return tl::unexpected(run.process ? explained(done.error(), *run.process,
                                                      state.device->info(), std::move(stop))
                                          : done.error());
    if (!done) // its process failed between two calls, such as at taking more buffers
        verdict.verification.checks.push_back({"process", false, false, done.error().message, {}});
    CUDA_AGENT_TRY(state.finishProcess(run, verdict, stop));
    state.laps.end("end");
    if (verdict.verification.failed())
        return conclude();
    if (state.options.timing)
        CUDA_AGENT_TRY(state.finishVerdict(verdict, stop));
    else
        verdict.reward = 1; // what a correct candidate has without a time
    return conclude();
}

Result<Comparison> Judge::compare(const Candidate &a, const Candidate &b, std::stop_token stop) {
    auto &state = *state_;
    Comparison comparison;
    CUDA_AGENT_ASSIGN(verdictA, judge(a, verify::Strength::training, stop));
    comparison.a = std::move(verdictA);
    CUDA_AGENT_ASSIGN(verdictB, judge(b, verify::Strength::training, stop));
    comparison.b = std::move(verdictB);
    if (!comparison.a.correct || !comparison.b.correct)
        return comparison;
    std::vector<Judge::State::Started> started;
    std::vector<CompileOutcome> outcomes; // the runners read the binaries these name
    device::Share share(state.device->info(), stop);
    for (const auto *candidate : {&a, &b}) {
        CUDA_AGENT_ASSIGN(outcome, state.compile(*candidate, stop));
        outcomes.push_back(std::move(outcome));
        std::unique_ptr<plan::LinkedCandidate> none;
        CUDA_AGENT_ASSIGN(one, state.startCandidate(std::get<Compiled>(outcomes.back()), nullptr,
                                                    share, stop, none));
        if (const auto *rejection = std::get_if<toolchain::Rejection>(&one))
            return failedError("a candidate that was correct before no longer compiles: {}",
                               rejection->summary);
        started.push_back(std::get<Judge::State::Started>(std::move(one)));
        CUDA_AGENT_TRY(started.back().set.load(state.pool->random.front().inputs.tensors));
    }
    share.leave();
    CUDA_AGENT_ASSIGN(alone, device::Lease::take(state.device->info(), stop));
    (void)alone;
    CUDA_AGENT_ASSIGN(times,
                      timing::measureAb(*started[0].process, *started[1].process, *state.device,
                                        {0}, state.pool->description.countedBytes,
                                        timing::fullProtocol(), stop));
    comparison.times = std::move(times);
    return comparison;
}

} // namespace cuda_agent::judge
