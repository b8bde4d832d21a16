// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/sanit_memory.h"

#include "core/plan/runner/sanit_host.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace cuda_agent::plan::runner::sanit {

LazyPages::LazyPages(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    void *pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = pages == MAP_FAILED ? nullptr : pages;
}

LazyPages::~LazyPages() {
    if (data_ != nullptr)
        munmap(data_, bytes_);
}

Region::Region(std::string name, RegionKind kind, std::uintptr_t begin, std::uint64_t bytes,
               unsigned elementBytes)
    : name_(std::move(name)), kind_(kind), begin_(begin), end_(begin + bytes),
      elementBytes_(elementBytes) {
    // Threads share no element, so an element is fine enough; what is in shared memory nobody says.
    // Memory of the host is mostly of words.
    shift_ = elementBytes >= 4 || (elementBytes == 0 && kind == RegionKind::host) ? 2
             : elementBytes >= 2                                                  ? 1
                                                                                  : 0;
    granules_ = (bytes + granule() - 1) >> shift_;
    cells_ = LazyPages(granules_ * sizeof(Cell));
    written_ = LazyPages(granules_);
}

bool Region::holdsPoison(std::size_t index) const {
    const auto at = begin_ + (static_cast<std::uintptr_t>(index) << shift_);
    for (auto byte = at; byte < std::min<std::uintptr_t>(at + granule(), end_); ++byte)
        if (*reinterpret_cast<const unsigned char *>(byte) != hostPoison)
            return false;
    return true;
}

void Region::setAllWritten(bool written) {
    std::memset(written_.data(), written ? 1 : 0, granules_);
}

std::uint64_t Region::countUnwritten(std::uint64_t *first) const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < granules_; ++i)
        if (!isWritten(i) && count++ == 0)
            *first = (i << shift_) / std::max(elementBytes_, 1u);
    return count * granule() / std::max(elementBytes_, 1u);
}

std::string Region::placeOf(std::uintptr_t address) const {
    const std::uint64_t offset = address - begin_;
    if (elementBytes_ == 0)
        return fmt::format("byte {} of {}", offset, name_);
    return fmt::format("element {} of {}", offset / elementBytes_, name_);
}

} // namespace cuda_agent::plan::runner::sanit
