// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Looks whether a device still works, in a process that may hang or die without harm: fills memory,
// runs a small kernel, compares. Usage: cuda-agent-probe cuda|cpu. The GPU is the first one shown.
// Exit code: 0 it works, 1 it does not (one line on standard error says what), 3 there is no driver
// to ask.

#include "core/device/cuda_driver.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
/// Looking for leaks takes tracing, which the sandbox forbids.
extern "C" const char *__asan_default_options() {
    return "detect_leaks=0";
}
#endif

namespace {

using namespace cuda_agent;
using device::cuda::Driver;

constexpr std::uint32_t word = 0x5a17c0deu;
constexpr std::size_t count = 4u << 20; ///< words: 16 MiB, more than a corner of one memory chip
constexpr unsigned threads = 256;

/// Adds 1 to each word.
constexpr const char *kernel = R"ptx(
.version 7.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .u64 data)
{
    .reg .u32 %r<6>;
    .reg .u64 %a<4>;
    ld.param.u64 %a1, [data];
    cvta.to.global.u64 %a1, %a1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %a2, %r4, 4;
    add.u64 %a3, %a1, %a2;
    ld.global.u32 %r5, [%a3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%a3], %r5;
    ret;
}
)ptx";

int fail(const std::string &text, int code = 1) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return code;
}

/// Where the words are not what they must be, or -1.
std::ptrdiff_t wrongAt(const std::vector<std::uint32_t> &words, std::uint32_t expected) {
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] != expected)
            return static_cast<std::ptrdiff_t>(i);
    return -1;
}

/// No compiler in the driver is no fault of the GPU.
bool cannotCompile(CUresult code) {
    return code == CUDA_ERROR_JIT_COMPILER_NOT_FOUND ||
           code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
           code == CUDA_ERROR_JIT_COMPILATION_DISABLED;
}

int probeCuda() {
    const auto loaded = Driver::load();
    if (!loaded)
        return fail(loaded.error().message, 3);
    const Driver &driver = **loaded;
    CUdevice gpu = 0;
    CUcontext context = nullptr;
    CUdeviceptr data = 0;
    std::vector<std::uint32_t> words(count);
    const auto bytes = count * sizeof(std::uint32_t);
    Result<void> step;
    const auto run = [&](CUresult code, const char *what) {
        step = driver.check(code, what);
        return step.has_value();
    };
    if (!run(driver.cuDeviceGet(&gpu, 0), "opening it") ||
        !run(driver.cuDevicePrimaryCtxRetain(&context, gpu), "making a context") ||
        !run(driver.cuCtxSetCurrent(context), "using the context"))
        return fail(step.error().message);
    const auto allocated = driver.cuMemAlloc(&data, bytes);
    if (allocated == CUDA_ERROR_OUT_OF_MEMORY)
        return 0; // somebody uses all of it, so it works
    if (!run(allocated, "allocating memory") ||
        !run(driver.cuMemsetD32Async(data, word, count, nullptr), "filling memory") ||
        !run(driver.cuCtxSynchronize(), "waiting for a fill") ||
        !run(driver.cuMemcpyDtoH(words.data(), data, bytes), "reading memory"))
        return fail(step.error().message);
    if (const auto at = wrongAt(words, word); at >= 0)
        return fail("a fill left a wrong word at byte " + std::to_string(4 * at));

    CUmodule module = nullptr;
    CUfunction function = nullptr;
    const auto compiled = driver.cuModuleLoadData(&module, kernel);
    if (cannotCompile(compiled))
        return 0;
    void *arguments[] = {&data};
    if (!run(compiled, "loading a kernel") ||
        !run(driver.cuModuleGetFunction(&function, module, "add_one"), "finding a kernel") ||
        !run(driver.cuLaunchKernel(function, count / threads, 1, 1, threads, 1, 1, 0, nullptr,
                                   arguments, nullptr),
             "launching a kernel") ||
        !run(driver.cuCtxSynchronize(), "waiting for a kernel") ||
        !run(driver.cuMemcpyDtoH(words.data(), data, bytes), "reading memory"))
        return fail(step.error().message);
    if (const auto at = wrongAt(words, word + 1); at >= 0)
        return fail("a kernel left a wrong word at byte " + std::to_string(4 * at));
    return 0;
}

int probeCpu() {
    std::vector<std::uint32_t> words(count, word);
    for (auto &each : words)
        each += 1;
    const auto at = wrongAt(words, word + 1);
    return at < 0 ? 0 : fail("a loop left a wrong word at byte " + std::to_string(4 * at));
}

} // namespace

int main(int argc, char **argv) {
    if (argc == 2 && std::strcmp(argv[1], "cuda") == 0)
        return probeCuda();
    if (argc == 2 && std::strcmp(argv[1], "cpu") == 0)
        return probeCpu();
    std::fputs("cuda-agent-probe is started by cuda-agent; it has no use of its own\n", stderr);
    return 2;
}
