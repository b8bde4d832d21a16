// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace cuda_agent::learn {

/// Memory of tensors on the CPU that ends where a page begins that nobody may touch, and begins as
/// soon behind such a page as its size allows: a kernel that reads or writes past its end dies. It
/// comes full of NaNs, so that what a kernel leaves out shows.
class GuardedMemory final : public c10::Allocator {
  public:
    /// For the rest of the process.
    static void use() {
        static GuardedMemory memory;
        c10::SetCPUAllocator(&memory, 100);
    }
    c10::DataPtr allocate(std::size_t bytes) override {
        if (bytes == 0)
            return {nullptr, nullptr, &release, at::DeviceType::CPU};
        const auto used = (bytes + 15) / 16 * 16; // begins at a multiple of 16
        const auto whole = (used + page() - 1) / page() * page();
        const auto all = whole + 3 * page(); // how much, a page shut, the data, another
        void *const begin = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        auto *const data = static_cast<std::byte *>(begin) + 2 * page();
        if (begin == MAP_FAILED || mprotect(begin, page(), PROT_READ | PROT_WRITE) != 0 ||
            mprotect(data, whole, PROT_READ | PROT_WRITE) != 0)
            std::abort();
        std::memcpy(begin, &all, sizeof all);
        auto *const first = data + (whole - used);
        std::memset(first, 0xff, used);
        return {first, first, &release, at::DeviceType::CPU};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void *to, const void *from, std::size_t count) const override {
        std::memcpy(to, from, count);
    }

  private:
    static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
    static void release(void *data) {
        if (!data)
            return;
        // The data begins in its first page.
        const auto place = reinterpret_cast<std::uintptr_t>(data) / page() * page() - 2 * page();
        auto *const begin = reinterpret_cast<void *>(place);
        std::size_t all = 0;
        std::memcpy(&all, begin, sizeof all);
        munmap(begin, all);
    }
};

} // namespace cuda_agent::learn
