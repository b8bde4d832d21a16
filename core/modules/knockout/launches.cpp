// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// libcuda-agent-launches.so: preloaded into the module worker on cuda, stands between a candidate's
// library and the CUDA run time, and leaves launches out when the judge asks for that
// (core/toolchain/host/abi.h has the same two functions for the cpu device). Launches of PyTorch's
// and of its libraries pass; graphs are the candidate's, as the worker makes none.
// It needs no CUDA header: functions are found by name in the run time that PyTorch has loaded.

#include "core/toolchain/host/abi.h"
#include "core/toolchain/host/left_out.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

namespace host = cuda_agent::toolchain::host;

constexpr int symbolNotFound = 500; // cudaErrorSymbolNotFound
constexpr const char *ownLibrary = "/cuda_extension.so";

struct Dim3 {
    unsigned x, y, z;
};

/// Where an address lies in the candidate's library, from its start; -1 where it lies elsewhere.
std::ptrdiff_t insideOwn(const void *address) {
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr)
        return -1;
    const std::string file = info.dli_fname;
    const std::size_t length = std::strlen(ownLibrary);
    if (file.size() < length || file.compare(file.size() - length, length, ownLibrary) != 0)
        return -1;
    return static_cast<const char *>(address) - static_cast<const char *>(info.dli_fbase);
}

/// Whether the launch that returns to `caller` is left out. The compiler makes one host function
/// for each kernel, which launches it for everybody: who called that function makes the place.
bool leavesOut(void *caller) {
    if (!host::leavingOut())
        return false;
    const auto stub = insideOwn(caller);
    if (stub < 0)
        return false;
    std::array<void *, 8> frames{};
    const int found = backtrace(frames.data(), static_cast<int>(frames.size()));
    const auto end = frames.begin() + found;
    const auto own = std::find(frames.begin(), end, caller);
    const auto site = own == end || own + 1 == end ? -1 : insideOwn(*(own + 1));
    char name[96];
    std::snprintf(name, sizeof name, "cuda_extension.so+0x%zx for 0x%zx",
                  static_cast<std::size_t>(stub),
                  static_cast<std::size_t>(std::max<std::ptrdiff_t>(site, 0)));
    return host::leavesOut(name);
}

/// The run time that is loaded already; it lies in a scope of Python's, where RTLD_NEXT does not
/// look.
void *runTime() {
    static void *const handle = [] {
        std::string path;
        dl_iterate_phdr(
            [](dl_phdr_info *info, std::size_t, void *to) {
                if (info->dlpi_name == nullptr || !std::strstr(info->dlpi_name, "libcudart.so"))
                    return 0;
                *static_cast<std::string *>(to) = info->dlpi_name;
                return 1;
            },
            &path);
        return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    }();
    return handle;
}

template <typename Function>
Function *real(const char *name) {
    void *const handle = runTime();
    return reinterpret_cast<Function *>(handle ? dlsym(handle, name) : nullptr);
}

} // namespace

// Each function of the run time that launches, under its own name. `name_ptsz` are those of
// programs that were compiled for a stream per thread.
#define CUDA_AGENT_LAUNCH(name, parameters, arguments)                                             \
    extern "C" CUDA_AGENT_HOST_IMPORT int name parameters {                                        \
        static auto *const function = real<int parameters>(#name);                                 \
        if (leavesOut(__builtin_return_address(0)))                                                \
            return 0;                                                                              \
        return function ? function arguments : symbolNotFound;                                     \
    }
#define CUDA_AGENT_KERNEL_PARAMETERS                                                               \
    (const void *kernel, Dim3 grid, Dim3 block, void **arguments, std::size_t shared, void *stream)
#define CUDA_AGENT_KERNEL_ARGUMENTS (kernel, grid, block, arguments, shared, stream)
#define CUDA_AGENT_KERNEL(name)                                                                    \
    CUDA_AGENT_LAUNCH(name, CUDA_AGENT_KERNEL_PARAMETERS, CUDA_AGENT_KERNEL_ARGUMENTS)
#define CUDA_AGENT_CONFIGURED(name)                                                                \
    CUDA_AGENT_LAUNCH(name, (const void *configuration, const void *kernel, void **arguments),     \
                      (configuration, kernel, arguments))
#define CUDA_AGENT_GRAPH(name)                                                                     \
    extern "C" CUDA_AGENT_HOST_IMPORT int name(void *graph, void *stream) {                        \
        static auto *const function = real<int(void *, void *)>(#name);                            \
        if (host::leavesOut("a graph"))                                                            \
            return 0;                                                                              \
        return function ? function(graph, stream) : symbolNotFound;                                \
    }

CUDA_AGENT_KERNEL(cudaLaunchKernel)
CUDA_AGENT_KERNEL(cudaLaunchKernel_ptsz)
CUDA_AGENT_KERNEL(__cudaLaunchKernel)
CUDA_AGENT_KERNEL(__cudaLaunchKernel_ptsz)
CUDA_AGENT_KERNEL(cudaLaunchCooperativeKernel)
CUDA_AGENT_KERNEL(cudaLaunchCooperativeKernel_ptsz)
CUDA_AGENT_CONFIGURED(cudaLaunchKernelExC)
CUDA_AGENT_CONFIGURED(cudaLaunchKernelExC_ptsz)
CUDA_AGENT_GRAPH(cudaGraphLaunch)
CUDA_AGENT_GRAPH(cudaGraphLaunch_ptsz)
