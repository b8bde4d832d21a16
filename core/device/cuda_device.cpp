// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cuda_device.h"

#include "core/device/ceilings.h"
#include "core/device/cuda_judge_kernels.h"
#include "core/device/quarantine.h"
#include "core/device/view.h"

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>

namespace cuda_agent::device {

namespace {

CUdeviceptr at(const Memory &memory, std::uint64_t offset) {
    return reinterpret_cast<CUdeviceptr>(memory.data()) + offset;
}

double halfToDouble(std::uint16_t bits) {
    const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
    float value = std::bit_cast<float>(magnitude) * 0x1p112f;
    if ((bits & 0x7c00u) == 0x7c00u)
        value = std::bit_cast<float>(magnitude | 0x7f800000u);
    return (bits & 0x8000u) != 0 ? -value : value;
}

template <typename T>
double as(const void *bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
}

double numberFrom(const void *bytes, DType dtype) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    switch (dtype) {
    case DType::float16:
        return halfToDouble(bits);
    case DType::bfloat16:
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    case DType::float32:
        return as<float>(bytes);
    case DType::float64:
        return as<double>(bytes);
    case DType::int8:
        return as<std::int8_t>(bytes);
    case DType::uint8:
    case DType::boolean:
        return as<std::uint8_t>(bytes);
    case DType::int16:
        return as<std::int16_t>(bytes);
    case DType::int32:
        return as<std::int32_t>(bytes);
    case DType::int64:
        return as<std::int64_t>(bytes);
    }
    return 0;
}

} // namespace

Result<std::unique_ptr<Device>> CudaDevice::open(int ordinal) {
    std::unique_ptr<CudaDevice> device(new CudaDevice());
    CUDA_AGENT_ASSIGN(context, CudaContext::open(ordinal));
    device->context_ = std::move(context);
    auto &properties = device->properties_;
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device->context_->device();
    properties.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
    const auto &driver = device->context_->driver();
    std::size_t granularity = 0;
    CUDA_AGENT_TRY(driver.check(driver.cuMemGetAllocationGranularity(
                                    &granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                                "cuMemGetAllocationGranularity"));
    if (granularity == 0)
        return machineError("the driver gives no memory granularity");
    device->granularity_ = granularity;
    const auto blocks = device->context_->blocksFor(~0ull / 2);
    CUDA_AGENT_ASSIGN(scratch,
                      CudaBuffer::create(*device->context_, blocks * sizeof(JudgePartial)));
    device->scratch_ = std::move(scratch);
    CUDA_AGENT_ASSIGN(timer, CudaTimer::create(*device->context_));
    device->timer_.emplace(std::move(timer));
    return device;
}

std::uint64_t CudaDevice::rounded(std::uint64_t bytes) const {
    const auto units = bytes / granularity_ + (bytes % granularity_ != 0 || bytes == 0 ? 1 : 0);
    return units * granularity_;
}

Result<Memory> CudaDevice::map(CUmemGenericAllocationHandle handle, std::uint64_t bytes,
                               std::uint64_t mapped) {
    const auto &driver = context_->driver();
    CUdeviceptr address = 0;
    CUDA_AGENT_TRY(driver.check(driver.cuMemAddressReserve(&address, mapped, 0, 0, 0),
                                "reserving GPU addresses"));
    if (const auto code = driver.cuMemMap(address, mapped, 0, handle, 0); code != CUDA_SUCCESS) {
        driver.cuMemAddressFree(address, mapped);
        return machineError("mapping {} bytes of shared GPU memory (is it smaller than "
                            "announced?): {}",
                            bytes, driver.describe(code));
    }
    Memory memory;
    memory.data_ = reinterpret_cast<void *>(address);
    memory.bytes_ = bytes;
    memory.mappedBytes_ = mapped;
    memory.release_ = [](Memory &self) {
        // Loaded for as long as such a memory exists.
        const auto loaded = cuda::Driver::load();
        const auto start = reinterpret_cast<CUdeviceptr>(self.data_);
        if (loaded && (*loaded)->cuMemUnmap(start, self.mappedBytes_) == CUDA_SUCCESS)
            (*loaded)->cuMemAddressFree(start, self.mappedBytes_);
    };
    CUmemAccessDesc access{};
    access.location = properties_.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CUDA_AGENT_TRY(driver.check(driver.cuMemSetAccess(address, mapped, &access, 1),
                                "opening shared GPU memory"));
    return memory;
}

Result<Memory> CudaDevice::allocate(std::uint64_t bytes) {
    CUDA_AGENT_TRY(context_->activate());
    const auto &driver = context_->driver();
    if (bytes > info().memoryBytes)
        return machineError("{} MB of GPU memory asked for, {} has {} MB; use smaller inputs "
                            "(--set)",
                            bytes >> 20, info().name, info().memoryBytes >> 20);
    const auto size = rounded(bytes);
    CUmemGenericAllocationHandle handle = 0;
    if (const auto code = driver.cuMemCreate(&handle, size, &properties_, 0);
        code != CUDA_SUCCESS) {
        if (code == CUDA_ERROR_OUT_OF_MEMORY)
            return machineError("not enough GPU memory: {} MB needed, {} MB free; use smaller "
                                "inputs (--set) or end other programs on {}",
                                size >> 20, freeBytes().value_or(0) >> 20, info().name);
        return machineError("allocating {} MB of GPU memory: {}", size >> 20,
                            driver.describe(code));
    }
    auto memory = map(handle, bytes, size);
    Result<void> exported;
    if (memory) {
        int fd = -1;
        exported = driver.check(driver.cuMemExportToShareableHandle(
                                    &fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                                "exporting GPU memory");
        if (exported) {
            memory->fd_ = UniqueFd(fd);
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        }
    }
    // The mapping and the descriptor keep the allocation.
    driver.cuMemRelease(handle);
    if (!exported)
        return tl::unexpected(exported.error());
    return memory;
}

Result<Memory> CudaDevice::import(UniqueFd fd, std::uint64_t bytes) {
    if (!fd)
        return machineError("a worker lent no memory");
    if (bytes > info().memoryBytes)
        return machineError("a worker announced {} bytes of GPU memory, {} has {}", bytes,
                            info().name, info().memoryBytes);
    CUDA_AGENT_TRY(context_->activate());
    const auto &driver = context_->driver();
    CUmemGenericAllocationHandle handle = 0;
    CUDA_AGENT_TRY(
        driver.check(driver.cuMemImportFromShareableHandle(
                         &handle, reinterpret_cast<void *>(static_cast<std::intptr_t>(fd.get())),
                         CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                     "taking over GPU memory of a worker"));
    // Host memory in place of device memory would be read over the bus, with the host's rules. (The
    // device's number is not compared: the lender may count its devices in another way.)
    CUmemAllocationProp theirs{};
    if (driver.cuMemGetAllocationPropertiesFromHandle(&theirs, handle) == CUDA_SUCCESS &&
        theirs.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        driver.cuMemRelease(handle);
        return machineError("a worker lent memory that is not on {}", info().name);
    }
    auto memory = map(handle, bytes, rounded(bytes));
    driver.cuMemRelease(handle);
    if (memory)
        memory->fd_ = std::move(fd);
    return memory;
}

Result<std::uint64_t> CudaDevice::freeBytes() {
    CUDA_AGENT_TRY(context_->activate());
    std::size_t free = 0;
    std::size_t total = 0;
    const auto &driver = context_->driver();
    CUDA_AGENT_TRY(driver.check(driver.cuMemGetInfo(&free, &total), "free GPU memory"));
    return free;
}

Result<void> CudaDevice::write(Memory &to, std::uint64_t offset, const void *from,
                               std::uint64_t bytes) {
    CUDA_AGENT_TRY(checkRange(to, offset, bytes));
    if (bytes == 0)
        return {};
    CUDA_AGENT_TRY(context_->activate());
    const auto &driver = context_->driver();
    CUDA_AGENT_TRY(driver.check(
        driver.cuMemcpyHtoDAsync(at(to, offset), from, bytes, context_->stream()), "copy to GPU"));
    return context_->synchronize("copy to GPU");
}

Result<void> CudaDevice::read(const Memory &from, std::uint64_t offset, void *to,
                              std::uint64_t bytes) {
    CUDA_AGENT_TRY(checkRange(from, offset, bytes));
    if (bytes == 0)
        return {};
    CUDA_AGENT_TRY(context_->activate());
    const auto &driver = context_->driver();
    CUDA_AGENT_TRY(
        driver.check(driver.cuMemcpyDtoHAsync(to, at(from, offset), bytes, context_->stream()),
                     "copy from GPU"));
    return context_->synchronize("copy from GPU");
}

Result<void> CudaDevice::copy(Memory &to, std::uint64_t toOffset, const Memory &from,
                              std::uint64_t fromOffset, std::uint64_t bytes) {
    CUDA_AGENT_TRY(checkRange(to, toOffset, bytes));
    CUDA_AGENT_TRY(checkRange(from, fromOffset, bytes));
    const auto apart = toOffset > fromOffset ? toOffset - fromOffset : fromOffset - toOffset;
    if (to.data() == from.data() && apart < bytes)
        return machineError("a copy inside one memory overlaps itself");
    if (bytes == 0)
        return {};
    CUDA_AGENT_TRY(context_->activate());
    const auto &driver = context_->driver();
    CUDA_AGENT_TRY(driver.check(
        driver.cuMemcpyDtoDAsync(at(to, toOffset), at(from, fromOffset), bytes, context_->stream()),
        "copy on GPU"));
    return context_->synchronize("copy on GPU");
}

Result<void> CudaDevice::fill(Memory &to, std::uint64_t offset, std::uint64_t bytes,
                              std::uint32_t word) {
    CUDA_AGENT_TRY(checkRange(to, offset, bytes));
    if (bytes == 0)
        return {};
    CUDA_AGENT_TRY(context_->activate());
    auto base = at(to, 0);
    void *arguments[] = {&base, &offset, &bytes, &word};
    CUDA_AGENT_TRY(context_->launch("fill", context_->blocksFor(bytes / 16 + 2), arguments));
    return context_->synchronize("fill on GPU");
}

Result<std::uint64_t> CudaDevice::reduce(const char *kernel, unsigned blocks, void **arguments,
                                         std::uint64_t initial, void *&resultArgument) {
    const auto &driver = context_->driver();
    auto place = scratch_.address();
    resultArgument = &place;
    CUDA_AGENT_TRY(driver.check(
        driver.cuMemcpyHtoDAsync(place, &initial, sizeof initial, context_->stream()), kernel));
    CUDA_AGENT_TRY(context_->launch(kernel, blocks, arguments));
    std::uint64_t result = 0;
    CUDA_AGENT_TRY(driver.check(
        driver.cuMemcpyDtoHAsync(&result, place, sizeof result, context_->stream()), kernel));
    CUDA_AGENT_TRY(context_->synchronize(kernel));
    return result;
}

Result<std::optional<std::uint64_t>> CudaDevice::firstChange(const Memory &memory,
                                                             std::uint64_t offset,
                                                             std::uint64_t bytes,
                                                             std::uint32_t word) {
    CUDA_AGENT_TRY(checkRange(memory, offset, bytes));
    if (bytes == 0)
        return std::nullopt;
    CUDA_AGENT_TRY(context_->activate());
    auto base = at(memory, 0);
    void *arguments[] = {&base, &offset, &bytes, &word, nullptr};
    CUDA_AGENT_ASSIGN(first, reduce("first_change", context_->blocksFor(bytes / 16 + 2), arguments,
                                    ~0ull, arguments[4]));
    if (first == ~0ull)
        return std::nullopt;
    return first;
}

Result<std::uint64_t> CudaDevice::digest(const Memory &memory, std::uint64_t offset,
                                         std::uint64_t bytes, std::uint64_t key) {
    CUDA_AGENT_TRY(checkRange(memory, offset, bytes));
    CUDA_AGENT_TRY(context_->activate());
    auto start = at(memory, offset);
    void *arguments[] = {&start, &bytes, &key, nullptr};
    CUDA_AGENT_ASSIGN(
        sum, reduce("digest", context_->blocksFor(bytes / 8 + 1), arguments, 0, arguments[3]));
    return judgeMix(sum ^ judgeMix(key + bytes));
}

Result<double> CudaDevice::elementAt(const TensorView &view, std::int64_t index) {
    std::uint64_t element = 0;
    for (std::size_t i = view.type.shape.size(); i-- > 0;) {
        element += static_cast<std::uint64_t>(index % view.type.shape[i] * view.type.strides[i]);
        index /= view.type.shape[i];
    }
    const auto size = sizeOf(view.type.dtype);
    std::uint8_t bytes[8] = {};
    CUDA_AGENT_TRY(read(*view.memory, view.offset + element * size, bytes, size));
    return numberFrom(bytes, view.type.dtype);
}

Result<ErrorStats> CudaDevice::compare(const TensorView &candidate, const TensorView &oracle) {
    CUDA_AGENT_TRY(checkComparison(candidate, oracle));
    auto elements = candidate.type.elements();
    if (elements == 0)
        return ErrorStats();
    const auto shape = collapsed(candidate.type);
    if (shape.shape.size() > judgeMaxRank)
        return machineError("an output with {} strided dimensions cannot be compared; at most {}",
                            shape.shape.size(), judgeMaxRank);
    JudgeLayout layout{};
    layout.rank = static_cast<std::int64_t>(shape.shape.size());
    std::copy(shape.shape.begin(), shape.shape.end(), layout.shape);
    std::copy(shape.strides.begin(), shape.strides.end(), layout.strides);
    auto candidateAddress = at(*candidate.memory, candidate.offset);
    auto oracleAddress = at(*oracle.memory, oracle.offset);
    auto scratch = scratch_.address();
    void *arguments[] = {&candidateAddress, &layout, &oracleAddress, &elements, &scratch};
    const auto dtype = candidate.type.dtype == DType::boolean ? DType::uint8 : candidate.type.dtype;
    const auto kernel = fmt::format("compare_{}", nameOf(dtype));
    const auto blocks = context_->blocksFor(static_cast<std::uint64_t>(elements));
    CUDA_AGENT_TRY(context_->activate());
    CUDA_AGENT_TRY(context_->launch(kernel.c_str(), blocks, arguments));
    std::vector<JudgePartial> partials(blocks);
    const auto &driver = context_->driver();
    CUDA_AGENT_TRY(
        driver.check(driver.cuMemcpyDtoHAsync(partials.data(), scratch,
                                              blocks * sizeof(JudgePartial), context_->stream()),
                     kernel));
    CUDA_AGENT_TRY(context_->synchronize(kernel));

    ErrorStats stats;
    stats.elements = elements;
    stats.maxError = -1;
    std::uint64_t first = ~0ull;
    for (const auto &partial : partials) {
        stats.errorSquared += partial.errorSquared;
        stats.oracleSquared += partial.oracleSquared;
        stats.maxOracle = std::max(stats.maxOracle, partial.maxOracle);
        stats.unconstrained += partial.unconstrained;
        stats.nonFiniteMismatches += partial.nonFiniteMismatches;
        stats.integerMismatches += partial.integerMismatches;
        first = std::min(first, partial.firstMismatch);
        if (partial.maxErrorIndex >= 0 &&
            (partial.maxError > stats.maxError ||
             (partial.maxError == stats.maxError && partial.maxErrorIndex < stats.maxErrorIndex))) {
            stats.maxError = partial.maxError;
            stats.maxErrorIndex = partial.maxErrorIndex;
        }
    }
    stats.maxError = std::max(stats.maxError, 0.0);
    if (first != ~0ull)
        stats.firstMismatch = static_cast<std::int64_t>(first);
    const auto place = stats.firstMismatch >= 0 ? stats.firstMismatch : stats.maxErrorIndex;
    if (place >= 0) {
        CUDA_AGENT_ASSIGN(expected, elementAt(oracle, place));
        CUDA_AGENT_ASSIGN(got, elementAt(candidate, place));
        stats.expected = expected;
        stats.got = got;
    }
    return stats;
}

Result<double> CudaDevice::timeCopy(std::uint64_t bytes) {
    CUDA_AGENT_TRY(context_->activate());
    // Both halves aligned as allocations are, else the copy would be a slower one.
    const auto half = (std::max<std::uint64_t>(bytes / 2, 1) + 255) / 256 * 256;
    if (copyBuffer_.bytes() < 2 * half) {
        copyBuffer_.release();
        CUDA_AGENT_ASSIGN(buffer, CudaBuffer::create(*context_, 2 * half));
        copyBuffer_ = std::move(buffer);
    }
    const auto from = copyBuffer_.address();
    const auto &driver = context_->driver();
    CUDA_AGENT_TRY(timer_->start());
    CUDA_AGENT_TRY(driver.check(
        driver.cuMemcpyDtoDAsync(from + half, from, half, context_->stream()), "timed copy"));
    return timer_->stop();
}

Result<Ceilings> CudaDevice::measureCeilings() {
    CUDA_AGENT_TRY(context_->activate());
    copyBuffer_.release();
    return measureCudaCeilings(*context_);
}

Result<std::unique_ptr<Device>> openCuda(int index) {
    // Before the driver is asked for anything: that alone may wait for ever. Where only some GPUs
    // are shown, what the driver calls 0 is another one; then taking a lease tells.
    if (std::getenv("CUDA_VISIBLE_DEVICES") == nullptr)
        CUDA_AGENT_TRY(checkNotQuarantined(fmt::format("cuda{}", index)));
    return CudaDevice::open(index);
}

Result<std::unique_ptr<Device>> openAuto() {
    // A GPU that is there and fails is an error to be told, not a reason to go on without it.
    if (cuda::Driver::load())
        return openCuda();
    return openCpu();
}

Result<std::unique_ptr<Device>> openNamed(std::string_view name) {
    if (name == "cpu")
        return openCpu();
    if (name == "cuda")
        return openCuda();
    if (name == "auto")
        return openAuto();
    return requestError("there is no device '{}'; use auto, cuda or cpu", name);
}

} // namespace cuda_agent::device
