// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The CPU device of cuda-agent-checker: runs a plan once, all of it in order on one thread, with
// every buffer in memory of its own that ends where the buffer ends.

#include "core/plan/runner/backend.h"
#include "core/plan/runner/cpu_library.h"
#include "core/plan/runner/cpu_memory.h"
#include "core/plan/runner/fault_signal.h"
#include "core/plan/runner/sanit_checker.h"
#include "core/plan/runner/strided_copy.h"
#include "core/toolchain/host/launch.h"

#include <cstring>
#include <map>

namespace cuda_agent::plan::runner {

namespace {

using sanit::Checker;
using sanit::RegionKind;

constexpr unsigned char poison = 0xCB;

std::uint64_t bytesOf(const TensorType &type) {
    return static_cast<std::uint64_t>(type.elements()) * sizeOf(type.dtype);
}

class CheckedBackend final : public Backend {
  public:
    Result<void> load(Program program) override;
    Result<void> bind(int set, std::vector<LentMemory> memories,
                      const std::vector<LentView> &views) override;
    Result<void> unbind(int) override { return {}; }
    Result<void> call(int set) override;
    Result<std::vector<std::string>> callWithout(int, int) override {
        return machineError("checked kernels are called as a whole");
    }
    Result<std::vector<TimeSample>> time(const TimeRequest &) override {
        return machineError("checked kernels are not timed");
    }
    Result<Json> findings() override { return Checker::self().report(); }

  private:
    Result<void> prepareBuffers();
    void copyBuffer(std::size_t buffer, bool in);
    Result<void> runKernel(const ProgramKernel &kernel, const std::string &label);
    Result<void> runStep(std::size_t index);

    Program program_;
    std::vector<toolchain::host::HostModule> modules_;
    std::vector<sanit::Image> images_;
    std::vector<FaultTexts> faultTexts_; ///< by step
    CpuLibrarySteps library_;
    std::vector<GuardedPages> own_; ///< by buffer
    HostPointers pointers_;         ///< into own_
    int set_ = -1;
    std::vector<GuardedPages> lent_;
    std::vector<LentView> views_;
};

Result<void> CheckedBackend::load(Program program) {
    program_ = std::move(program);
    for (const auto &path : program_.binaries) {
        CUDA_AGENT_ASSIGN(image, sanit::Image::read(path));
        images_.push_back(std::move(image));
        CUDA_AGENT_ASSIGN(module, toolchain::host::HostModule::open(path));
        modules_.push_back(std::move(module));
    }
    for (const auto &step : program_.steps)
        faultTexts_.emplace_back(step.label);
    return library_.load(program_);
}

Result<void> CheckedBackend::bind(int number, std::vector<LentMemory> memories,
                                  const std::vector<LentView> &views) {
    lent_.clear();
    for (const auto &memory : memories) {
        CUDA_AGENT_ASSIGN(pages, GuardedPages::map(memory.fd.get(), memory.bytes));
        lent_.push_back(std::move(pages));
    }
    views_ = views;
    set_ = number;
    return {};
}

/// Fresh ones for every call: only then is what nobody wrote known.
Result<void> CheckedBackend::prepareBuffers() {
    own_.clear();
    pointers_.clear();
    Checker::self().forgetBuffers();
    for (const auto &buffer : program_.buffers) {
        CUDA_AGENT_ASSIGN(pages,
                          GuardedPages::make(bytesOf(buffer.type), buffer.alignment, poison));
        pointers_.push_back(pages.data());
        own_.push_back(std::move(pages));
        const bool input = !buffer.scratch && !buffer.written;
        CUDA_AGENT_TRY(Checker::self().addBuffer(
            buffer.name, input ? RegionKind::input : RegionKind::buffer, pointers_.back(),
            bytesOf(buffer.type), static_cast<unsigned>(sizeOf(buffer.type.dtype))));
    }
    return {};
}

void CheckedBackend::copyBuffer(std::size_t index, bool in) {
    const auto &type = program_.buffers[index].type;
    const auto &view = views_.at(index);
    std::byte *own = pointers_[index];
    std::byte *lent = lent_.at(static_cast<std::size_t>(view.memory)).data() + view.offset;
    stridedCopy(in ? own : lent, in ? type.strides : view.type.strides, in ? lent : own,
                in ? view.type.strides : type.strides, type.shape, sizeOf(type.dtype));
}

Result<void> CheckedBackend::runKernel(const ProgramKernel &kernel, const std::string &label) {
    std::vector<std::uint64_t> values(kernel.arguments.size());
    std::vector<void *> arguments(kernel.arguments.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto &argument = kernel.arguments[i];
        values[i] = argument.buffer >= 0 ? reinterpret_cast<std::uint64_t>(
                                               pointers_[static_cast<std::size_t>(argument.buffer)])
                                         : argument.scalar.bits;
        arguments[i] = &values[i];
    }
    toolchain::host::LaunchShape shape;
    std::copy_n(kernel.grid, 3, shape.grid.begin());
    std::copy_n(kernel.block, 3, shape.block.begin());
    shape.sharedBytes = kernel.sharedBytes;
    shape.threads = 1;
    const auto binary = static_cast<std::size_t>(kernel.binary);
    Checker::self().beginLaunch(images_[binary], label);
    const auto done = modules_[binary].launch(kernel.entry, shape, arguments);
    Checker::self().endLaunch(done ? std::string() : done.error().message);
    return {};
}

Result<void> CheckedBackend::runStep(std::size_t index) {
    const auto &step = program_.steps[index];
    const RunningStep running(faultTexts_[index]);
    if (const auto *kernel = std::get_if<ProgramKernel>(&step.work))
        return runKernel(*kernel, step.label);
    if (const auto *fill = std::get_if<ProgramFill>(&step.work)) {
        const auto buffer = static_cast<std::size_t>(fill->buffer);
        fillWith(pointers_[buffer], fill->element, program_.buffers[buffer].type.elements());
        Checker::self().wrote(pointers_[buffer]);
        return {};
    }
    CUDA_AGENT_TRY(library_.run(program_, index, pointers_));
    const auto *gemm = std::get_if<ProgramGemm>(&step.work);
    const auto output = gemm ? gemm->c : std::get<ProgramConvolution>(step.work).output;
    Checker::self().wrote(pointers_[static_cast<std::size_t>(output)]);
    return {};
}

Result<void> CheckedBackend::call(int set) {
    if (set != set_)
        return machineError("set {} is not bound", set);
    CUDA_AGENT_TRY(prepareBuffers());
    for (std::size_t i = 0; i < program_.buffers.size(); ++i)
        if (!program_.buffers[i].scratch && !program_.buffers[i].written)
            copyBuffer(i, true);
    for (std::size_t i = 0; i < program_.steps.size() && !Checker::self().stopped(); ++i)
        CUDA_AGENT_TRY(runStep(i));
    if (Checker::self().stopped())
        return {};
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
        if (program_.buffers[i].scratch || !program_.buffers[i].written)
            continue;
        Checker::self().expectWritten(pointers_[i]);
        copyBuffer(i, false);
    }
    return {};
}

} // namespace

std::unique_ptr<Backend> makeCpuBackend() {
    return std::make_unique<CheckedBackend>();
}

Result<std::unique_ptr<Backend>> makeCudaBackend() {
    return machineError("cuda-agent-checker runs kernels on the cpu alone");
}

} // namespace cuda_agent::plan::runner
