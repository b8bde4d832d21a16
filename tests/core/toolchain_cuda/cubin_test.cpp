// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/nvrtc_worker/cubin.h"

#include "core/device/nvrtc_library.h"

#include <gtest/gtest.h>

#include <random>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;

namespace {

const std::string log = R"(kernels/a.cu(2): warning #177-D: variable "unused" was declared
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'bar' for 'sm_90a'
ptxas info    : Function properties for bar
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
ptxas info    : Compiling entry function 'foo' for 'sm_90a'
ptxas info    : Function properties for foo
ptxas         .     800 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 19 registers, used 1 barriers, 800 bytes cumulative stack size, 512 bytes smem
)";

/// A real cubin: two kernels and a device function.
std::string cubin() {
    const auto folder = device::cuda::Nvrtc::findFolder(device::cuda::Nvrtc::folders());
    const auto nvrtc = device::cuda::Nvrtc::load(folder.value()).value();
    auto result = nvrtc.compile("__device__ __noinline__ float helper(float x) { return x * x; }\n"
                                "extern \"C\" __global__ void one(float *x) { *x = helper(*x); }\n"
                                "__global__ void two(float *x) { *x += 1; }\n",
                                "a.cu", {"--gpu-architecture=sm_90"});
    EXPECT_EQ(result.code, NVRTC_SUCCESS) << result.log;
    return result.cubin;
}

TEST(EntryFacts, ComeFromTheStatistics) {
    const auto entries = entryFacts({"bar", "foo", "other"}, log);
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].registers, 10);
    EXPECT_EQ(entries[0].sharedBytes, 0);
    EXPECT_EQ(entries[0].spillBytes, 0);
    EXPECT_EQ(entries[1].registers, 19);
    EXPECT_EQ(entries[1].sharedBytes, 512);
    EXPECT_EQ(entries[1].stackBytes, 800);
    EXPECT_EQ(entries[1].spillBytes, 24);
    EXPECT_EQ(entries[0].barriers, 0);
    EXPECT_EQ(entries[1].barriers, 1);
    EXPECT_EQ(entries[2].registers, -1);
    EXPECT_EQ(entries[2].barriers, -1);
}

TEST(EntryFacts, StatisticsAreNoMessages) {
    EXPECT_EQ(withoutStatistics(log),
              "kernels/a.cu(2): warning #177-D: variable \"unused\" was declared\n");
}

TEST(Cubin, ListsKernelsAndNoDeviceFunctions) {
    const auto names = kernelsOfCubin(cubin());
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_EQ(*names, (std::vector<std::string>{"_Z3twoPf", "one"}));
}

TEST(Cubin, OtherFilesAreRefused) {
    EXPECT_FALSE(kernelsOfCubin(""));
    EXPECT_FALSE(kernelsOfCubin("not a cubin at all, but long enough to have a head of its own"));
    auto other = cubin();
    other[18] = 62; // an x86-64 ELF file
    EXPECT_FALSE(kernelsOfCubin(other));
}

TEST(Cubin, DamageIsFoundOrHarmless) {
    const auto whole = cubin();
    for (std::size_t size = 0; size < whole.size(); size += 37)
        (void)kernelsOfCubin(std::string_view(whole).substr(0, size));
    std::mt19937 random(3);
    for (int round = 0; round < 20'000; ++round) {
        auto bytes = whole;
        // Heads and tables lie in the first and last few hundred bytes.
        for (int i = 0; i < 4; ++i) {
            const auto near = random() % 400;
            const auto place = random() % 2 ? near : bytes.size() - 1 - near;
            bytes[place] = static_cast<char>(random());
        }
        const auto names = kernelsOfCubin(bytes);
        if (!names) {
            EXPECT_EQ(names.error().kind, ErrorKind::machine);
        }
    }
}

} // namespace
