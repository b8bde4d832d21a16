// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/slim.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

constexpr const char *kernels = R"(// Written by the planner.
#include <cuda_fp16.h>
#ifndef __CUDA_AGENT_HOST__
// On a CPU
#define ONLY_GPU
#define CUDA_AGENT_REASSOCIATE
#else
#define ONLY_CPU
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

__device__ __forceinline__ void put(uint4 *to, const Word &v) {
    *to = *reinterpret_cast<const uint4 *>(&v);
}
extern "C" __global__ void map0(const float *x, float *y) {
    const char *text = "// no comment";
    {
        [[maybe_unused]] const int i = threadIdx.x; // the place
        const int r1 = (i) % 4;
        const int r0 = r1 / 4;
        const float kept = __shfl_xor_sync(0xffffffffu, x[i], 1);
        y[i] = fmaxf(x[i], -INFINITY) + text[0];
    }
    {
        const int r1 = 3;
        { CUDA_AGENT_REASSOCIATE y[r1] += 1; }
    }
}
)";

TEST(CorpusSlim, LeavesWhatCountsOnCuda) {
    EXPECT_EQ(slimKernels(kernels, device::Kind::cuda), R"(#include <cuda_fp16.h>
#define ONLY_GPU
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
__device__ void put(uint4 *to, const Word &v) {
    *to = *(const uint4 *)&v;
}
extern "C" __global__ void map0(const float *x, float *y) {
    const char *text = "// no comment";
    {
        const int i = threadIdx.x;
        const float kept = __shfl_xor_sync(0xffffffffu, x[i], 1);
        y[i] = fmaxf(x[i], -INFINITY) + text[0];
    }
    {
        const int r1 = 3;
        { y[r1] += 1; }
    }
})");
}

TEST(CorpusSlim, TakesTheBranchOfTheCpu) {
    const auto text = slimKernels(kernels, device::Kind::cpu);
    EXPECT_NE(text.find("ONLY_CPU"), text.npos);
    EXPECT_EQ(text.find("ONLY_GPU"), text.npos);
    EXPECT_NE(text.find("{ CUDA_AGENT_REASSOCIATE y[r1] += 1; }"), text.npos);
}

TEST(CorpusSlim, LinesThatDeclareSeveralStay) {
    const char *text = "void f(int *y) {\n"
                       "    const int lane = threadIdx.x % 32, row = 4 + y[1];\n"
                       "    y[row] = 1;\n"
                       "}";
    EXPECT_EQ(slimKernels(text, device::Kind::cuda), text);
}

TEST(CorpusSlim, PlansAreWithoutOnes) {
    const Json plan{{"version", 1},
                    {"name", "0|row"},
                    {"buffers", Json::array()},
                    {"steps",
                     {{{"kind", "kernel"},
                       {"source", "kernels/planner.cu"},
                       {"entry", "k"},
                       {"grid", {"1", "2", "1"}},
                       {"block", {1, 1, 1}}},
                      {{"kind", "gemm"}}}}};
    const Json slim = slimPlan(plan, "kernels/a.cu");
    EXPECT_FALSE(slim.contains("name"));
    EXPECT_EQ(slim["steps"][0]["grid"], Json({"1", "2"}));
    EXPECT_EQ(slim["steps"][0]["block"], Json::array({1}));
    EXPECT_EQ(slim["steps"][0]["source"], "kernels/a.cu");
    EXPECT_FALSE(slim["steps"][1].contains("source"));
}

} // namespace
} // namespace cuda_agent::learn
