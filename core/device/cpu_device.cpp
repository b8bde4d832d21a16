// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cpu_device.h"

#include "core/device/ceilings.h"
#include "core/device/cpu_info.h"
#include "core/device/cpu_kernels.h"
#include "core/device/view.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace cuda_agent::device {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int lengthSeals = F_SEAL_SHRINK | F_SEAL_GROW;
/// Kept for the rest of the machine when a memory is made.
constexpr std::uint64_t reserveBytes = 64ull << 20;

std::byte *at(const Memory &memory, std::uint64_t offset) {
    return static_cast<std::byte *>(memory.data()) + offset;
}

/// Fixes the length of the file for every holder.
Result<void> sealLength(int fd) {
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0)
        return machineError("shared memory must be a memfd: {}", std::strerror(errno));
    if ((seals & lengthSeals) != lengthSeals && fcntl(fd, F_ADD_SEALS, lengthSeals) != 0)
        return machineError(
            "cannot seal shared memory against shortening ({}); its maker must pass "
            "MFD_ALLOW_SEALING",
            std::strerror(errno));
    return {};
}

} // namespace

CpuDevice::CpuDevice() : info_(inspectCpu()) {}

void PageRelease::operator()(void *pointer) const {
    munmap(pointer, bytes);
}

Result<Memory> CpuDevice::map(UniqueFd fd, std::uint64_t bytes) {
    const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
    void *data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (data == MAP_FAILED)
        return machineError("cannot map {} bytes of shared memory: {}", bytes,
                            std::strerror(errno));
    Memory memory;
    memory.fd_ = std::move(fd);
    memory.data_ = data;
    memory.bytes_ = bytes;
    memory.mappedBytes_ = size;
    memory.release_ = [](Memory &self) { munmap(self.data_, self.mappedBytes_); };
    return memory;
}

Result<Memory> CpuDevice::allocate(std::uint64_t bytes) {
    const auto available = freeHostBytes();
    if (bytes > available || available - bytes < reserveBytes)
        return machineError("not enough memory: {} MB needed, {} MB free; use smaller inputs "
                            "(--set) or close other programs",
                            bytes >> 20, available >> 20);
    UniqueFd fd(memfd_create("cuda-agent", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd)
        return machineError("cannot create shared memory: {}", std::strerror(errno));
    const auto size = static_cast<off_t>(std::max<std::uint64_t>(bytes, 1));
    if (ftruncate(fd.get(), size) != 0)
        return machineError("cannot create {} bytes of shared memory: {}", bytes,
                            std::strerror(errno));
    // Takes the pages now, so that a lack of memory is an error here and not a signal later.
    int failed = 0;
    do
        failed = fallocate(fd.get(), 0, 0, size) == 0 ? 0 : errno;
    while (failed == EINTR);
    if (failed != 0)
        return machineError("not enough memory for {} MB: {}", bytes >> 20, std::strerror(failed));
    if (fcntl(fd.get(), F_ADD_SEALS, lengthSeals | F_SEAL_SEAL) != 0)
        return machineError("cannot seal shared memory: {}", std::strerror(errno));
    return map(std::move(fd), bytes);
}

Result<Memory> CpuDevice::import(UniqueFd fd, std::uint64_t bytes) {
    if (!fd)
        return machineError("a worker lent no memory");
    CUDA_AGENT_TRY(sealLength(fd.get()));
    struct stat status {};
    if (fstat(fd.get(), &status) != 0)
        return machineError("cannot inspect shared memory: {}", std::strerror(errno));
    if (static_cast<std::uint64_t>(status.st_size) < std::max<std::uint64_t>(bytes, 1))
        return machineError("a worker lent {} bytes where {} were announced", status.st_size,
                            bytes);
    return map(std::move(fd), bytes);
}

Result<std::uint64_t> CpuDevice::freeBytes() {
    const auto available = freeHostBytes();
    return available > reserveBytes ? available - reserveBytes : 0;
}

Result<void> CpuDevice::write(Memory &to, std::uint64_t offset, const void *from,
                              std::uint64_t bytes) {
    CUDA_AGENT_TRY(checkRange(to, offset, bytes));
    copyBytes(crew_, at(to, offset), from, bytes);
    return {};
}

Result<void> CpuDevice::read(const Memory &from, std::uint64_t offset, void *to,
                             std::uint64_t bytes) {
    CUDA_AGENT_TRY(checkRange(from, offset, bytes));
    copyBytes(crew_, to, at(from, offset), bytes);
    return {};
}

Result<void> CpuDevice::copy(Memory &to, std::uint64_t toOffset, const Memory &from,
                             std::uint64_t fromOffset, std::uint64_t bytes) {
    CUDA_AGENT_TRY(checkRange(to, toOffset, bytes));
    CUDA_AGENT_TRY(checkRange(from, fromOffset, bytes));
    const auto apart = toOffset > fromOffset ? toOffset - fromOffset : fromOffset - toOffset;
    if (to.data() == from.data() && apart < bytes)
        return machineError("a copy inside one memory overlaps itself");
    copyBytes(crew_, at(to, toOffset), at(from, fromOffset), bytes);
    return {};
}

Result<void> CpuDevice::fill(Memory &to, std::uint64_t offset, std::uint64_t bytes,
                             std::uint32_t word) {
    CUDA_AGENT_TRY(checkRange(to, offset, bytes));
    fillBytes(crew_, at(to, offset), bytes, word, offset);
    return {};
}

Result<std::optional<std::uint64_t>> CpuDevice::firstChange(const Memory &memory,
                                                            std::uint64_t offset,
                                                            std::uint64_t bytes,
                                                            std::uint32_t word) {
    CUDA_AGENT_TRY(checkRange(memory, offset, bytes));
    auto place = firstChangedByte(crew_, at(memory, offset), bytes, word, offset);
    if (place)
        *place += offset;
    return place;
}

Result<std::uint64_t> CpuDevice::digest(const Memory &memory, std::uint64_t offset,
                                        std::uint64_t bytes, std::uint64_t key) {
    CUDA_AGENT_TRY(checkRange(memory, offset, bytes));
    return digestBytes(crew_, at(memory, offset), bytes, key);
}

Result<ErrorStats> CpuDevice::compare(const TensorView &candidate, const TensorView &oracle) {
    CUDA_AGENT_TRY(checkComparison(candidate, oracle));
    if (candidate.type.elements() == 0)
        return ErrorStats();
    const auto layout = collapsed(candidate.type);
    return compareTensors(crew_, at(*candidate.memory, candidate.offset), candidate.type.dtype,
                          layout.shape, layout.strides, at(*oracle.memory, oracle.offset));
}

Result<CpuDevice::Pages> CpuDevice::privatePages(std::uint64_t bytes) {
    void *data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (data == MAP_FAILED)
        return machineError("not enough memory for a copy of {} MB", bytes >> 20);
    return Pages(data, PageRelease{bytes});
}

Result<double> CpuDevice::timeCopy(std::uint64_t bytes) {
    const std::uint64_t half = std::max<std::uint64_t>(bytes / 2, 1);
    if (!copyPages_ || copyPages_.get_deleter().bytes < 2 * half) {
        copyPages_.reset();
        CUDA_AGENT_ASSIGN(pages, privatePages(2 * half));
        copyPages_ = std::move(pages);
    }
    auto *from = static_cast<std::byte *>(copyPages_.get());
    auto *to = from + copyPages_.get_deleter().bytes / 2;
    // One small copy is shorter than the clock can tell; repeat it to a measurable span.
    const std::uint64_t repeats = std::max<std::uint64_t>(1, (256u << 10) / half);
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < repeats; ++i) {
        copyBytes(crew_, to, from, half);
        asm volatile("" ::: "memory");
    }
    const std::chrono::duration<double> spent = Clock::now() - start;
    return spent.count() / static_cast<double>(repeats);
}

Result<Ceilings> CpuDevice::measureCeilings() {
    const auto half = std::min<std::uint64_t>(8 * info_.cacheBytes, 512ull << 20);
    double best = 0;
    for (int i = 0; i < 8; ++i) {
        CUDA_AGENT_ASSIGN(seconds, timeCopy(2 * half));
        best = i == 0 ? seconds : std::min(best, seconds);
    }
    copyPages_.reset();
    Ceilings ceilings;
    ceilings.copyBytesPerSecond = 2 * static_cast<double>(half) / best;
    ceilings.fp32FlopsPerSecond = measureCpuFlops(crew_.size());
    ceilings.levels = measureCpuLevels(cpuCaches(), crew_.size());
    return ceilings;
}

Result<std::unique_ptr<Device>> openCpu() {
    return std::make_unique<CpuDevice>();
}

} // namespace cuda_agent::device
