// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/backend.h"
#include "core/plan/runner/cuda_code.h"
#include "core/plan/runner/cuda_library.h"

#include <chrono>

namespace cuda_agent::plan::runner {

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned char scratchPoison = 0xCB;

std::uint64_t bytesOf(const TensorType &type) {
    return static_cast<std::uint64_t>(type.elements()) * sizeOf(type.dtype);
}

/// A copy between a lent view and its staging, made within every call.
struct StagedCopy {
    CUdeviceptr to = 0, from = 0;
    CopyShape shape;
    std::size_t elementBytes = 4;
};

struct CallSet {
    std::vector<CudaMemory> memories;
    CudaPointers pointers;
    std::vector<StagedCopy> before, after;
    CUgraphExec graph = nullptr;
    bool graphTried = false;
};

class CudaBackend final : public Backend {
  public:
    explicit CudaBackend(std::unique_ptr<CudaCore> core)
        : core_(std::move(core)), copier_(*core_) {}

    Result<void> load(Program program) override;
    Result<void> unload() override;
    Result<void> bind(int set, std::vector<LentMemory> memories,
                      const std::vector<LentView> &views) override;
    Result<void> unbind(int set) override;
    Result<void> call(int set) override;
    Result<std::vector<std::string>> callWithout(int set, int place) override;
    Result<std::vector<TimeSample>> time(const TimeRequest &request) override;

  private:
    /// Of memory that nobody has written; none where a tool is to see that.
    std::optional<unsigned char> poison() const {
        return program_.ownBuffers ? std::nullopt : std::optional(scratchPoison);
    }
    Result<CUdeviceptr> staging(std::size_t buffer);
    Result<CallSet *> find(int set);
    Result<void> runStep(std::size_t index, const CudaPointers &pointers);
    Result<void> enqueue(CallSet &set, bool wait);
    void capture(CallSet &set);
    Result<void> enqueueTimed(CallSet &set);
    Result<void> flushCache();
    Result<double> sample(const std::vector<CallSet *> &sets, std::size_t &next, int calls,
                          bool flush);

    std::unique_ptr<CudaCore> core_;
    Program program_;
    std::optional<CudaKernels> kernels_;
    CudaCopier copier_;
    std::map<std::size_t, std::unique_ptr<CudaGemm>> gemms_;               ///< by step
    std::map<std::size_t, std::unique_ptr<CudaConvolution>> convolutions_; ///< by step
    std::map<std::size_t, CudaMemory> scratch_;                            ///< by buffer
    std::map<std::size_t, CudaMemory> staging_; ///< by buffer; calls take turns
    std::map<int, CallSet> sets_;
    LeftOut leftOut_;
    CudaMemory flush_;
    CUevent begin_ = nullptr, end_ = nullptr;
};

Result<void> CudaBackend::load(Program program) {
    program_ = std::move(program);
    const auto &driver = core_->driver();
    for (auto *event : {&begin_, &end_})
        if (*event == nullptr)
            CUDA_AGENT_TRY(
                core_->expect(driver.cuEventCreate(event, CU_EVENT_DEFAULT), "making events"));
    CUDA_AGENT_ASSIGN(kernels, CudaKernels::load(*core_, program_));
    kernels_ = std::move(kernels);
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        if (!program_.buffers[i].scratch)
            continue;
        CUDA_AGENT_ASSIGN(memory,
                          CudaMemory::make(*core_, bytesOf(program_.buffers[i].type), poison()));
        scratch_.emplace(i, std::move(memory));
    }
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        const auto &[label, work] = program_.steps[i];
        if (const auto *gemm = std::get_if<ProgramGemm>(&work)) {
            CUDA_AGENT_ASSIGN(made, makeCudaGemm(*core_, program_, *gemm, label));
            gemms_.emplace(i, std::move(made));
        } else if (const auto *convolution = std::get_if<ProgramConvolution>(&work)) {
            CUDA_AGENT_ASSIGN(made, makeCudaConvolution(*core_, program_, *convolution, label));
            convolutions_.emplace(i, std::move(made));
        }
    }
    return {};
}

Result<void> CudaBackend::unload() {
    CUDA_AGENT_TRY(core_->synchronize("the last call"));
    while (!sets_.empty())
        CUDA_AGENT_TRY(unbind(sets_.begin()->first));
    const auto &driver = core_->driver();
    for (auto *memories : {&scratch_, &staging_})
        for (const auto &[buffer, memory] : *memories)
            CUDA_AGENT_TRY(
                core_->expect(driver.cuMemsetD8Async(memory.address(), scratchPoison,
                                                     std::max<std::uint64_t>(
                                                         bytesOf(program_.buffers[buffer].type), 1),
                                                     core_->stream()),
                              "overwriting memory"));
    CUDA_AGENT_TRY(core_->synchronize("overwriting memory"));
    scratch_.clear();
    staging_.clear();
    gemms_.clear();
    convolutions_.clear();
    flush_ = {};
    if (kernels_)
        CUDA_AGENT_TRY(kernels_->unload());
    kernels_.reset();
    return {};
}

Result<CUdeviceptr> CudaBackend::staging(std::size_t buffer) {
    auto found = staging_.find(buffer);
    if (found == staging_.end()) {
        CUDA_AGENT_ASSIGN(
            memory, CudaMemory::make(*core_, bytesOf(program_.buffers[buffer].type), poison()));
        found = staging_.emplace(buffer, std::move(memory)).first;
    }
    return found->second.address();
}

Result<void> CudaBackend::bind(int number, std::vector<LentMemory> memories,
                               const std::vector<LentView> &views) {
    CUDA_AGENT_TRY(unbind(number));
    CallSet set;
    for (auto &memory : memories) {
        CUDA_AGENT_ASSIGN(mapped, CudaMemory::import(*core_, std::move(memory.fd), memory.bytes));
        set.memories.push_back(std::move(mapped));
    }
    set.pointers.resize(program_.buffers.size());
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        const ProgramBuffer &buffer = program_.buffers[i];
        if (buffer.scratch) {
            set.pointers[i] = scratch_.at(i).address();
            continue;
        }
        const LentView &view = views.at(i);
        const CUdeviceptr lent = set.memories.at(view.memory).address() + view.offset;
        set.pointers[i] = lent;
        if (usableInPlace(buffer, view, lent) &&
            (!program_.ownBuffers || buffer.type.elements() == 0))
            continue;
        CUDA_AGENT_ASSIGN(copy, staging(i));
        set.pointers[i] = copy;
        // An output is taken along too: a step may add to what is there (beta, atomics).
        const std::size_t bytes = sizeOf(buffer.type.dtype);
        StagedCopy in{copy, lent,
                      simplified(buffer.type.shape, buffer.type.strides, view.type.strides), bytes};
        CUDA_AGENT_TRY(copier_.prepare(in.shape, bytes));
        if (!program_.ownBuffers || !buffer.written) // a tool is to see what nobody writes
            set.before.push_back(std::move(in));
        if (!buffer.written)
            continue;
        StagedCopy out{lent, copy,
                       simplified(buffer.type.shape, view.type.strides, buffer.type.strides),
                       bytes};
        CUDA_AGENT_TRY(copier_.prepare(out.shape, bytes));
        set.after.push_back(std::move(out));
    }
    sets_.emplace(number, std::move(set));
    return {};
}

Result<void> CudaBackend::unbind(int number) {
    const auto found = sets_.find(number);
    if (found == sets_.end())
        return {};
    if (found->second.graph != nullptr)
        core_->driver().cuGraphExecDestroy(found->second.graph);
    sets_.erase(found);
    return {};
}

Result<CallSet *> CudaBackend::find(int number) {
    const auto found = sets_.find(number);
    if (found == sets_.end())
        return machineError("set {} is not bound", number);
    return &found->second;
}

Result<void> CudaBackend::runStep(std::size_t index, const CudaPointers &pointers) {
    const auto &[label, work] = program_.steps[index];
    if (const auto *kernel = std::get_if<ProgramKernel>(&work))
        return leftOut_.next() ? Result<void>() : kernels_->launch(*kernel, label, pointers);
    if (const auto *fill = std::get_if<ProgramFill>(&work))
        return fillOnStream(*core_, pointers[fill->buffer], fill->element,
                            program_.buffers[fill->buffer].type.elements(), label);
    if (std::holds_alternative<ProgramGemm>(work))
        return gemms_.at(index)->run(pointers);
    return convolutions_.at(index)->run(pointers);
}

/// `wait` waits after every step, so that a fault names the step that made it.
Result<void> CudaBackend::enqueue(CallSet &set, bool wait) {
    for (const auto &copy : set.before)
        CUDA_AGENT_TRY(copier_.run(copy.to, copy.from, copy.shape, copy.elementBytes));
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        const WatchedStep watched(watcher_, i);
        CUDA_AGENT_TRY(runStep(i, set.pointers));
        if (wait)
            CUDA_AGENT_TRY(core_->check(core_->driver().cuStreamSynchronize(core_->stream()),
                                        program_.steps[i].label));
    }
    for (const auto &copy : set.after)
        CUDA_AGENT_TRY(copier_.run(copy.to, copy.from, copy.shape, copy.elementBytes));
    return {};
}

Result<void> CudaBackend::call(int number) {
    CUDA_AGENT_ASSIGN(set, find(number));
    CUDA_AGENT_TRY(enqueue(*set, true));
    return core_->synchronize("a call");
}

Result<std::vector<std::string>> CudaBackend::callWithout(int number, int place) {
    CUDA_AGENT_ASSIGN(set, find(number));
    for (auto &[buffer, memory] : scratch_)
        CUDA_AGENT_TRY(
            core_->check(core_->driver().cuMemsetD8Async(
                             memory.address(), scratchPoison,
                             std::max<std::uint64_t>(bytesOf(program_.buffers[buffer].type), 1),
                             core_->stream()),
                         "filling scratch"));
    leftOut_.begin(place);
    auto done = enqueue(*set, true);
    leftOut_.end();
    CUDA_AGENT_TRY(done);
    CUDA_AGENT_TRY(core_->synchronize("a call without kernels"));
    return kernelLabels(program_);
}

/// Leaves the set without a graph when the steps cannot be captured.
void CudaBackend::capture(CallSet &set) {
    set.graphTried = true;
    const auto &driver = core_->driver();
    if (driver.cuStreamBeginCapture(core_->stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) !=
        CUDA_SUCCESS)
        return;
    const auto enqueued = enqueue(set, false);
    CUgraph graph = nullptr;
    if (driver.cuStreamEndCapture(core_->stream(), &graph) != CUDA_SUCCESS || graph == nullptr)
        return;
    CUgraphExec ready = nullptr;
    if (enqueued && driver.cuGraphInstantiate(&ready, graph, 0) == CUDA_SUCCESS) {
        if (driver.cuGraphUpload(ready, core_->stream()) == CUDA_SUCCESS)
            set.graph = ready;
        else
            driver.cuGraphExecDestroy(ready);
    }
    driver.cuGraphDestroy(graph);
}

Result<void> CudaBackend::enqueueTimed(CallSet &set) {
    if (program_.useGraph && !set.graphTried)
        capture(set);
    if (set.graph == nullptr)
        return enqueue(set, false);
    return core_->check(core_->driver().cuGraphLaunch(set.graph, core_->stream()), "a timed call");
}

Result<void> CudaBackend::flushCache() {
    const std::uint64_t bytes = std::max<std::uint64_t>(2 * program_.cacheBytes, 1u << 20);
    if (flush_.address() == 0) {
        CUDA_AGENT_ASSIGN(memory, CudaMemory::make(*core_, bytes));
        flush_ = std::move(memory);
    }
    return core_->expect(
        core_->driver().cuMemsetD32Async(flush_.address(), 0, bytes / 4, core_->stream()),
        "flushing the cache");
}

/// Seconds of one call: the span from before the first to after the last piece of work of `calls`
/// calls. The flush lies before it on the stream and, while it runs, the calls are put there, so
/// that the span holds no waiting for the host.
Result<double> CudaBackend::sample(const std::vector<CallSet *> &sets, std::size_t &next, int calls,
                                   bool flush) {
    const auto &driver = core_->driver();
    CUDA_AGENT_TRY(core_->synchronize("a timed call"));
    if (flush)
        CUDA_AGENT_TRY(flushCache());
    CUDA_AGENT_TRY(core_->expect(driver.cuEventRecord(begin_, core_->stream()), "timing"));
    for (int i = 0; i < calls; ++i)
        CUDA_AGENT_TRY(enqueueTimed(*sets[next++ % sets.size()]));
    CUDA_AGENT_TRY(core_->expect(driver.cuEventRecord(end_, core_->stream()), "timing"));
    CUDA_AGENT_TRY(core_->check(driver.cuEventSynchronize(end_), "a timed call"));
    float milliseconds = 0;
    CUDA_AGENT_TRY(core_->expect(driver.cuEventElapsedTime(&milliseconds, begin_, end_), "timing"));
    CUDA_AGENT_TRY(core_->synchronize("a timed call"));
    // The events tick in half microseconds; nothing takes no time.
    return std::max(milliseconds * 1e-3, 1e-9) / calls;
}

Result<std::vector<TimeSample>> CudaBackend::time(const TimeRequest &request) {
    std::vector<CallSet *> sets;
    for (const int number : request.sets) {
        CUDA_AGENT_ASSIGN(set, find(number));
        sets.push_back(set);
        if (program_.useGraph && !set->graphTried)
            capture(*set);
    }
    if (sets.empty())
        return machineError("no sets to time");
    std::size_t next = 0;
    CUDA_AGENT_ASSIGN(oneCall,
                      warmUp(request, [&] { return sample(sets, next, 1, request.flushCache); }));
    const int calls = callsPerSample(request.minimumSampleSeconds, oneCall);
    std::vector<TimeSample> samples;
    for (int i = 0; i < request.samples; ++i) {
        CUDA_AGENT_ASSIGN(seconds, sample(sets, next, calls, request.flushCache));
        samples.push_back({seconds, calls});
    }
    return samples;
}

} // namespace

Result<std::unique_ptr<Backend>> makeCudaBackend() {
    CUDA_AGENT_ASSIGN(core, CudaCore::open());
    return std::unique_ptr<Backend>(std::make_unique<CudaBackend>(std::move(core)));
}

} // namespace cuda_agent::plan::runner
