// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/cuda_code.h"

#include "core/plan/runner/cuda_copy_arguments.h"
#include "core/plan/runner/cuda_helper_ptx.h" // made by the build; empty text without nvcc

namespace cuda_agent::plan::runner {

namespace {

constexpr std::uint32_t plainSharedBytes = 48u << 10; ///< more must be asked for
constexpr unsigned portableCluster = 8;
constexpr std::size_t mostBytes = 256u << 20; ///< of one binary

bool isContiguous(const CopyShape &copy) {
    return copy.shape.size() == 1 && copy.toStrides[0] == 1 && copy.fromStrides[0] == 1;
}

} // namespace

Result<CudaKernels> CudaKernels::load(const CudaCore &core, const Program &program) {
    CudaKernels kernels(core);
    const auto &driver = core.driver();
    std::vector<std::string> images = program.images;
    for (const auto &path : program.binaries) {
        CUDA_AGENT_ASSIGN(image, readTextFile(path, mostBytes));
        images.push_back(std::move(image));
    }
    for (const auto &image : images) {
        CUmodule module = nullptr;
        CUDA_AGENT_TRY(core.expect(driver.cuModuleLoadData(&module, image.data()),
                                   "loading the candidate's kernels"));
        kernels.modules_.push_back(module);
    }
    for (const auto &step : program.steps) {
        const auto *kernel = std::get_if<ProgramKernel>(&step.work);
        if (kernel == nullptr)
            continue;
        CUDA_AGENT_ASSIGN(function, kernels.find(*kernel, step.label));
        CUDA_AGENT_TRY(kernels.checkArguments(*kernel, step.label, function));
        int &shared = kernels.sharedBytes_[function];
        shared = std::max(shared, static_cast<int>(kernel->sharedBytes));
        if (kernel->sharedBytes > plainSharedBytes)
            CUDA_AGENT_TRY(core.check(
                driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          shared),
                fmt::format("{}: {} bytes of dynamic shared memory", step.label, shared)));
        if (kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2] > portableCluster)
            CUDA_AGENT_TRY(
                core.check(driver.cuFuncSetAttribute(
                               function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                           step.label));
    }
    return kernels;
}

Result<void> CudaKernels::unload() {
    for (CUmodule module : std::exchange(modules_, {}))
        CUDA_AGENT_TRY(core_->expect(core_->driver().cuModuleUnload(module),
                                     "unloading the candidate's kernels"));
    functions_.clear();
    return {};
}

Result<CUfunction> CudaKernels::find(const ProgramKernel &kernel, const std::string &label) {
    const auto key = std::pair(kernel.binary, kernel.entry);
    if (const auto found = functions_.find(key); found != functions_.end())
        return found->second;
    CUfunction function = nullptr;
    const CUresult code = core_->driver().cuModuleGetFunction(&function, modules_.at(kernel.binary),
                                                              kernel.entry.c_str());
    if (code == CUDA_ERROR_NOT_FOUND)
        return failedError("{}: there is no kernel of that name; declare it extern \"C\" "
                           "__global__",
                           label);
    CUDA_AGENT_TRY(core_->expect(code, "looking up a kernel"));
    functions_.emplace(key, function);
    return function;
}

/// The driver reads past the list when the plan gives too few arguments, so this is checked first.
Result<void> CudaKernels::checkArguments(const ProgramKernel &kernel, const std::string &label,
                                         CUfunction function) const {
    for (std::size_t i = 0;; ++i) {
        std::size_t offset = 0, bytes = 0;
        const bool taken = core_->cuFuncGetParamInfo(function, i, &offset, &bytes) == CUDA_SUCCESS;
        const bool given = i < kernel.arguments.size();
        if (!taken && !given)
            return {};
        if (taken != given)
            return failedError("{}: the kernel takes {} than the {} arguments that the plan gives",
                               label, taken ? "more" : "fewer", kernel.arguments.size());
        const auto &argument = kernel.arguments[i];
        const std::size_t wanted = argument.buffer >= 0 ? 8 : argument.scalar.bytes;
        if (bytes != wanted)
            return failedError("{}: argument {} has {} bytes in the kernel and {} in the plan",
                               label, i, bytes, wanted);
    }
}

Result<void> CudaKernels::launch(const ProgramKernel &kernel, const std::string &label,
                                 const CudaPointers &pointers) const {
    std::vector<std::uint64_t> values(kernel.arguments.size());
    std::vector<void *> arguments(kernel.arguments.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ProgramArgument &argument = kernel.arguments[i];
        values[i] = argument.buffer >= 0 ? pointers[argument.buffer] : argument.scalar.bits;
        arguments[i] = &values[i];
    }
    CUlaunchConfig config{};
    config.gridDimX = kernel.grid[0];
    config.gridDimY = kernel.grid[1];
    config.gridDimZ = kernel.grid[2];
    config.blockDimX = kernel.block[0];
    config.blockDimY = kernel.block[1];
    config.blockDimZ = kernel.block[2];
    config.sharedMemBytes = kernel.sharedBytes;
    config.hStream = core_->stream();
    CUlaunchAttribute cluster{};
    if (kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2] > 1) {
        cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        cluster.value.clusterDim.x = kernel.cluster[0];
        cluster.value.clusterDim.y = kernel.cluster[1];
        cluster.value.clusterDim.z = kernel.cluster[2];
        config.attrs = &cluster;
        config.numAttrs = 1;
    }
    return core_->check(
        core_->driver().cuLaunchKernelEx(&config, functions_.at({kernel.binary, kernel.entry}),
                                         arguments.data(), nullptr),
        label);
}

Result<void> CudaCopier::prepare(const CopyShape &copy, std::size_t elementBytes) {
    if (isContiguous(copy) || functions_.contains(elementBytes))
        return {};
    if (copy.shape.size() > CudaCopyArguments::maxRank)
        return machineError("a lent buffer of {} dimensions cannot be copied", copy.shape.size());
    if (std::string_view(cudaHelperPtx).empty())
        return machineError("this program was built without nvcc, so it cannot take inputs that "
                            "are not contiguous on a GPU; rebuild it with a CUDA toolkit");
    const auto &driver = core_->driver();
    if (module_ == nullptr)
        CUDA_AGENT_TRY(core_->expect(driver.cuModuleLoadData(&module_, cudaHelperPtx),
                                     "loading the copy kernels"));
    CUfunction function = nullptr;
    CUDA_AGENT_TRY(
        core_->expect(driver.cuModuleGetFunction(
                          &function, module_, fmt::format("stridedCopy{}", elementBytes).c_str()),
                      "loading the copy kernels"));
    functions_.emplace(elementBytes, function);
    return {};
}

Result<void> CudaCopier::run(CUdeviceptr to, CUdeviceptr from, const CopyShape &copy,
                             std::size_t elementBytes) const {
    const auto &driver = core_->driver();
    CudaCopyArguments arguments{};
    arguments.elements = 1;
    for (const auto extent : copy.shape)
        arguments.elements *= extent;
    if (arguments.elements == 0)
        return {};
    if (isContiguous(copy))
        return core_->expect(
            driver.cuMemcpyDtoDAsync(to, from,
                                     static_cast<std::size_t>(arguments.elements) * elementBytes,
                                     core_->stream()),
            "copying a misaligned buffer");
    arguments.to = to;
    arguments.from = from;
    arguments.rank = static_cast<int>(copy.shape.size());
    for (std::size_t d = 0; d < copy.shape.size(); ++d) {
        arguments.shape[d] = copy.shape[d];
        arguments.toStrides[d] = copy.toStrides[d];
        arguments.fromStrides[d] = copy.fromStrides[d];
    }
    constexpr unsigned threads = 256, mostBlocks = 65535;
    const auto blocks = static_cast<unsigned>(
        std::min<long long>((arguments.elements + threads - 1) / threads, mostBlocks));
    void *list[] = {&arguments};
    return core_->expect(driver.cuLaunchKernel(functions_.at(elementBytes), blocks, 1, 1, threads,
                                               1, 1, 0, core_->stream(), list, nullptr),
                         "copying a strided buffer");
}

Result<void> fillOnStream(const CudaCore &core, CUdeviceptr to, const ProgramScalar &element,
                          std::int64_t count, const std::string &label) {
    const auto &driver = core.driver();
    const auto size = static_cast<std::size_t>(count);
    const CUstream stream = core.stream();
    if (count == 0)
        return {};
    if (element.bytes == 1)
        return core.check(
            driver.cuMemsetD8Async(to, static_cast<unsigned char>(element.bits), size, stream),
            label);
    if (element.bytes == 2)
        return core.check(
            driver.cuMemsetD16Async(to, static_cast<unsigned short>(element.bits), size, stream),
            label);
    const auto low = static_cast<std::uint32_t>(element.bits);
    const auto high = static_cast<std::uint32_t>(element.bits >> 32);
    if (element.bytes == 4 || low == high)
        return core.check(
            driver.cuMemsetD32Async(to, low, element.bytes == 4 ? size : 2 * size, stream), label);
    // Two columns of 32 bits, eight bytes apart.
    CUDA_AGENT_TRY(core.check(core.cuMemsetD2D32Async(to, 8, low, 1, size, stream), label));
    return core.check(core.cuMemsetD2D32Async(to + 4, 8, high, 1, size, stream), label);
}

} // namespace cuda_agent::plan::runner
