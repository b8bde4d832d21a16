// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/hash.h"
#include "core/device/ceilings.h"
#include "core/device/lease.h"
#include "core/judge/state.h"
#include "core/judge/stored_baselines.h"

#include <ctime>
#include <future>
#include <thread>

namespace cuda_agent::judge {

namespace {

/// Compiles the baselines beside other work, so that their timing finds them in the caches. What
/// goes wrong here comes up again, and is told, when they are timed. Stops when it is destroyed.
class CompilingAhead {
  public:
    CompilingAhead(reference::Worker &worker, const device::Info &device,
                   std::vector<reference::Baseline> wanted, const std::stop_token &outer)
        : thread_([&worker, device, wanted = std::move(wanted)](const std::stop_token &stop) {
              const auto seed = randomSeed() >> 1;
              for (const auto baseline : wanted) {
                  // Compilers take the processor, which is the device that others time on a cpu.
                  device::Share share(device, stop);
                  if (device.kind == device::Kind::cpu && !share.take())
                      return;
                  if (!worker.prepare(baseline, seed, stop))
                      return;
              }
              (void)worker.release();
          }),
          forward_(outer, Stop{&thread_}) {}

    void wait() { thread_.join(); }

  private:
    struct Stop {
        std::jthread *thread;
        void operator()() const { thread->request_stop(); }
    };
    std::jthread thread_;
    std::stop_callback<Stop> forward_;
};

} // namespace

std::vector<reference::Baseline> wantedBaselines(const Options &options) {
    using reference::Baseline;
    std::vector<Baseline> wanted;
    if (options.numerics != task::Numerics::tf32)
        wanted = {Baseline::eager, Baseline::compile};
    if (options.numerics != task::Numerics::standard) {
        wanted.push_back(Baseline::eagerTf32);
        wanted.push_back(Baseline::compileTf32);
    }
    if (options.maxAutotune)
        wanted.push_back(Baseline::compileMaxAutotune);
    return wanted;
}

reference::Options workerOptions(const Options &options) {
    reference::Options worker;
    worker.numerics = options.numerics;
    worker.threads = options.threads;
    worker.stock = options.stock;
    return worker;
}

unsigned threadsOfEach(std::size_t judges) {
    const auto all = std::thread::hardware_concurrency();
    return judges <= 1 ? 0 : std::max(1u, all / static_cast<unsigned>(judges));
}

std::uint64_t caseBytesOfEach(std::uint64_t memoryBytes, std::size_t judges) {
    return memoryBytes / 2 / std::max<std::size_t>(judges, 1);
}

Result<std::unique_ptr<Judge>> Judge::prepare(const task::Spec &spec,
                                              std::unique_ptr<device::Device> device,
                                              const Options &options, Progress progress,
                                              std::stop_token stop) {
    Laps laps;
    auto state = std::make_unique<State>();
    state->spec = spec;
    state->device = std::move(device);
    state->options = options;
    state->runners = options.runners ? options.runners : std::make_shared<IdleRunners>(1);
    const auto say = [&](const std::string &what) {
        if (progress)
            progress(what);
    };

    CUDA_AGENT_ASSIGN(compiler, toolchain::makeCompiler(state->device->info()));
    state->compiler = std::move(compiler);
    if (auto known = device::knownCeilings(state->device->info())) {
        state->ceilings = *known;
    } else {
        // What another process runs meanwhile would lower the ceilings for good: they are kept.
        say("measuring this machine's ceilings");
        CUDA_AGENT_ASSIGN(lease, device::Lease::take(state->device->info(), stop));
        (void)lease;
        CUDA_AGENT_ASSIGN(ceilings, state->device->ceilings());
        state->ceilings = ceilings;
    }

    const auto lookAheadAndWait = [&](reference::Worker &drawing) -> Result<void> {
        CUDA_AGENT_TRY(verify::lookAhead(drawing, *state->device, stop));
        laps.end("start");
        if (!options.waitForRoom)
            return {};
        say("waiting for room in the device's memory");
        CUDA_AGENT_TRY(options.waitForRoom(stop));
        laps.end("room");
        return {};
    };
    const auto seal = [&](reference::Worker &worker) -> Result<void> {
        say("drawing inputs and the fp64 oracle");
        const auto &info = state->device->info();
        if (options.openRunner && !options.runners && info.kind == device::Kind::cuda)
            state->opened = std::async(std::launch::async, [info, stop] {
                return plan::openRunner(info, plan::RunnerOptions{}, stop);
            });
        CUDA_AGENT_ASSIGN(pool, verify::drawPool(worker, *state->device, options.caseBytes,
                                                 options.strongest, stop));
        state->pool = std::make_shared<const verify::Pool>(std::move(pool));
        append(state->unenforced, worker.finish().unenforced);
        laps.end("oracle");
        return {};
    };
    const auto prepared = [&] {
        state->preparation = laps.phases();
        return std::unique_ptr<Judge>(new Judge(std::move(state)));
    };

    // Two workers: one draws the sealed cases and ends before any candidate starts; the other
    // knows no secret and stays for timing. They start side by side: importing torch is slow.
    say("loading the task");
    const auto startWorker = [&] {
        return reference::Worker::start(spec, *state->device, workerOptions(options), stop);
    };
    if (!options.timing) {
        CUDA_AGENT_ASSIGN(worker, startWorker());
        state->reference = worker->versions();
        CUDA_AGENT_TRY(lookAheadAndWait(*worker));
        CUDA_AGENT_TRY(seal(*worker));
        return prepared();
    }
    std::filesystem::path file;
    std::optional<StoredBaselines> stored;
    if (!options.baselines.empty()) {
        CUDA_AGENT_ASSIGN(named, baselinesFile(spec, state->device->info(), options));
        file = std::move(named);
        stored = readBaselines(file, options);
    }
    std::future<Result<std::unique_ptr<reference::Worker>>> timingStart;
    if (!stored)
        timingStart = std::async(std::launch::async, startWorker);
    auto drawing = startWorker();
    if (drawing && stored && (*drawing)->versions() != stored->versions) { // of another PyTorch
        stored.reset();
        timingStart = std::async(std::launch::deferred, startWorker);
    }
    if (timingStart.valid()) {
        auto timingWorker = timingStart.get();
        if (drawing && !timingWorker)
            return tl::unexpected(timingWorker.error());
        if (timingWorker)
            state->timingWorker = std::move(*timingWorker);
    }
    if (!drawing)
        return tl::unexpected(drawing.error());
    state->reference = (*drawing)->versions();
    CUDA_AGENT_TRY(lookAheadAndWait(**drawing));

    if (stored) {
        CUDA_AGENT_TRY(seal(**drawing));
        state->baselines = std::move(stored->baselines);
        state->baselinesTime = stored->time;
        return prepared();
    }
    {
        CompilingAhead compiling(*state->timingWorker, state->device->info(),
                                 wantedBaselines(options), stop);
        CUDA_AGENT_TRY(seal(**drawing));
        drawing->reset();
        say("waiting for torch.compile");
        compiling.wait();
        laps.end("torch.compile");
    }

    say("timing eager and torch.compile");
    {
        CUDA_AGENT_ASSIGN(lease, device::Lease::take(state->device->info(), stop));
        (void)lease;
        laps.end("waiting");
        CUDA_AGENT_ASSIGN(baselines, timing::measureBaselines(*state->timingWorker, *state->device,
                                                              wantedBaselines(options),
                                                              state->pool->description.countedBytes,
                                                              protocolOf(options.strongest), stop));
        state->baselines = std::move(baselines);
        laps.end("baselines");
    }
    if (options.interleaveBaselines)
        CUDA_AGENT_TRY(state->timingWorker->release());
    else
        state->timingWorker.reset(); // its memory, too, is others'
    if (!file.empty())
        CUDA_AGENT_TRY(writeBaselines(file, {state->baselines, state->reference,
                                             static_cast<std::int64_t>(std::time(nullptr)),
                                             options.strongest}));
    return prepared();
}

Result<std::unique_ptr<Judge>> Judge::twin(std::unique_ptr<device::Device> device) const {
    auto state = std::make_unique<State>();
    state->device = std::move(device);
    CUDA_AGENT_ASSIGN(compiler, toolchain::makeCompiler(state->device->info()));
    state->compiler = std::move(compiler);
    state->spec = state_->spec;
    state->options = state_->options;
    state->options.interleaveBaselines = false;
    state->runners =
        state->options.runners ? state->options.runners : std::make_shared<IdleRunners>(1);
    state->ceilings = state_->ceilings;
    state->pool = state_->pool;
    state->baselines = state_->baselines;
    state->reference = state_->reference;
    state->baselinesTime = state_->baselinesTime;
    state->unenforced = state_->unenforced;
    return std::unique_ptr<Judge>(new Judge(std::move(state)));
}

} // namespace cuda_agent::judge
