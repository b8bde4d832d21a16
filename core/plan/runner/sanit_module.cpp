// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// libcuda-agent-host-checked.so: stands in the module worker where libcuda-agent-host.so does, for
// kernels whose every access is looked at. It is preloaded, so that it sees what PyTorch and the
// candidate allocate for devices: each such block gets some room behind its end that belongs to
// nobody.

#include "core/plan/runner/sanit_checker.h"
#include "core/toolchain/host/launch_watch.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>

#pragma GCC diagnostic ignored "-Wmissing-declarations"

#define EXPORTED extern "C" __attribute__((visibility("default"), used))

// The C library's own, which nothing stands before.
extern "C" void *__libc_memalign(std::size_t alignment, std::size_t bytes);

namespace cuda_agent::plan::runner::sanit {

namespace {

constexpr std::size_t room = 4096; ///< behind a block

HostMemory &hostMemory() {
    static auto *memory = new HostMemory; // allocations may outlive main()
    return *memory;
}

void *allocate(std::size_t alignment, std::size_t bytes) {
    if (bytes > SIZE_MAX - room)
        return nullptr;
    void *memory = __libc_memalign(alignment, bytes + room);
    if (memory == nullptr)
        return nullptr;
    std::memset(memory, hostPoison, bytes);
    hostMemory().add({{}, reinterpret_cast<std::uintptr_t>(memory), bytes, 0, false, 0});
    return memory;
}

/// Of the library that holds the code; null where it cannot be read.
const Image *imageOf(const void *code) {
    static auto *images = new std::map<std::string, std::optional<Image>>;
    Dl_info info{};
    if (dladdr(code, &info) == 0 || info.dli_fname == nullptr)
        return nullptr;
    auto [known, isNew] = images->try_emplace(info.dli_fname);
    if (isNew)
        if (auto image = Image::read(info.dli_fname))
            known->second = std::move(*image);
    return known->second ? &*known->second : nullptr;
}

} // namespace

// ---- allocations

EXPORTED int posix_memalign(void **memory, std::size_t alignment, std::size_t bytes) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *made = allocate(alignment, bytes);
    if (made == nullptr)
        return ENOMEM;
    *memory = made;
    return 0;
}

EXPORTED void *aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return allocate(alignment, bytes);
}

// ---- from the module worker (worker/checks.py)

/// Memory that was there before, or that is something special.
EXPORTED void cuda_agent_check_memory(const char *name, const void *begin, std::uint64_t bytes,
                                      unsigned elementBytes, int input) {
    hostMemory().add(
        {name, reinterpret_cast<std::uintptr_t>(begin), bytes, elementBytes, input != 0, 0});
}
/// What forward() returned: elements that nobody wrote are a finding.
EXPORTED void cuda_agent_check_output(const char *name, const void *begin, std::uint64_t bytes,
                                      unsigned elementBytes) {
    Checker::self().expectWritten(name, reinterpret_cast<std::uintptr_t>(begin), bytes,
                                  elementBytes);
}
/// 1: a check has ended a kernel, and no other runs any more.
EXPORTED int cuda_agent_check_stopped() {
    return Checker::self().stopped() ? 1 : 0;
}
/// Checker::report(), zero-terminated; good until the next call.
EXPORTED const char *cuda_agent_check_report() {
    static auto *text = new std::string;
    *text = Checker::self().report().dump(-1, ' ', true, Json::error_handler_t::replace);
    return text->c_str();
}

} // namespace cuda_agent::plan::runner::sanit

// ---- around launches

namespace cuda_agent::toolchain::host {

namespace sanit = plan::runner::sanit;

bool watchBegin(const char *file, int line, CudaAgentHostLaunch &launch,
                CudaAgentHostRunChunk chunk) {
    auto &checker = sanit::Checker::self();
    const auto *image = sanit::imageOf(reinterpret_cast<const void *>(chunk));
    if (checker.stopped() || image == nullptr)
        return false;
    launch.threads = 1;
    checker.lookInto(&sanit::hostMemory());
    checker.beginLaunch(*image, fmt::format("{}:{}", file, line));
    return true;
}

void watchEnd(const char *problem) {
    sanit::Checker::self().endLaunch(problem);
}

} // namespace cuda_agent::toolchain::host
