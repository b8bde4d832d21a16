// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// How fast CUDA kernels run on the CPU device beside plain C++ loops over the same data, on
// 4096 x 1024 floats with all threads of this process. Prints milliseconds, the ratio and GB/s of
// the bytes that the operator must move.

#include "core/toolchain/compiler.h"
#include "core/toolchain/host/launch.h"
#include "core/toolchain/host/scheduler.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;

namespace {

constexpr int rows = 4096;
constexpr int cols = 1024;
constexpr int count = rows * cols;

const char *const source = R"(
#ifndef __CUDA_AGENT_HOST__
#define CUDA_AGENT_REASSOCIATE
#endif
extern "C" __global__ void add(const float *__restrict__ a, const float *__restrict__ b,
                               float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i];
}
__device__ __forceinline__ float gelu1(float x) { return 0.5f * x * (1.f + erff(x * 0.70710678f)); }
extern "C" __global__ void gelu(const float *__restrict__ a, const float *__restrict__ b,
                                float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = gelu1(a[i]);
}
extern "C" __global__ void gelu4(const float *__restrict__ a, const float *__restrict__ b,
                                 float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 v = ((const float4 *)a)[i];
    v.x = gelu1(v.x); v.y = gelu1(v.y); v.z = gelu1(v.z); v.w = gelu1(v.w);
    ((float4 *)y)[i] = v;
}
extern "C" __global__ void gelu_stride(const float *__restrict__ a, const float *__restrict__ b,
                                       float *__restrict__ y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = gelu1(a[i]);
}
extern "C" __global__ void transpose(const float *__restrict__ a, const float *__restrict__ b,
                                     float *__restrict__ y, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = a[(r + k) * 1024 + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(r + k) * 4096 + x] = tile[threadIdx.x][threadIdx.y + k];
}
extern "C" __global__ void softmax_row(const float *__restrict__ a, const float *__restrict__ b,
                                       float *__restrict__ y, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n / 1024) return;
    const float *__restrict__ x = a + row * 1024;
    float *__restrict__ o = y + row * 1024;
    float part[16];
    for (int j = 0; j < 16; ++j) part[j] = -INFINITY;
    for (int i = 0; i < 1024; i += 16)
        for (int j = 0; j < 16; ++j) part[j] = fmaxf(part[j], x[i + j]);
    float m = part[0];
    for (int j = 1; j < 16; ++j) m = fmaxf(m, part[j]);
    float s = 0;
    for (int i = 0; i < 1024; ++i) {
        CUDA_AGENT_REASSOCIATE
        float e = expf(x[i] - m); o[i] = e; s += e; }
    s = 1.f / s;
    for (int i = 0; i < 1024; ++i) o[i] *= s;
}
extern "C" __global__ void softmax_warp(const float *__restrict__ a, const float *__restrict__ b,
                                        float *__restrict__ y, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    const float *x = a + row * 1024;
    float m = -INFINITY, s = 0;
    for (int i = lane; i < 1024; i += 32) m = fmaxf(m, x[i]);
    for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    for (int i = lane; i < 1024; i += 32) s += expf(x[i] - m);
    for (int o = 16; o > 0; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    for (int i = lane; i < 1024; i += 32) y[row * 1024 + i] = expf(x[i] - m) / s;
}
__device__ float block_reduce(float v, bool isMax, float *part) {
    for (int o = 16; o > 0; o >>= 1) {
        float w = __shfl_xor_sync(0xffffffffu, v, o);
        v = isMax ? fmaxf(v, w) : v + w;
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int i = 1; i < blockDim.x / 32; ++i) v = isMax ? fmaxf(v, part[i]) : v + part[i];
    __syncthreads();
    return v;
}
extern "C" __global__ void softmax_block(const float *__restrict__ a, const float *__restrict__ b,
                                         float *__restrict__ y, int n) {
    __shared__ float part[32];
    const float *x = a + blockIdx.x * 1024;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) m = fmaxf(m, x[i]);
    m = block_reduce(m, true, part);
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s += expf(x[i] - m);
    s = block_reduce(s, false, part);
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) y[blockIdx.x * 1024 + i] = expf(x[i] - m) / s;
}
extern "C" __global__ void sum_row(const float *__restrict__ a, const float *__restrict__ b,
                                   float *__restrict__ y, int n) {
    CUDA_AGENT_REASSOCIATE
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n / 1024) return;
    float s = 0;
    for (int i = 0; i < 1024; ++i) s += a[row * 1024 + i];
    y[row] = s;
}
extern "C" __global__ void matmul(const float *__restrict__ a, const float *__restrict__ b,
                                  float *__restrict__ y, int n) {
    __shared__ float s[16][16], t[16][16];
    int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 512; k += 16) {
        s[threadIdx.y][threadIdx.x] = a[r * 512 + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * 512 + c];
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum += s[threadIdx.y][j] * t[j][threadIdx.x];
        __syncthreads();
    }
    y[r * 512 + c] = sum;
}
extern "C" __global__ void argmax(const float *__restrict__ a, const float *__restrict__ b,
                                  unsigned long long *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = __float_as_uint(a[i]);
    u = u & 0x80000000u ? ~u : u | 0x80000000u;
    atomicMax(&y[i / 1024], ((unsigned long long)u << 32) | (1023 - i % 1024));
}
)";

/// Splits [0, n) over all threads.
void spread(int n, const std::function<void(int, int)> &work) {
    const int threads = host::hardwareThreads();
    std::vector<std::jthread> crew;
    for (int t = 1; t < threads; ++t)
        crew.emplace_back(
            [&, t] { work(n / threads * t, t + 1 == threads ? n : n / threads * (t + 1)); });
    work(0, n / threads);
}

double milliseconds(const std::function<void()> &work) {
    using Clock = std::chrono::steady_clock;
    double best = 1e9;
    const auto begin = Clock::now();
    for (int i = 0; i < 3 || (Clock::now() - begin < std::chrono::seconds(1) && i < 30); ++i) {
        const auto start = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best * 1e3;
}

float gelu(float x) {
    return 0.5f * x * (1 + std::erf(x * 0.70710678f));
}

void softmaxRow(const float *x, float *y) {
    float m = -INFINITY, s = 0;
    for (int i = 0; i < cols; ++i)
        m = std::max(m, x[i]);
    for (int i = 0; i < cols; ++i)
        s += y[i] = std::exp(x[i] - m);
    for (int i = 0; i < cols; ++i)
        y[i] /= s;
}

} // namespace

int main() {
    auto compiler = makeHostCompiler();
    if (!compiler)
        return fprintf(stderr, "%s\n", compiler.error().message.c_str()), 3;
    auto outcome = (*compiler)->compile({"bench.cu", source, {}, {}});
    if (!outcome)
        return fprintf(stderr, "%s\n", outcome.error().message.c_str()), 3;
    if (auto *rejection = std::get_if<Rejection>(&*outcome))
        return fprintf(stderr, "%s\n", rejection->log.c_str()), 1;
    const auto &binary = std::get<Binary>(*outcome);
    auto module = host::HostModule::open(binary.file);
    if (!module)
        return fprintf(stderr, "%s\n", module.error().message.c_str()), 3;
    printf("%s, %d threads, %d x %d floats, compiled in %.2f s%s\n",
           (*compiler)->description().c_str(), host::hardwareThreads(), rows, cols, binary.seconds,
           binary.cached ? " (cached)" : "");

    std::vector<float> a(count), b(count), y(count), want(count);
    for (int i = 0; i < count; ++i) {
        a[i] = float((i * 7919ll) % 4001) / 500.f - 4.f;
        b[i] = float((i * 104729ll) % 997) / 500.f - 1.f;
    }
    const std::function<void()> geluLoop = [&] {
        spread(count, [&](int i, int end) {
            for (; i < end; ++i)
                want[i] = gelu(a[i]);
        });
    };
    const std::function<void()> softmaxLoop = [&] {
        spread(rows, [&](int r, int end) {
            for (; r < end; ++r)
                softmaxRow(&a[r * cols], &want[r * cols]);
        });
    };
    struct Case {
        const char *entry;
        host::LaunchShape shape;
        double bytes;
        std::function<void()> loop;
        int checked; ///< leading elements to compare, 0: none
    };
    const double two = 8.0 * count;
    const Case cases[] = {
        {"add",
         {{count / 256, 1, 1}, {256, 1, 1}},
         12.0 * count,
         [&] {
             spread(count, [&](int i, int end) {
                 for (; i < end; ++i)
                     want[i] = a[i] + b[i];
             });
         },
         count},
        {"gelu", {{count / 256, 1, 1}, {256, 1, 1}}, two, geluLoop, count},
        {"gelu4", {{count / 1024, 1, 1}, {256, 1, 1}}, two, geluLoop, count},
        {"gelu_stride", {{256, 1, 1}, {256, 1, 1}}, two, geluLoop, count},
        {"transpose",
         {{cols / 32, rows / 32, 1}, {32, 8, 1}},
         two,
         [&] {
             spread(cols, [&](int c, int end) {
                 for (; c < end; ++c)
                     for (int r = 0; r < rows; ++r)
                         want[c * rows + r] = a[r * cols + c];
             });
         },
         count},
        {"softmax_row", {{rows / 32, 1, 1}, {32, 1, 1}}, two, softmaxLoop, count},
        {"softmax_warp", {{rows / 8, 1, 1}, {256, 1, 1}}, two, softmaxLoop, count},
        {"softmax_block", {{rows, 1, 1}, {256, 1, 1}}, two, softmaxLoop, count},
        {"sum_row",
         {{rows / 32, 1, 1}, {32, 1, 1}},
         4.0 * count,
         [&] {
             spread(rows, [&](int r, int end) {
                 for (; r < end; ++r) {
                     float s = 0;
                     for (int i = 0; i < cols; ++i)
                         s += a[r * cols + i];
                     want[r] = s;
                 }
             });
         },
         rows},
        {"matmul",
         {{32, 32, 1}, {16, 16, 1}},
         3 * 4.0 * 512 * 512,
         [&] {
             spread(512, [&](int r, int end) {
                 for (; r < end; ++r) {
                     for (int c = 0; c < 512; ++c)
                         want[r * 512 + c] = 0;
                     for (int k = 0; k < 512; ++k)
                         for (int c = 0; c < 512; ++c)
                             want[r * 512 + c] += a[r * 512 + k] * b[k * 512 + c];
                 }
             });
         },
         512 * 512},
        {"argmax",
         {{count / 256, 1, 1}, {256, 1, 1}},
         4.0 * count,
         [&] {
             spread(rows, [&](int r, int end) {
                 for (; r < end; ++r) {
                     int best = 0;
                     for (int i = 0; i < cols; ++i)
                         best = a[r * cols + i] > a[r * cols + best] ? i : best;
                     want[r] = float(best);
                 }
             });
         },
         0},
    };
    printf("%-14s %6s %10s %10s %8s %8s %10s\n", "kernel", "engine", "kernel ms", "loop ms",
           "ratio", "GB/s", "max error");
    for (const auto &item : cases) {
        const float *pa = a.data(), *pb = b.data();
        float *py = y.data();
        int n = count;
        const std::vector<void *> arguments = {&pa, &pb, &py, &n};
        std::string problem;
        const double kernel = milliseconds([&] {
            if (auto done = module->launch(item.entry, item.shape, arguments); !done)
                problem = done.error().message;
        });
        const double loop = milliseconds(item.loop);
        double error = 0;
        for (int i = 0; i < item.checked; ++i)
            error = std::max(error, std::fabs(double(y[i]) - want[i]) / (1 + std::fabs(want[i])));
        printf("%-14s %6s %10.3f %10.3f %7.2fx %8.1f %10.1e %s\n", item.entry,
               module->find(item.entry)->fibers ? "fibers" : "loops", kernel, loop, kernel / loop,
               item.bytes / kernel * 1e-6, error, problem.c_str());
    }
    return 0;
}
