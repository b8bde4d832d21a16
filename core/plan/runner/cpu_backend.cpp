// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/elapsed.h"
#include "core/plan/runner/backend.h"
#include "core/plan/runner/cpu_library.h"
#include "core/plan/runner/cpu_memory.h"
#include "core/plan/runner/fault_signal.h"
#include "core/plan/runner/strided_copy.h"
#include "core/toolchain/host/launch.h"

#include <chrono>
#include <cstring>
#include <map>
#include <optional>

namespace cuda_agent::plan::runner {

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned char scratchPoison = 0xCB;

std::uint64_t bytesOf(const TensorType &type) {
    return static_cast<std::uint64_t>(type.elements()) * sizeOf(type.dtype);
}

/// A copy between a lent view and its staging, made within every call.
struct StagedCopy {
    int buffer = 0;
    std::byte *lent = nullptr;
    Shape lentStrides;
};

struct CallSet {
    std::vector<GuardedPages> memories;
    HostPointers pointers; ///< by buffer, what the steps use
    std::vector<StagedCopy> before, after;
};

class CpuBackend final : public Backend {
  public:
    Result<void> load(Program program) override;
    Result<void> bind(int set, std::vector<LentMemory> memories,
                      const std::vector<LentView> &views) override;
    Result<void> unbind(int set) override;
    Result<void> call(int set) override;
    Result<std::vector<std::string>> callWithout(int set, int place) override;
    Result<std::vector<TimeSample>> time(const TimeRequest &request) override;

  private:
    Result<std::byte *> staging(std::size_t buffer);
    Result<void> runKernel(const ProgramKernel &kernel, const HostPointers &pointers);
    Result<void> runStep(std::size_t index, const HostPointers &pointers);
    Result<void> callSet(CallSet &set);
    Result<CallSet *> find(int set);
    void flushCache();

    Program program_;
    std::vector<toolchain::host::HostModule> modules_;
    std::vector<FaultTexts> faultTexts_; ///< by step
    CpuLibrarySteps library_;
    std::map<std::size_t, GuardedPages> scratch_; ///< by buffer
    std::map<std::size_t, GuardedPages> staging_; ///< by buffer; calls take turns
    std::map<int, CallSet> sets_;
    LeftOut leftOut_;
    std::vector<std::uint64_t> flush_;
};

Result<void> CpuBackend::load(Program program) {
    program_ = std::move(program);
    for (const auto &path : program_.binaries) {
        CUDA_AGENT_ASSIGN(module, toolchain::host::HostModule::open(path));
        modules_.push_back(std::move(module));
    }
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        if (!program_.buffers[i].scratch)
            continue;
        CUDA_AGENT_ASSIGN(pages, GuardedPages::make(bytesOf(program_.buffers[i].type),
                                                    program_.buffers[i].alignment, scratchPoison));
        scratch_.emplace(i, std::move(pages));
    }
    for (const auto &step : program_.steps)
        faultTexts_.emplace_back(step.label);
    return library_.load(program_);
}

Result<std::byte *> CpuBackend::staging(std::size_t buffer) {
    auto found = staging_.find(buffer);
    if (found == staging_.end()) {
        CUDA_AGENT_ASSIGN(pages,
                          GuardedPages::make(bytesOf(program_.buffers[buffer].type),
                                             program_.buffers[buffer].alignment, scratchPoison));
        found = staging_.emplace(buffer, std::move(pages)).first;
    }
    return found->second.data();
}

Result<void> CpuBackend::bind(int number, std::vector<LentMemory> memories,
                              const std::vector<LentView> &views) {
    sets_.erase(number);
    CallSet set;
    for (const auto &memory : memories) {
        CUDA_AGENT_ASSIGN(pages, GuardedPages::map(memory.fd.get(), memory.bytes));
        set.memories.push_back(std::move(pages));
    }
    set.pointers.resize(program_.buffers.size());
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        const ProgramBuffer &buffer = program_.buffers[i];
        if (buffer.scratch) {
            set.pointers[i] = scratch_.at(i).data();
            continue;
        }
        const LentView &view = views.at(i);
        std::byte *lent = set.memories.at(view.memory).data() + view.offset;
        set.pointers[i] = lent;
        if (usableInPlace(buffer, view, reinterpret_cast<std::uintptr_t>(lent)))
            continue;
        CUDA_AGENT_ASSIGN(copy, staging(i));
        set.pointers[i] = copy;
        // An output is taken along too: a step may add to what is there (beta, atomics).
        set.before.push_back({static_cast<int>(i), lent, view.type.strides});
        if (buffer.written)
            set.after.push_back({static_cast<int>(i), lent, view.type.strides});
    }
    sets_.emplace(number, std::move(set));
    return {};
}

Result<void> CpuBackend::unbind(int set) {
    sets_.erase(set);
    return {};
}

Result<CallSet *> CpuBackend::find(int set) {
    const auto found = sets_.find(set);
    if (found == sets_.end())
        return machineError("set {} is not bound", set);
    return &found->second;
}

Result<void> CpuBackend::runKernel(const ProgramKernel &kernel, const HostPointers &pointers) {
    std::vector<std::uint64_t> values(kernel.arguments.size());
    std::vector<void *> arguments(kernel.arguments.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ProgramArgument &argument = kernel.arguments[i];
        values[i] = argument.buffer >= 0
                        ? reinterpret_cast<std::uint64_t>(pointers[argument.buffer])
                        : argument.scalar.bits; // little-endian: the low bytes come first
        arguments[i] = &values[i];
    }
    toolchain::host::LaunchShape shape;
    std::copy_n(kernel.grid, 3, shape.grid.begin());
    std::copy_n(kernel.block, 3, shape.block.begin());
    shape.sharedBytes = kernel.sharedBytes;
    shape.flags = CUDA_AGENT_HOST_EXITED_THREADS_PASS;
    return modules_[kernel.binary].launch(kernel.entry, shape, arguments);
}

Result<void> CpuBackend::runStep(std::size_t index, const HostPointers &pointers) {
    const ProgramStep &step = program_.steps[index];
    const RunningStep running(faultTexts_[index]);
    if (const auto *kernel = std::get_if<ProgramKernel>(&step.work)) {
        if (leftOut_.next())
            return {};
        auto done = runKernel(*kernel, pointers);
        // Whatever the launch refuses comes from the candidate: its arguments, its faults.
        if (!done)
            return failedError("{} in {}", done.error().message, step.label);
        return done;
    }
    if (const auto *fillStep = std::get_if<ProgramFill>(&step.work)) {
        fillWith(pointers[fillStep->buffer], fillStep->element,
                 program_.buffers[fillStep->buffer].type.elements());
        return {};
    }
    return library_.run(program_, index, pointers);
}

Result<void> CpuBackend::callSet(CallSet &set) {
    const auto copy = [&](const StagedCopy &staged, bool in) {
        const TensorType &type = program_.buffers[staged.buffer].type;
        std::byte *own = set.pointers[staged.buffer];
        stridedCopy(in ? own : staged.lent, in ? type.strides : staged.lentStrides,
                    in ? staged.lent : own, in ? staged.lentStrides : type.strides, type.shape,
                    sizeOf(type.dtype));
    };
    for (const auto &staged : set.before)
        copy(staged, true);
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        const WatchedStep watched(watcher_, i);
        CUDA_AGENT_TRY(runStep(i, set.pointers));
    }
    for (const auto &staged : set.after)
        copy(staged, false);
    return {};
}

Result<void> CpuBackend::call(int set) {
    CUDA_AGENT_ASSIGN(found, find(set));
    return callSet(*found);
}

Result<std::vector<std::string>> CpuBackend::callWithout(int set, int place) {
    CUDA_AGENT_ASSIGN(found, find(set));
    for (auto &[buffer, pages] : scratch_)
        std::memset(pages.data(), scratchPoison, bytesOf(program_.buffers[buffer].type));
    leftOut_.begin(place);
    auto done = callSet(*found);
    leftOut_.end();
    CUDA_AGENT_TRY(done);
    return kernelLabels(program_);
}

void CpuBackend::flushCache() {
    if (flush_.empty())
        flush_.resize(2 * program_.cacheBytes / sizeof(std::uint64_t) + 1);
    // Read and write, so that the lines really travel.
    for (auto &word : flush_)
        word += 1;
}

Result<std::vector<TimeSample>> CpuBackend::time(const TimeRequest &request) {
    std::vector<CallSet *> sets;
    for (const int number : request.sets) {
        CUDA_AGENT_ASSIGN(set, find(number));
        sets.push_back(set);
    }
    if (sets.empty())
        return machineError("no sets to time");
    std::size_t next = 0;
    const auto run = [&](int calls) -> Result<double> {
        const auto begin = Clock::now();
        for (int i = 0; i < calls; ++i)
            CUDA_AGENT_TRY(callSet(*sets[next++ % sets.size()]));
        return secondsSince(begin) / calls;
    };
    CUDA_AGENT_ASSIGN(oneCall, warmUp(request, [&] { return run(1); }));
    const int calls = callsPerSample(request.minimumSampleSeconds, oneCall);
    std::vector<TimeSample> samples;
    for (int i = 0; i < request.samples; ++i) {
        if (request.flushCache)
            flushCache();
        CUDA_AGENT_ASSIGN(seconds, run(calls));
        samples.push_back({seconds, calls});
    }
    return samples;
}

} // namespace

std::unique_ptr<Backend> makeCpuBackend() {
    return std::make_unique<CpuBackend>();
}

} // namespace cuda_agent::plan::runner
