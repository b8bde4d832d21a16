// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cuda_context.h"

#include "core/base/hash.h"
#include "core/base/paths.h"
#include "core/device/cuda_judge_kernels.h"
#include "core/device/nvrtc_library.h"

#include <fstream>

namespace cuda_agent::device {

namespace {

/// The N of /dev/nvidiaN, which need not be the driver's ordinal; the ordinal where /proc is
/// silent.
int deviceMinor(const cuda::Driver &driver, CUdevice device, int ordinal) {
    char bus[32] = {};
    if (driver.cuDeviceGetPCIBusId(bus, sizeof bus, device) != CUDA_SUCCESS)
        return ordinal;
    std::string name = bus;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::ifstream file("/proc/driver/nvidia/gpus/" + name + "/information");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("Device Minor"))
            continue;
        const auto digit = line.find_first_of("0123456789");
        if (digit != std::string::npos)
            return std::atoi(line.c_str() + digit);
    }
    return ordinal;
}

} // namespace

Result<std::unique_ptr<CudaContext>> CudaContext::open(int ordinal) {
    CUDA_AGENT_ASSIGN(driver, cuda::Driver::load());
    if (ordinal < 0 || ordinal >= driver->deviceCount)
        return machineError("there is no GPU {}; the driver shows {} (0 to {})", ordinal,
                            driver->deviceCount, driver->deviceCount - 1);
    std::unique_ptr<CudaContext> context(new CudaContext());
    context->driver_ = driver;
    context->info_.index = ordinal;
    CUDA_AGENT_TRY(driver->check(driver->cuDeviceGet(&context->device_, ordinal), "cuDeviceGet"));
    CUDA_AGENT_TRY(context->inspect());
    CUDA_AGENT_TRY(
        driver->check(driver->cuDevicePrimaryCtxRetain(&context->context_, context->device_),
                      "cannot use " + context->info_.name));
    CUDA_AGENT_TRY(context->activate());
    CUDA_AGENT_TRY(driver->check(driver->cuStreamCreate(&context->stream_, CU_STREAM_NON_BLOCKING),
                                 "cuStreamCreate"));
    CUDA_AGENT_TRY(context->loadKernels());
    return context;
}

CudaContext::~CudaContext() {
    if (!context_)
        return;
    // Failures here mean that the context is broken already; there is nothing left to free then.
    if (activate()) {
        if (module_)
            driver_->cuModuleUnload(module_);
        if (stream_)
            driver_->cuStreamDestroy(stream_);
    }
    driver_->cuDevicePrimaryCtxRelease(device_);
}

Result<void> CudaContext::activate() {
    return driver_->check(driver_->cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

Result<int> CudaContext::attribute(CUdevice_attribute which) const {
    int value = 0;
    CUDA_AGENT_TRY(
        driver_->check(driver_->cuDeviceGetAttribute(&value, which, device_), "device attribute"));
    return value;
}

Result<void> CudaContext::inspect() {
    info_.kind = Kind::cuda;
    info_.index = deviceMinor(*driver_, device_, info_.index);
    info_.driverVersion = driver_->version;
    char name[256] = {};
    CUDA_AGENT_TRY(
        driver_->check(driver_->cuDeviceGetName(name, sizeof name - 1, device_), "device name"));
    info_.name = name;
    std::size_t memory = 0;
    CUDA_AGENT_TRY(driver_->check(driver_->cuDeviceTotalMem(&memory, device_), "device memory"));
    info_.memoryBytes = memory;
    CUDA_AGENT_ASSIGN(major, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    CUDA_AGENT_ASSIGN(minor, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    CUDA_AGENT_ASSIGN(processors, attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    CUDA_AGENT_ASSIGN(cache, attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
    CUDA_AGENT_ASSIGN(shared, attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    info_.architecture = fmt::format("sm_{}{}", major, minor);
    info_.multiprocessors = processors;
    info_.cacheBytes = static_cast<std::uint64_t>(std::max(cache, 0));
    info_.sharedBytesPerBlock = static_cast<std::uint64_t>(std::max(shared, 0));
    if (10 * major + minor < 75)
        return machineError("{} (sm_{}{}) is too old for CUDA 13, which needs sm_75 or later",
                            info_.name, major, minor);
    CUDA_AGENT_ASSIGN(virtualMemory,
                      attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED));
    CUDA_AGENT_ASSIGN(descriptors,
                      attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED));
    if (!virtualMemory || !descriptors)
        return machineError("{} cannot share memory between processes as file descriptors; use "
                            "--device cpu",
                            info_.name);
    return {};
}

Result<void> CudaContext::loadKernels() {
    const std::string text = judgeKernelText;
    const auto hash = sha256Hex(info_.architecture + "\n" + text);
    const auto file = cacheDir() / "judge" / (hash.substr(0, 32) + ".cubin");
    if (const auto cached = readTextFile(file))
        if (driver_->cuModuleLoadData(&module_, cached->c_str()) == CUDA_SUCCESS)
            return {};
    CUDA_AGENT_ASSIGN(folder, cuda::Nvrtc::findFolder(cuda::Nvrtc::folders()));
    CUDA_AGENT_ASSIGN(nvrtc, cuda::Nvrtc::load(folder));
    const auto result =
        nvrtc.compile(text, "judge.cu", {"--gpu-architecture=" + info_.architecture, "-std=c++17"});
    if (result.code != NVRTC_SUCCESS)
        return machineError("the judge's kernels do not compile for {}: {}: {}", info_.architecture,
                            nvrtc.describe(result.code), result.log);
    CUDA_AGENT_TRY(driver_->check(driver_->cuModuleLoadData(&module_, result.cubin.c_str()),
                                  "loading the judge's kernels"));
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    (void)writeFileAtomically(file, result.cubin); // only costs time when it fails
    return {};
}

Result<CUfunction> CudaContext::kernel(const char *name) {
    auto &function = kernels_[name];
    if (!function)
        CUDA_AGENT_TRY(
            driver_->check(driver_->cuModuleGetFunction(&function, module_, name), name));
    return function;
}

Result<void> CudaContext::launch(const char *name, unsigned blocks, void **arguments) {
    CUDA_AGENT_ASSIGN(function, kernel(name));
    return driver_->check(driver_->cuLaunchKernel(function, blocks, 1, 1, judgeThreads, 1, 1, 0,
                                                  stream_, arguments, nullptr),
                          name);
}

Result<void> CudaContext::synchronize(std::string_view what) {
    return driver_->check(driver_->cuStreamSynchronize(stream_), what);
}

unsigned CudaContext::blocksFor(std::uint64_t items) const {
    const auto needed = (items + judgeThreads - 1) / judgeThreads;
    const auto useful = static_cast<std::uint64_t>(info_.multiprocessors) * 8;
    return static_cast<unsigned>(std::clamp<std::uint64_t>(needed, 1, useful));
}

Result<CudaBuffer> CudaBuffer::create(CudaContext &context, std::uint64_t bytes) {
    CudaBuffer buffer;
    buffer.context_ = &context;
    CUDA_AGENT_TRY(context.driver().check(
        context.driver().cuMemAlloc(&buffer.address_, std::max<std::uint64_t>(bytes, 1)),
        fmt::format("{} MB of GPU memory", bytes >> 20)));
    buffer.bytes_ = bytes;
    return buffer;
}

CudaBuffer &CudaBuffer::operator=(CudaBuffer &&other) noexcept {
    if (this != &other) {
        release();
        context_ = other.context_;
        address_ = std::exchange(other.address_, 0);
        bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
}

void CudaBuffer::release() {
    if (address_ != 0 && context_->activate())
        context_->driver().cuMemFree(address_);
    address_ = 0;
    bytes_ = 0;
}

Result<CudaTimer> CudaTimer::create(CudaContext &context) {
    CudaTimer timer(context);
    const auto &driver = context.driver();
    CUDA_AGENT_TRY(driver.check(driver.cuEventCreate(&timer.start_, CU_EVENT_DEFAULT), "event"));
    CUDA_AGENT_TRY(driver.check(driver.cuEventCreate(&timer.end_, CU_EVENT_DEFAULT), "event"));
    return timer;
}

CudaTimer::~CudaTimer() {
    for (const auto event : {start_, end_})
        if (event)
            context_->driver().cuEventDestroy(event);
}

Result<void> CudaTimer::start() {
    const auto &driver = context_->driver();
    return driver.check(driver.cuEventRecord(start_, context_->stream()), "event record");
}

Result<double> CudaTimer::stop() {
    const auto &driver = context_->driver();
    CUDA_AGENT_TRY(driver.check(driver.cuEventRecord(end_, context_->stream()), "event record"));
    CUDA_AGENT_TRY(driver.check(driver.cuEventSynchronize(end_), "waiting for the GPU"));
    float milliseconds = 0;
    CUDA_AGENT_TRY(
        driver.check(driver.cuEventElapsedTime(&milliseconds, start_, end_), "elapsed time"));
    return static_cast<double>(milliseconds) * 1e-3;
}

} // namespace cuda_agent::device
