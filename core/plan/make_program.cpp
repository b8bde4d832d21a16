// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/make_program.h"

#include "core/plan/scalar_bits.h"

#include <charconv>

namespace cuda_agent::plan {

namespace {

class Maker {
  public:
    Maker(const Plan &plan, const Resolved &resolved) : plan_(plan), resolved_(resolved) {}

    Program make() {
        for (const auto &buffer : resolved_.buffers)
            program_.buffers.push_back({buffer.buffer->name, buffer.buffer->role == Role::scratch,
                                        buffer.buffer->role == Role::output,
                                        contiguousType(buffer.type.dtype, buffer.type.shape),
                                        buffer.buffer->alignment});
        for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
            ProgramStep step;
            step.work = std::visit([this](const auto &each) { return work(each); }, plan_.steps[i]);
            step.label = fmt::format("{} (step {})", name_, i);
            program_.steps.push_back(std::move(step));
        }
        return std::move(program_);
    }

  private:
    using Work = decltype(ProgramStep::work);

    int indexOf(const std::string &name) const {
        if (name.empty())
            return -1;
        return static_cast<int>(plan_.find(name) - plan_.buffers.data());
    }

    static ProgramArgument argumentOf(const Argument &argument, int buffer, std::int64_t integer,
                                      double number) {
        switch (argument.kind) {
        case Argument::Kind::buffer:
            break;
        case Argument::Kind::int32:
            return {-1, elementBits(DType::int32, static_cast<double>(integer))};
        case Argument::Kind::int64:
            return {-1, {static_cast<std::uint64_t>(integer), 8}};
        case Argument::Kind::float32:
            return {-1, elementBits(DType::float32, number)};
        case Argument::Kind::float64:
            return {-1, elementBits(DType::float64, number)};
        }
        return {buffer, {}};
    }

    Work work(const KernelStep &step) {
        const ResolvedKernel &sizes = resolved_.kernels[nextKernel_++];
        ProgramKernel kernel;
        const auto sources = plan_.sources();
        kernel.binary = static_cast<int>(std::find(sources.begin(), sources.end(), step.source) -
                                         sources.begin());
        kernel.entry = step.entry;
        for (int i = 0; i < 3; ++i) {
            kernel.grid[i] = sizes.grid[i];
            kernel.block[i] = sizes.block[i];
            kernel.cluster[i] = static_cast<std::uint32_t>(step.cluster[i]);
        }
        kernel.sharedBytes = sizes.sharedBytes;
        for (std::size_t i = 0; i < step.arguments.size(); ++i)
            kernel.arguments.push_back(argumentOf(step.arguments[i],
                                                  indexOf(step.arguments[i].buffer),
                                                  sizes.integers[i], sizes.numbers[i]));
        name_ = fmt::format("{}:{}", step.source, step.entry);
        return kernel;
    }

    Work work(const GemmStep &step) {
        const ResolvedGemm &sizes = resolved_.gemms[nextGemm_++];
        ProgramGemm gemm;
        gemm.a = indexOf(step.a);
        gemm.b = indexOf(step.b);
        gemm.c = indexOf(step.c);
        gemm.bias = indexOf(step.bias);
        gemm.transposeA = step.transposeA;
        gemm.transposeB = step.transposeB;
        gemm.tf32 = step.compute == "tf32";
        gemm.m = sizes.m, gemm.n = sizes.n, gemm.k = sizes.k, gemm.batch = sizes.batch;
        gemm.lda = sizes.lda, gemm.ldb = sizes.ldb, gemm.ldc = sizes.ldc;
        gemm.strideA = sizes.strideA, gemm.strideB = sizes.strideB, gemm.strideC = sizes.strideC;
        gemm.alpha = step.alpha;
        gemm.beta = step.beta;
        name_ = "gemm";
        return gemm;
    }

    Work work(const ConvolutionStep &step) {
        const ResolvedConvolution &sizes = resolved_.convolutions[nextConvolution_++];
        ProgramConvolution convolution;
        convolution.input = indexOf(step.input);
        convolution.weight = indexOf(step.weight);
        convolution.output = indexOf(step.output);
        convolution.bias = indexOf(step.bias);
        convolution.stride = sizes.stride;
        convolution.padding = sizes.padding;
        convolution.dilation = sizes.dilation;
        convolution.outputPadding = sizes.outputPadding;
        convolution.groups = step.groups;
        convolution.transposed = step.transposed;
        convolution.tf32 = step.compute == "tf32";
        convolution.channelsLast = step.channelsLast;
        name_ = "convolution";
        return convolution;
    }

    Work work(const FillStep &step) {
        const int buffer = indexOf(step.buffer);
        name_ = "fill";
        return ProgramFill{buffer, elementBits(resolved_.buffers[buffer].type.dtype, step.value)};
    }

    const Plan &plan_;
    const Resolved &resolved_;
    Program program_;
    std::string name_;
    std::size_t nextKernel_ = 0, nextGemm_ = 0, nextConvolution_ = 0;
};

/// 90 of "sm_90" and "sm_90a"; 0 when it is no such name.
int computeCapability(std::string_view architecture) {
    int number = 0;
    if (architecture.starts_with("sm_"))
        std::from_chars(architecture.data() + 3, architecture.data() + architecture.size(), number);
    return number;
}

} // namespace

LaunchLimits limitsOf(const device::Info &info) {
    LaunchLimits limits;
    if (info.sharedBytesPerBlock > 0)
        limits.maxSharedBytes = info.sharedBytesPerBlock;
    if (info.memoryBytes > 0)
        limits.maxScratchBytes = std::min(limits.maxScratchBytes, info.memoryBytes / 2);
    const bool clusters =
        info.kind == device::Kind::cuda && computeCapability(info.architecture) >= 90;
    limits.maxClusterBlocks = clusters ? 16 : 1;
    return limits;
}

Program makeProgram(const Plan &plan, const Resolved &resolved, const device::Info &info) {
    Program program = Maker(plan, resolved).make();
    program.device = nameOf(info.kind);
    // What a CPU calls its last level may be shared by a whole rack of cores: enough is enough.
    program.cacheBytes = std::min<std::uint64_t>(info.cacheBytes, 256u << 20);
    return program;
}

} // namespace cuda_agent::plan
