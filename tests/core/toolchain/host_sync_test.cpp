// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Kernels whose threads wait for each other: barriers, shared memory, warp operations.

#include "tests/core/toolchain/host_helpers.h"

#include <cmath>
#include <numeric>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::test;

TEST(HostSync, TransposeThroughSharedMemory) {
    Kernels kernels(R"(
extern "C" __global__ void transpose(const float *in, float *out, int rows, int cols) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < cols && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < rows && y + k < cols) out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}
)");
    EXPECT_TRUE(kernels.fibers("transpose"));
    const int rows = 75, cols = 130;
    const auto in = someFloats(rows * cols);
    std::vector<float> out(rows * cols);
    const host::LaunchShape launch{.grid = {5, 3, 1}, .block = {32, 8, 1}};
    ASSERT_EQ(kernels.run("transpose", launch, in.data(), out.data(), rows, cols), "");
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c)
            ASSERT_EQ(out[c * rows + r], in[r * cols + c]);
}

TEST(HostSync, BlockSoftmaxWithDynamicSharedMemoryAndTwoKernels) {
    Kernels kernels(R"(
__device__ float reduce(float v, float *part, bool isMax) {
    part[threadIdx.x] = v;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            float o = part[threadIdx.x + s];
            part[threadIdx.x] = isMax ? fmaxf(part[threadIdx.x], o) : part[threadIdx.x] + o;
        }
        __syncthreads();
    }
    v = part[0];
    __syncthreads();
    return v;
}
extern "C" __global__ void softmax(const float *x, float *y, int n) {
    extern __shared__ __align__(16) float part[];
    x += blockIdx.x * n; y += blockIdx.x * n;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, x[i]);
    m = reduce(m, part, true);
    float s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += expf(x[i] - m);
    s = reduce(s, part, false);
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = expf(x[i] - m) / s;
}
extern "C" __global__ void plain(float *y) { y[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
)");
    EXPECT_TRUE(kernels.fibers("softmax"));
    EXPECT_FALSE(kernels.fibers("plain"));
    const int rows = 33, n = 300;
    const auto x = someFloats(rows * n, -8, 8);
    std::vector<float> y(rows * n);
    ASSERT_EQ(kernels.run("softmax", shape(rows, 128, 128 * 4), x.data(), y.data(), n), "");
    ASSERT_EQ(kernels.run("plain", shape(rows, n), y.data()), "");
    for (int r = 0; r < rows; ++r) {
        double sum = 0;
        for (int i = 0; i < n; ++i)
            sum += std::exp(double(x[r * n + i]));
        for (int i = 0; i < n; ++i)
            ASSERT_NEAR(y[r * n + i], 2 * std::exp(double(x[r * n + i])) / sum, 2e-6);
    }
}

TEST(HostSync, WarpReductionsOfEveryWidth) {
    Kernels kernels(R"(
template <int W> __device__ __forceinline__ float sum(float v) {
#pragma unroll
    for (int o = W / 2; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o, W);
    return __shfl_sync(0xffffffffu, v, 0, W);
}
extern "C" __global__ void widths(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    y[i * 6 + 0] = sum<32>(v);
    y[i * 6 + 1] = sum<16>(v);
    y[i * 6 + 2] = sum<8>(v);
    y[i * 6 + 3] = sum<2>(v);
    y[i * 6 + 4] = __shfl_up_sync(0xffffffffu, v, 1, 8);
    y[i * 6 + 5] = __shfl_xor_sync(0xffffffffu, v, 5);
}
)");
    const int n = 192;
    std::vector<float> x(n), y(n * 6);
    std::iota(x.begin(), x.end(), 1.f);
    ASSERT_EQ(kernels.run("widths", shape(2, 96), x.data(), y.data()), "");
    const int widths[] = {32, 16, 8, 2};
    for (int i = 0; i < n; ++i) {
        for (int w = 0; w < 4; ++w) {
            const int begin = i / widths[w] * widths[w];
            const float want = std::accumulate(&x[begin], &x[begin] + widths[w], 0.f);
            ASSERT_EQ(y[i * 6 + w], want) << i << " width " << widths[w];
        }
        ASSERT_EQ(y[i * 6 + 4], i % 8 == 0 ? x[i] : x[i - 1]);
        ASSERT_EQ(y[i * 6 + 5], x[i ^ 5]);
    }
}

TEST(HostSync, PartialLastWarpVotesAndReductions) {
    Kernels kernels(R"(
extern "C" __global__ void votes(int *out) {
    const unsigned all = 0xffffffffu, t = threadIdx.x;
    int *o = out + t * 9;
    o[0] = __ballot_sync(all, t % 3 == 0);
    o[1] = __any_sync(all, t == 40);
    o[2] = __all_sync(all, t < 40);
    o[3] = __reduce_add_sync(all, (int)t);
    o[4] = __reduce_max_sync(all, -(int)t);
    o[5] = __reduce_min_sync(all, t + 5u);
    o[6] = __popc(__match_any_sync(all, t / 4));
    o[7] = __activemask();
    long long wide = __shfl_sync(all, (long long)t << 40, (t + 1) % 16);
    o[8] = (int)(wide >> 40);
    __syncwarp();
}
)");
    const int n = 48; // the second warp has 16 lanes
    std::vector<int> out(n * 9);
    ASSERT_EQ(kernels.run("votes", shape(1, n), out.data()), "");
    for (int t = 0; t < n; ++t) {
        const int begin = t / 32 * 32, end = std::min(n, begin + 32);
        unsigned ballot = 0, active = 0;
        int sum = 0;
        for (int i = begin; i < end; ++i) {
            ballot |= i % 3 == 0 ? 1u << (i - begin) : 0;
            active |= 1u << (i - begin);
            sum += i;
        }
        const int *o = &out[t * 9];
        EXPECT_EQ(static_cast<unsigned>(o[0]), ballot);
        EXPECT_EQ(o[1], t >= 32);
        EXPECT_EQ(o[2], t < 32);
        EXPECT_EQ(o[3], sum);
        EXPECT_EQ(o[4], -begin);
        EXPECT_EQ(o[5], begin + 5);
        EXPECT_EQ(o[6], 4);
        EXPECT_EQ(static_cast<unsigned>(o[7]), active);
        EXPECT_EQ(o[8], begin + (t + 1) % 16);
    }
}

TEST(HostSync, MasksOfHalfWarpsGoTheirOwnWays) {
    // The lower half makes three steps while the upper half still holds the first result.
    Kernels kernels(R"(
extern "C" __global__ void halves(int *out) {
    int t = threadIdx.x;
    int first = __shfl_sync(0xffffffffu, t * 10, 3);
    int v = t;
    if (t < 16)
        for (int k = 0; k < 3; ++k) v += __shfl_xor_sync(0x0000ffffu, v, 1);
    else
        v = __shfl_sync(0xffff0000u, v, 31);
    out[t] = first + v + __shfl_sync(0xffffffffu, v, 20);
}
)");
    std::vector<int> out(32);
    ASSERT_EQ(kernels.run("halves", shape(1, 32), out.data()), "");
    for (int t = 0; t < 32; ++t) {
        const int pair = (t & ~1) * 2 + 1;
        EXPECT_EQ(out[t], 30 + (t < 16 ? pair * 4 : 31) + 31) << t;
    }
}

TEST(HostSync, SyncthreadsCountAndOr) {
    Kernels kernels(R"(
extern "C" __global__ void counts(int *out) {
    int c = __syncthreads_count(threadIdx.x % 5 == 0);
    int a = __syncthreads_and(threadIdx.x < 200);
    int b = __syncthreads_and(threadIdx.x < 199);
    int o = __syncthreads_or(threadIdx.x == 77);
    int p = __syncthreads_or(threadIdx.x == 777);
    out[blockIdx.x * blockDim.x + threadIdx.x] = c * 16 + a * 8 + b * 4 + o * 2 + p;
}
)");
    std::vector<int> out(400);
    ASSERT_EQ(kernels.run("counts", shape(2, 200), out.data()), "");
    for (int value : out)
        ASSERT_EQ(value, 40 * 16 + 8 + 2);
}

TEST(HostSync, LastBlockReducesTheRest) {
    Kernels kernels(R"(
__device__ unsigned tickets = 0;
extern "C" __global__ void total(const float *x, float *parts, float *out, int n) {
    __shared__ float part[256];
    __shared__ bool last;
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1) {
        if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part[0];
        __threadfence();
        last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float t = 0;
        for (int b = 0; b < gridDim.x; ++b) t += ((volatile float *)parts)[b];
        *out = t;
        tickets = 0;
    }
}
)");
    const int n = 100000;
    std::vector<float> x(n, 1.f), parts(32);
    for (int repeat = 0; repeat < 3; ++repeat) {
        float out = 0;
        ASSERT_EQ(kernels.run("total", shape(32, 256), x.data(), parts.data(), &out, n), "");
        EXPECT_EQ(out, float(n));
    }
}

TEST(HostSync, ThreeDimensionalBlocksKeepTheirIndices) {
    Kernels kernels(R"(
extern "C" __global__ void index(int *out) {
    __shared__ int order[240];
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    order[t] = threadIdx.x * 10000 + threadIdx.y * 100 + threadIdx.z;
    __syncthreads();
    out[t] = order[239 - t];
}
)");
    std::vector<int> out(240);
    ASSERT_EQ(kernels.run("index", {.grid = {1, 1, 1}, .block = {5, 8, 6}}, out.data()), "");
    for (int t = 0; t < 240; ++t) {
        const int u = 239 - t;
        ASSERT_EQ(out[t], u % 5 * 10000 + u / 5 % 8 * 100 + u / 40);
    }
}

TEST(HostSync, DivergentBarriersAreFaultsWithTheLine) {
    Kernels kernels(R"(extern "C" __global__ void some(float *x) {
    if (threadIdx.x < 16)
        __syncthreads();
    x[threadIdx.x] = 1;
}
extern "C" __global__ void early(float *x, int n) {
    if (threadIdx.x >= n) return;
    x[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] += 1;
}
extern "C" __global__ void two(float *x) {
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncthreads();
}
extern "C" __global__ void lanes(float *x) {
    if (threadIdx.x % 2)
        x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 2);
}
extern "C" __global__ void mixed(float *x) {
    if (threadIdx.x == 0)
        __syncwarp();
    else
        __syncthreads();
}
)");
    std::vector<float> x(64);
    const auto has = [](const std::string &text, const char *what) {
        EXPECT_NE(text.find(what), std::string::npos) << text;
    };
    auto problem = kernels.run("some", shape(1, 64), x.data());
    has(problem, "line 3: divergent barrier: __syncthreads is reached by 16 of 64 threads");
    has(problem, "thread (16,0,0) has returned");
    problem = kernels.run("early", shape(1, 64), x.data(), 40);
    has(problem, "line 9: divergent barrier: __syncthreads is reached by 40 of 64 threads");
    EXPECT_EQ(kernels.run("early", shape(1, 64), x.data(), 64), "");
    problem = kernels.run("two", shape(1, 64), x.data());
    has(problem, "divergent barrier: thread (0,0,0) waits in __syncthreads on line 14");
    has(problem, "thread (16,0,0) waits in __syncthreads on line 16");
    problem = kernels.run("lanes", shape(1, 64), x.data());
    has(problem, "line 20: __shfl_xor_sync with mask 0xffffffff waits for lane 0 for ever");
    problem = kernels.run("mixed", shape(1, 64), x.data());
    has(problem, "line 26: divergent barrier");
    has(problem, "thread (0,0,0) waits in __syncwarp on line 24");
    // After all those faults the engine still works.
    EXPECT_EQ(kernels.run("early", shape(8, 64), x.data(), 64), "");
    EXPECT_EQ(x[63], 2.f);
}

TEST(HostSync, ExitedThreadsPassWhereAsked) {
    Kernels kernels(R"(
extern "C" __global__ void early(float *x, int n) {
    if (threadIdx.x >= n) return;
    x[threadIdx.x] += __shfl_xor_sync(0xffffffffu, 1.f, 1);
    __syncthreads();
    x[threadIdx.x] += x[n - 1 - threadIdx.x] >= 1.f ? 1.f : 0.f;
}
)");
    std::vector<float> x(64);
    auto launch = shape(1, 64);
    launch.flags = CUDA_AGENT_HOST_EXITED_THREADS_PASS;
    ASSERT_EQ(kernels.run("early", launch, x.data(), 40), "");
    for (int i = 0; i < 64; ++i)
        EXPECT_EQ(x[i], i < 40 ? 2.f : 0.f);
}

TEST(HostSync, SpinWithNanosleepAndDeepStack) {
    Kernels kernels(R"(
__device__ int depth(volatile int *x, int n) { int pad[16]; pad[n % 16] = n; return n == 0 ? pad[0] : depth(x, n - 1) + pad[n % 16] * 0 + 1; }
extern "C" __global__ void wait(volatile int *flag, int *out) {
    if (threadIdx.x == 0)
        while (*flag == 0) __nanosleep(100);
    if (threadIdx.x == 63) *flag = 1;
    __syncthreads();
    out[threadIdx.x] = depth(flag, 300);
}
)");
    int flag = 0;
    std::vector<int> out(64);
    ASSERT_EQ(kernels.run("wait", shape(1, 64), &flag, out.data()), "");
    EXPECT_EQ(out[0], 300);
    EXPECT_EQ(out[63], 300);
}
