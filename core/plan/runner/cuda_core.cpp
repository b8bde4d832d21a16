// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/cuda_core.h"

#include <dlfcn.h>

namespace cuda_agent::plan::runner {

namespace {

#define CUDA_AGENT_TEXT_OF(name) #name
#define CUDA_AGENT_TEXT(name) CUDA_AGENT_TEXT_OF(name)

/// "CUDA error 700 an illegal memory access was encountered".
std::string describe(const device::cuda::Driver &driver, CUresult code) {
    const char *text = nullptr;
    if (driver.cuGetErrorString(code, &text) != CUDA_SUCCESS || text == nullptr)
        text = "of no known kind";
    return fmt::format("CUDA error {} {}", static_cast<int>(code), text);
}

bool isMachines(CUresult code) {
    switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return true;
    default:
        return false;
    }
}

} // namespace

Result<std::unique_ptr<CudaCore>> CudaCore::open() {
    std::unique_ptr<CudaCore> core(new CudaCore());
    CUDA_AGENT_ASSIGN(driver, device::cuda::Driver::load());
    core->driver_ = driver;
    // Already loaded: this only adds to the handle's count.
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    core->cuFuncGetParamInfo = reinterpret_cast<decltype(&::cuFuncGetParamInfo)>(
        dlsym(library, CUDA_AGENT_TEXT(cuFuncGetParamInfo)));
    core->cuMemsetD2D32Async = reinterpret_cast<decltype(&::cuMemsetD2D32Async)>(
        dlsym(library, CUDA_AGENT_TEXT(cuMemsetD2D32Async)));
    if (core->cuFuncGetParamInfo == nullptr || core->cuMemsetD2D32Async == nullptr)
        return machineError("the NVIDIA driver is too old for the plan runner; update it to 580 or "
                            "later");
    CUDA_AGENT_TRY(core->expect(driver->cuDeviceGet(&core->device_, 0), "opening the GPU"));
    CUDA_AGENT_TRY(core->expect(driver->cuDevicePrimaryCtxRetain(&core->context_, core->device_),
                                "opening the GPU"));
    CUDA_AGENT_TRY(core->expect(driver->cuCtxSetCurrent(core->context_), "opening the GPU"));
    CUDA_AGENT_TRY(core->expect(driver->cuStreamCreate(&core->stream_, CU_STREAM_NON_BLOCKING),
                                "making a stream"));
    return core;
}

Result<void> CudaCore::check(CUresult code, std::string_view where) const {
    if (code == CUDA_SUCCESS)
        return {};
    // A launch that finds no memory for its stacks is the candidate's doing.
    if (isMachines(code) && code != CUDA_ERROR_OUT_OF_MEMORY)
        return machineError("{} in {}", describe(*driver_, code), where);
    return failedError("{} in {}", describe(*driver_, code), where);
}

Result<void> CudaCore::expect(CUresult code, std::string_view doing) const {
    if (code == CUDA_SUCCESS)
        return {};
    if (device::cuda::isSticky(code) && !isMachines(code))
        return failedError("{} while {}", describe(*driver_, code), doing);
    return machineError("{} while {}", describe(*driver_, code), doing);
}

Result<void> CudaCore::synchronize(std::string_view where) const {
    return check(driver_->cuCtxSynchronize(), where);
}

CudaMemory &CudaMemory::operator=(CudaMemory &&other) noexcept {
    std::swap(core_, other.core_);
    std::swap(address_, other.address_);
    std::swap(mappedBytes_, other.mappedBytes_);
    std::swap(guardBytes_, other.guardBytes_);
    return *this;
}

CudaMemory::~CudaMemory() {
    if (core_ == nullptr || address_ == 0)
        return;
    const auto &driver = core_->driver();
    if (mappedBytes_ == 0) {
        driver.cuMemFree(address_);
    } else {
        driver.cuMemUnmap(address_, mappedBytes_); // fails where mapping it did
        driver.cuMemAddressFree(address_ - guardBytes_, mappedBytes_ + 2 * guardBytes_);
    }
}

Result<CudaMemory> CudaMemory::make(const CudaCore &core, std::uint64_t bytes,
                                    std::optional<unsigned char> poison) {
    CudaMemory memory;
    memory.core_ = &core;
    const auto &driver = core.driver();
    const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
    CUDA_AGENT_TRY(core.expect(driver.cuMemAlloc(&memory.address_, size),
                               fmt::format("allocating {} bytes of scratch", bytes)));
    if (!poison)
        return memory;
    CUDA_AGENT_TRY(
        core.expect(driver.cuMemsetD8Async(memory.address_, *poison, size, core.stream()),
                    "poisoning scratch"));
    CUDA_AGENT_TRY(core.expect(driver.cuStreamSynchronize(core.stream()), "poisoning scratch"));
    return memory;
}

Result<CudaMemory> CudaMemory::import(const CudaCore &core, UniqueFd fd, std::uint64_t bytes) {
    const auto &driver = core.driver();
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {core.device()}};
    std::size_t granularity = 0;
    CUDA_AGENT_TRY(core.expect(driver.cuMemGetAllocationGranularity(
                                   &granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                               "asking for the memory granularity"));
    const std::uint64_t size =
        (std::max<std::uint64_t>(bytes, 1) + granularity - 1) / granularity * granularity;

    CUmemGenericAllocationHandle handle = 0;
    CUDA_AGENT_TRY(
        core.expect(driver.cuMemImportFromShareableHandle(
                        &handle, reinterpret_cast<void *>(static_cast<std::intptr_t>(fd.get())),
                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                    "taking over lent memory"));
    // Nothing is mapped right before it and behind it, so that an index that leaves it faults.
    CudaMemory memory;
    CUdeviceptr reserved = 0;
    auto done = core.expect(driver.cuMemAddressReserve(&reserved, size + 2 * granularity, 0, 0, 0),
                            "reserving addresses for lent memory");
    if (done) {
        memory.core_ = &core;
        memory.address_ = reserved + granularity;
        memory.mappedBytes_ = size;
        memory.guardBytes_ = granularity;
        done = core.expect(driver.cuMemMap(memory.address_, size, 0, handle, 0),
                           "mapping lent memory");
    }
    // The mapping keeps the allocation.
    driver.cuMemRelease(handle);
    if (!done)
        return tl::unexpected(done.error());
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CUDA_AGENT_TRY(core.expect(driver.cuMemSetAccess(memory.address_, size, &access, 1),
                               "opening lent memory"));
    return memory;
}

} // namespace cuda_agent::plan::runner
