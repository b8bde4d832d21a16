// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/cpu_memory.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace cuda_agent::plan::runner {

namespace {

constexpr std::size_t band = std::size_t{64} << 20;
constexpr std::size_t maxBytes = std::size_t{1} << 46;

std::size_t roundUp(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
}

std::size_t pageBytes() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

GuardedPages::GuardedPages(GuardedPages &&other) noexcept
    : reservation_(std::exchange(other.reservation_, nullptr)),
      reserved_(std::exchange(other.reserved_, 0)), data_(std::exchange(other.data_, nullptr)) {}

GuardedPages &GuardedPages::operator=(GuardedPages &&other) noexcept {
    std::swap(reservation_, other.reservation_);
    std::swap(reserved_, other.reserved_);
    std::swap(data_, other.data_);
    return *this;
}

GuardedPages::~GuardedPages() {
    if (reservation_ != nullptr)
        munmap(reservation_, reserved_);
}

Result<void> GuardedPages::reserve(std::uint64_t bytes) {
    reserved_ = roundUp(std::max<std::size_t>(bytes, 1), pageBytes()) + 2 * band;
    reservation_ =
        mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reservation_ == MAP_FAILED) {
        reservation_ = nullptr;
        return machineError("no address space for {} bytes: {}", bytes, std::strerror(errno));
    }
    return {};
}

Result<GuardedPages> GuardedPages::make(std::uint64_t bytes, std::uint32_t alignment,
                                        unsigned char poison) {
    if (bytes > maxBytes)
        return machineError("{} bytes of memory are more than this machine has", bytes);
    GuardedPages pages;
    CUDA_AGENT_TRY(pages.reserve(bytes));
    const auto mapped = pages.reserved_ - 2 * band;
    auto *begin = static_cast<std::byte *>(pages.reservation_) + band;
    if (mprotect(begin, mapped, PROT_READ | PROT_WRITE) != 0)
        return machineError("out of memory for {} bytes: {}", bytes, std::strerror(errno));
    std::memset(begin, poison, mapped);
    pages.data_ = begin + (mapped - roundUp(bytes, std::max<std::size_t>(alignment, 64)));
    return pages;
}

Result<GuardedPages> GuardedPages::map(int fd, std::uint64_t bytes) {
    struct stat info {};
    if (fstat(fd, &info) != 0 || bytes > maxBytes ||
        static_cast<std::uint64_t>(info.st_size) < bytes)
        return machineError("the lent memory is smaller than the {} bytes that were announced",
                            bytes);
    GuardedPages pages;
    CUDA_AGENT_TRY(pages.reserve(bytes));
    const auto mapped = pages.reserved_ - 2 * band;
    auto *begin = static_cast<std::byte *>(pages.reservation_) + band;
    if (bytes > 0 &&
        mmap(begin, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
        return machineError("cannot map the lent memory: {}", std::strerror(errno));
    pages.data_ = begin;
    return pages;
}

} // namespace cuda_agent::plan::runner
