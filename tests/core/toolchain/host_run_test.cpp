// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Kernels without barriers, compiled and run for real.

#include "tests/core/toolchain/host_helpers.h"

#include <cmath>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::test;

TEST(HostRun, VectorAdd) {
    Kernels kernels(R"(
extern "C" __global__ void add(const float *__restrict__ a, const float *__restrict__ b,
                               float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}
)");
    const int n = 10007;
    const auto a = someFloats(n);
    const auto b = someFloats(n, -2, 2, 7);
    std::vector<float> out(n + 16, -99.f);
    ASSERT_EQ(kernels.run("add", shape(40, 256), a.data(), b.data(), out.data(), n), "");
    for (int i = 0; i < n; ++i)
        ASSERT_EQ(out[i], a[i] + b[i]) << i;
    for (int i = n; i < n + 16; ++i)
        ASSERT_EQ(out[i], -99.f) << "written past the end";
    EXPECT_FALSE(kernels.fibers("add"));
    ASSERT_EQ(kernels.binary.entries.size(), 1u);
    EXPECT_EQ(kernels.binary.entries[0].name, "add");
    EXPECT_EQ(kernels.binary.entries[0].registers, -1);
}

TEST(HostRun, GeluWithDeviceFunctionAndTemplate) {
    Kernels kernels(R"(
template <typename T> __device__ __forceinline__ T gelu(T x) {
    return T(0.5) * x * (T(1) + erff(x * T(0.70710678118654752)));
}
namespace detail { __device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; } }
extern "C" __global__ void __launch_bounds__(256) gelu_kernel(const float *x, float *y, int64_t n) {
    const int64_t i = detail::index();
    if (i >= n) return;
    y[i] = gelu(x[i]);
}
)");
    const std::int64_t n = 5000;
    const auto x = someFloats(n, -6, 6);
    std::vector<float> y(n);
    ASSERT_EQ(kernels.run("gelu_kernel", shape(20, 256), x.data(), y.data(), n), "");
    for (int i = 0; i < n; ++i) {
        const double want = 0.5 * x[i] * (1 + std::erf(x[i] * 0.70710678118654752));
        ASSERT_NEAR(y[i], want, 1e-6 * (1 + std::abs(want))) << x[i];
    }
}

TEST(HostRun, GridStrideWithFloat4AndTail) {
    Kernels kernels(R"(
extern "C" __global__ void scale(const float *__restrict__ x, float *__restrict__ y, float f, int n) {
    const int step = gridDim.x * blockDim.x;
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    float4 *y4 = reinterpret_cast<float4 *>(y);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += step) {
        float4 v = __ldg(&x4[i]);
        v.x *= f; v.y *= f; v.z *= f; v.w *= f;
        __stcs(y4 + i, make_float4(v.x, v.y, v.z, v.w));
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4)
        y[n / 4 * 4 + threadIdx.x] = x[n / 4 * 4 + threadIdx.x] * f;
}
)");
    const int n = 4099;
    alignas(16) static float x[4112];
    alignas(16) static float y[4112];
    const auto values = someFloats(n);
    std::copy(values.begin(), values.end(), x);
    ASSERT_EQ(kernels.run("scale", shape(3, 64), static_cast<const float *>(x), y, 3.f, n), "");
    for (int i = 0; i < n; ++i)
        ASSERT_EQ(y[i], x[i] * 3.f) << i;
    EXPECT_EQ(y[n], 0.f);
}

TEST(HostRun, TwoDimensionsAndStructArgument) {
    Kernels kernels(R"(
struct Sizes { int rows, cols; long long stride; float offset; };
extern "C" __global__ void transpose(const float *in, float *out, Sizes s) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    for (; r < s.rows; r += blockDim.y * gridDim.y)
        if (c < s.cols) out[c * s.stride + r] = in[r * s.cols + c] + s.offset + blockIdx.z;
}
)");
    struct {
        int rows, cols;
        long long stride;
        float offset;
    } sizes{37, 53, 40, 0.5f};
    const auto in = someFloats(37 * 53);
    std::vector<float> out(53 * 40, -1.f);
    const host::LaunchShape launch{.grid = {4, 2, 1}, .block = {16, 8, 1}};
    ASSERT_EQ(kernels.run("transpose", launch, in.data(), out.data(), sizes), "");
    for (int r = 0; r < 40; ++r)
        for (int c = 0; c < 53; ++c)
            ASSERT_EQ(out[c * 40 + r], r < 37 ? in[r * 53 + c] + 0.5f : -1.f);
}

TEST(HostRun, LambdasConstexprAndParametersOfEachThread) {
    Kernels kernels(R"(
constexpr int width = 4;
__constant__ float weights[width] = {1, 2, 3, 4};
static constexpr float half_of(float x) { return x / 2; }
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void work(float *out, int n, const float *in) {
    auto at = [&](int k) { return in[INDEX * width + k]; };
    auto weigh = [] __device__ (float v, int k) { return v * weights[k]; };
    if (INDEX >= n) return;
    float sum = half_of(2);
#pragma unroll
    for (int k = 0; k < width; ++k) sum += weigh(at(k), k);
    n -= threadIdx.x;  // the thread's own copy
    out += INDEX;
    *out = sum + n;
}
)");
    const int n = 300;
    const auto in = someFloats(n * 4);
    std::vector<float> out(n);
    ASSERT_EQ(kernels.run("work", shape(3, 128), out.data(), n, in.data()), "");
    for (int i = 0; i < n; ++i) {
        float sum = 1;
        for (int k = 0; k < 4; ++k)
            sum += in[i * 4 + k] * float(k + 1);
        ASSERT_NEAR(out[i], sum + float(n - i % 128), 1e-3) << i;
    }
}

TEST(HostRun, RowSoftmaxOneThreadARow) {
    Kernels kernels(R"(
extern "C" __global__ void softmax(const float *__restrict__ x, float *__restrict__ y, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += (long long)row * n;
    y += (long long)row * n;
    float m = -INFINITY;
    for (int i = 0; i < n; ++i) m = fmaxf(m, x[i]);
    float s = 0;
    for (int i = 0; i < n; ++i) { float e = __expf(x[i] - m); y[i] = e; s += e; }
    const float scale = 1.f / s;
    for (int i = 0; i < n; ++i) y[i] *= scale;
}
)");
    const int rows = 77, n = 130;
    const auto x = someFloats(rows * n, -8, 8);
    std::vector<float> y(rows * n);
    ASSERT_EQ(kernels.run("softmax", shape(3, 32), x.data(), y.data(), rows, n), "");
    for (int r = 0; r < rows; ++r) {
        double sum = 0;
        for (int i = 0; i < n; ++i)
            sum += std::exp(double(x[r * n + i]));
        for (int i = 0; i < n; ++i)
            ASSERT_NEAR(y[r * n + i], std::exp(double(x[r * n + i])) / sum, 1e-6);
    }
}

TEST(HostRun, AtomicsHistogramAndArgmax) {
    Kernels kernels(R"(
__device__ unsigned int ordered(float x) {
    unsigned u = __float_as_uint(x);
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}
extern "C" __global__ void count(const float *x, int *bins, float *sum, unsigned long long *best,
                                 unsigned *ticket, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&bins[(int)((x[i] + 2.f) * 4.f)], 1);
    atomicAdd(sum, 1.f);
    atomicMax(best, ((unsigned long long)ordered(x[i]) << 32) | i);
    atomicInc(ticket, 9);
}
)");
    const int n = 20000;
    const auto x = someFloats(n);
    std::vector<int> bins(16, 0), want(16, 0);
    float sum = 0;
    unsigned long long best = 0;
    unsigned ticket = 0;
    ASSERT_EQ(kernels.run("count", shape(79, 256), x.data(), bins.data(), &sum, &best, &ticket, n),
              "");
    int argmax = 0;
    for (int i = 0; i < n; ++i) {
        ++want[static_cast<std::size_t>((x[i] + 2.f) * 4.f)];
        argmax = x[i] >= x[argmax] ? i : argmax;
    }
    EXPECT_EQ(bins, want);
    EXPECT_EQ(sum, float(n));
    EXPECT_EQ(best & 0xffffffffu, static_cast<unsigned>(argmax));
    EXPECT_EQ(ticket, n % 10u);
}

TEST(HostRun, DefinesReachTheKernel) {
    Kernels kernels(R"(
#ifndef __CUDA_AGENT_HOST__
extern "C" __global__ void fill(float *x) { asm volatile("trap;"); }
#else
extern "C" __global__ void fill(float *x) { x[threadIdx.x] = VALUE; }
#endif
)",
                    {{"VALUE", "2.5f"}});
    std::vector<float> x(8);
    ASSERT_EQ(kernels.run("fill", shape(1, 8), x.data()), "");
    EXPECT_EQ(x[7], 2.5f);
}

TEST(HostRun, MacrosOfTheCandidateMayHaveAnyName) {
    Kernels kernels(R"(#include <cuda_fp16.h>
#define T float
#define x0 launch
#define chunk chunk
#define launch 3
#define blockSize 8
#define barrier(a) (a)
#define value_ 9
#define run run run
extern "C" __global__ void exp(T *x, int count, __half h) {
    if (threadIdx.x < N) x[threadIdx.x] = barrier(blockSize) + launch + blockDim.x + __half2float(h);
}
)",
                    {{"N", "4"}, {"A", "1"}, {"I", "x"}, {"a", "b"}, {"block", "("}});
    std::vector<float> x(8);
    std::uint16_t h = 0x3c00; // 1
    ASSERT_EQ(kernels.run("exp", shape(1, 8), x.data(), 1, h), "");
    EXPECT_EQ(x[3], 8 + 3 + 8 + 1);
    EXPECT_EQ(x[4], 0);
}

TEST(HostRun, WrongLaunches) {
    Kernels kernels("extern \"C\" __global__ void one(float *x) { x[0] = 1; }\n");
    float x = 0;
    EXPECT_NE(kernels.run("two", shape(1, 1), &x).find("no entry 'two'"), std::string::npos);
    EXPECT_NE(kernels.run("one", shape(1, 1), &x, 3).find("takes 1 arguments"), std::string::npos);
    EXPECT_NE(kernels.run("one", shape(0, 1), &x).find("zero"), std::string::npos);
    EXPECT_NE(kernels.run("one", shape(1, 1025), &x).find("1024"), std::string::npos);
    EXPECT_EQ(x, 0.f);
    EXPECT_EQ(kernels.run("one", shape(1, 1), &x), "");
    EXPECT_EQ(x, 1.f);
}

TEST(HostRun, TrapAndAssertionNameTheLine) {
    Kernels kernels(R"(extern "C" __global__ void check(const int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(x[i] != 7);
    if (x[i] == 9)
        __trap();
}
)");
    std::vector<int> x(64, 1);
    EXPECT_EQ(kernels.run("check", shape(2, 32), x.data()), "");
    x[40] = 7;
    auto problem = kernels.run("check", shape(2, 32), x.data());
    EXPECT_NE(problem.find("line 3: assertion failed: x[i] != 7"), std::string::npos) << problem;
    EXPECT_NE(problem.find("block (1,0,0), thread (8,0,0)"), std::string::npos) << problem;
    x[40] = 9;
    problem = kernels.run("check", shape(2, 32), x.data());
    EXPECT_NE(problem.find("line 5: __trap()"), std::string::npos) << problem;
    x[40] = 1;
    EXPECT_EQ(kernels.run("check", shape(2, 32), x.data()), "") << "usable after a fault";
}
