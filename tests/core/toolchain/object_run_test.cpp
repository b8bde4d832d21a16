// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Files of module candidates, compiled to objects, linked and run.

#include "core/base/paths.h"
#include "core/toolchain/host/rewriter.h"
#include "tests/core/toolchain/object_helpers.h"
#include "tests/source_dir.h"

#include <csignal>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::test;

namespace {

std::string fileText(const std::string &path) {
    auto text = readTextFile(sourceDir() / path);
    EXPECT_TRUE(text) << path;
    return text ? *text : "";
}

} // namespace

TEST(HostObject, ThePublishedExample) {
    const std::string folder = "skills/module-candidates/candidates/residual_scale/kernels/";
    const auto record = runObject(fileText(folder + "residual_scale.cu"), R"(
extern "C" void residual_scale_launcher(const float *x, const float *residual, const float *scale,
                                        float *out, long long rows, int n, int config,
                                        void *stream);
int main() {
    for (int n : {768, 770, 1})
        for (int config : {0, 1, 2}) {
            const int rows = 37;
            std::vector<float> x(rows * n), r(rows * n), s(n), out(rows * n, -1.f);
            for (int i = 0; i < rows * n; ++i)
                x[i] = i * 0.25f, r[i] = float(i % 17) - 8;
            for (int i = 0; i < n; ++i)
                s[i] = 0.5f * (i % 5);
            residual_scale_launcher(x.data(), r.data(), s.data(), out.data(), rows, n, config, nullptr);
            for (int i = 0; i < rows * n; ++i)
                if (out[i] != x[i] + s[i % n] * r[i])
                    return printf("n %d config %d: [%d] = %g\n", n, config, i, out[i]), 1;
            if (cuda_agent_host_last_error(0) != 0)
                return 2;
        }
    puts("right");
}
)");
    EXPECT_TRUE(record.clean()) << record.summary() << record.standardError;
    EXPECT_EQ(record.standardOutput, "right\n");
}

TEST(HostObject, BlockReductionInDynamicSharedMemory) {
    const auto record = runObject(R"(
#include <cuda_runtime.h>
#include <cstdint>
namespace {
template <typename T>
__global__ void rowSums(const T *__restrict__ x, T *__restrict__ out, int n) {
    extern __shared__ unsigned char raw[];
    T *partial = reinterpret_cast<T *>(raw);
    T sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[blockIdx.x * (size_t)n + i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}
template <typename T>
void launch(const T *x, T *out, int rows, int n, int threads, cudaStream_t stream) {
    dim3 gridDim(rows);
    dim3 blockDim(threads);
    rowSums<T><<<gridDim, blockDim, threads * sizeof(T), stream>>>(x, out, n);
}
}
extern "C" void sums_launcher(const double *x, double *out, int rows, int n, int config,
                              cudaStream_t stream) {
    launch(x, out, rows, n, config == 1 ? 64 : 256, stream);
}
)",
                                  R"(
extern "C" void sums_launcher(const double *, double *, int, int, int, void *);
int main() {
    const int rows = 100, n = 1000;
    std::vector<double> x(rows * n), out(rows);
    for (int i = 0; i < rows * n; ++i)
        x[i] = i % 113 - 56;
    for (int config : {0, 1}) {
        sums_launcher(x.data(), out.data(), rows, n, config, nullptr);
        for (int r = 0; r < rows; ++r) {
            double sum = 0;
            for (int i = 0; i < n; ++i)
                sum += x[r * n + i];
            if (sum != out[r])
                return printf("row %d: %g, not %g\n", r, out[r], sum), 1;
        }
    }
    puts("right");
}
)");
    EXPECT_EQ(record.standardOutput, "right\n") << record.summary() << record.standardError;
}

TEST(HostObject, WarpShufflesInAHeader) {
    const auto record = runObject(R"(
#include <cuda_fp16.h>
#include "../include/warp.cuh"
#include "local.cuh"
__constant__ float scale[2];
__global__ void softmax(const float *x, __half *out, int n) {
    const float *row = x + blockIdx.x * n;
    float most = -INFINITY;
    for (int i = threadIdx.x; i < n; i += WARP)
        most = fmaxf(most, row[i]);
    most = warpMax(most);
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += WARP)
        sum += expf(row[i] - most);
    sum = warpSum(sum);
    for (int i = threadIdx.x; i < n; i += WARP)
        out[blockIdx.x * n + i] = __float2half(scale[0] * expf(row[i] - most) / sum);
}
extern "C" int softmax_launcher(const float *x, void *out, int rows, int n, cudaStream_t stream) {
    const float one[2] = {1.f, 2.f};
    cudaMemcpyToSymbol(scale, one, sizeof one);
    softmax<<<rows, WARP, 0, stream>>>(x, static_cast<__half *>(out), n);
    return cudaGetLastError();
}
)",
                                  R"(
extern "C" int softmax_launcher(const float *, void *, int, int, void *);
int main() {
    const int rows = 33, n = 100;
    std::vector<float> x(rows * n);
    std::vector<_Float16> out(rows * n);
    for (int i = 0; i < rows * n; ++i)
        x[i] = std::sin(float(i)) * 4;
    if (softmax_launcher(x.data(), out.data(), rows, n, nullptr) != 0)
        return 1;
    double worst = 0;
    for (int r = 0; r < rows; ++r) {
        double most = -1e30, sum = 0;
        for (int i = 0; i < n; ++i)
            most = std::max<double>(most, x[r * n + i]);
        for (int i = 0; i < n; ++i)
            sum += std::exp(x[r * n + i] - most);
        for (int i = 0; i < n; ++i)
            worst = std::max(worst, std::abs(std::exp(x[r * n + i] - most) / sum - double(out[r * n + i])));
    }
    printf("%s\n", worst < 1e-3 ? "right" : std::to_string(worst).c_str());
}
)",
                                  {{"include/warp.cuh", R"(#pragma once
#define WARP 32
template <class T>
__device__ __forceinline__ T warpMax(T v) {
    for (int d = 16; d > 0; d /= 2)
        v = max(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}
)"},
                                   {"kernels/local.cuh", R"(#pragma once
#include "../include/warp.cuh"
__device__ __noinline__ float warpSum(float v) {
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return __shfl_sync(0xffffffffu, v, 0);
}
)"}});
    EXPECT_EQ(record.standardOutput, "right\n") << record.summary() << record.standardError;
}

TEST(HostObject, FaultsComeOutWithTheirLine) {
    const auto record = runObject(R"(#include <cassert>
__global__ void divergent(int *x) {
    if (threadIdx.x != 3)
        __syncthreads();
    *x = 1;
}
__global__ void trap(int *x) {
    if (blockIdx.x == 5)
        __trap();
}
__global__ void checked(int *x, int n) {
    assert(n > 7);
    *x = n;
}
extern "C" int run(int which, int *x, int n) {
    if (which == 0)
        divergent<<<4, 32>>>(x);
    else if (which == 1)
        trap<<<9, 64>>>(x);
    else
        checked<<<1, 1>>>(x, n);
    return cudaGetLastError();
}
)",
                                  R"(
extern "C" int run(int, int *, int);
int main() {
    char text[300];
    int x = 0;
    for (int which : {0, 1, 2}) {
        const int error = run(which, &x, 7);
        const int taken = cuda_agent_host_take_fault(text, sizeof text);
        printf("%d %d %s\n", error, taken, text);
    }
    run(0, &x, 0), run(1, &x, 0); // the first is kept
    cuda_agent_host_take_fault(text, 30);
    printf("%s %d\n", text, cuda_agent_host_take_fault(text, sizeof text));
    const int fine = run(2, &x, 8); // and the process goes on
    printf("%d %d\n", fine, x);
    cuda_agent_host_report("seen elsewhere");
    printf("%d ", cuda_agent_host_last_error(1));
    printf("%d ", cuda_agent_host_last_error(0));
    const int taken = cuda_agent_host_take_fault(text, sizeof text);
    printf("%d %s\n", taken, text);
}
)");
    EXPECT_TRUE(record.clean()) << record.summary() << record.standardError;
    EXPECT_EQ(record.standardOutput,
              "719 1 kernels/test.cu: line 4: divergent barrier: __syncthreads is reached by 31 of "
              "32 threads of the block, while thread (3,0,0) has returned (block (0,0,0))\n"
              "719 1 kernels/test.cu: line 9: __trap() (block (5,0,0), thread (0,0,0))\n"
              "719 1 kernels/test.cu: line 12: assertion failed: n > 7 (block (0,0,0), thread "
              "(0,0,0))\n"
              "kernels/test.cu: line 4: dive 0\n"
              "0 8\n"
              "719 0 1 seen elsewhere\n");
}

TEST(HostObject, ImpossibleShapesAreErrorCodes) {
    const auto record = runObject(R"(
__global__ void k(int *x) { atomicAdd(x, 1); }
extern "C" int run(int *x, unsigned gx, unsigned gy, unsigned bx, unsigned bz, size_t shared) {
    k<<<dim3(gx, gy), dim3(bx, 1, bz), shared>>>(x);
    const cudaError_t seen = cudaPeekAtLastError();
    if (seen != cudaGetLastError() || cudaGetLastError() != cudaSuccess)
        return -1;
    return seen;
}
extern "C" const char *text(int code) { return cudaGetErrorString(cudaError_t(code)); }
)",
                                  R"(
extern "C" int run(int *, unsigned, unsigned, unsigned, unsigned, size_t);
extern "C" const char *text(int);
int main() {
    int x = 0;
    const auto one = [&](unsigned gx, unsigned gy, unsigned bx, unsigned bz, size_t shared = 0) {
        printf("%d ", run(&x, gx, gy, bx, bz, shared));
    };
    one(0, 1, 32, 1), one(1, 0, 32, 1), one(1, 1, 0, 1), one(1, 1, 1025, 1), one(1, 1, 1, 65);
    one(1, 1, 512, 4), one(1, 65536, 1, 1), one(0x80000000u, 1, 1, 1);
    one(1, 1, 1, 1, 228 << 10), one(1, 1, 1, 1, size_t(1) << 40);
    printf("ran %d\n", x);
    one(1, 65535, 1, 1), one(1, 1, 1024, 1), one(1, 1, 16, 64), one(1, 1, 1, 1, 227 << 10);
    char message[10];
    printf("ran %d, faults %d, %s\n", x, cuda_agent_host_take_fault(message, 10), text(9));
}
)");
    EXPECT_EQ(record.standardOutput,
              "9 9 9 9 9 9 9 9 1 1 ran 0\n"
              "0 0 0 0 ran 67584, faults 0, invalid configuration argument\n")
        << record.summary() << record.standardError;
}

TEST(HostObject, TheRuntimeInterface) {
    const auto record = runObject(R"(
#include <cuda_runtime.h>
#include <cstdio>
#define CHECK(call) do { if (cudaError_t e = (call)) { printf("%s\n", cudaGetErrorName(e)); return 1; } } while (0)
#define FILL(T, ...) fill<T><<<2, 64>>>(__VA_ARGS__)
template <class T>
__global__ void fill(T *x, T value, int n = 128) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += value;
}
__global__ void sum(const float *x, const int *weights, float *out) {
    float s = 0;
    for (int i = 0; i < 128; ++i)
        s += x[i];
    *out = s + (weights ? 1 : 0);
}
static int calls = 0;
static float next() { return float(++calls); }
template <class T>
struct Launcher {
    T *data;
    int threads = 64;
    void go(T value) const { fill<<<2, threads>>>(data, value); }
};
extern "C" int run() {
    float *x = nullptr, *out = nullptr, result = 0;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&x, 128 * sizeof(float)));
    CHECK(cudaMallocAsync(&out, sizeof *out, stream));
    CHECK(cudaMemsetAsync(x, 0, 128 * sizeof(float), stream));
    FILL(float, x, 1.f, 100);       // 100
    fill<<<2, 64, 0, stream>>>(x, next()); // 128, evaluated once
    Launcher<float>{x}.go(0.5f);    // 64
    auto chosen = &fill<float>;
    chosen<<<1, 32>>>(x, 0.25f, 32); // 8
    float value = 2;
    int n = 64;
    void *arguments[] = {&x, &value, &n};
    CHECK(cudaLaunchKernel(fill<float>, dim3(2), dim3(64), arguments, 0, stream)); // 128
    CHECK(cudaFuncSetAttribute(fill<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 99 << 10));
    sum<<<1, 1, 0, stream>>>(x, NULL, out);
    CHECK(cudaMemcpyAsync(&result, out, sizeof result, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    CHECK(cudaFreeAsync(out, stream));
    printf("%g after %d\n", result, calls);
    int device = -1, threads = 0, blocks = 0, processors = 0;
    cudaDeviceProp p;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&p, device));
    CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill<float>, 256, 0));
    printf("%d %d %d %d %zu %d\n", device, threads, p.warpSize, blocks, p.sharedMemPerBlock,
           processors == p.multiProcessorCount && processors > 0);
    printf("%s ", cudaGetErrorName(cudaMalloc(&x, size_t(1) << 60)));
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
)",
                                  "extern \"C\" int run();\nint main() { return run(); }\n");
    EXPECT_TRUE(record.clean()) << record.summary() << record.standardError;
    EXPECT_EQ(record.standardOutput, "428 after 1\n"
                                     "0 1024 32 8 49152 1\n"
                                     "cudaErrorMemoryAllocation cudaErrorMemoryAllocation\n");
}

TEST(HostObject, LaunchesFromSeveralThreadsTakeTurns) {
    const auto record = runObject(R"(
#include <thread>
#include <vector>
__global__ void add(int *x) {
    __shared__ int own;
    own = 1;
    __syncthreads();
    atomicAdd(x, own);
}
extern "C" int run() {
    std::vector<int> sums(4);
    std::vector<std::thread> threads;
    for (int &sum : sums)
        threads.emplace_back([&sum] {
            for (int i = 0; i < 50; ++i)
                add<<<8, 32>>>(&sum);
        });
    for (auto &thread : threads)
        thread.join();
    for (int sum : sums)
        if (sum != 50 * 8 * 32)
            return 1;
    return 0;
}
)",
                                  "extern \"C\" int run();\nint main() { return run(); }\n");
    EXPECT_TRUE(record.clean()) << record.summary() << record.standardError;
}

TEST(HostObject, AssertionsOfHostCodeEndTheProcess) {
    const auto record =
        runObject("#include <cassert>\n"
                  "extern \"C\" void run(int n) {\n    assert(n > 3);\n}\n",
                  "extern \"C\" void run(int);\n"
                  "int main() { run(4); puts(\"first\"); fflush(stdout); run(3); }\n");
    EXPECT_EQ(record.signal, SIGABRT) << record.summary();
    EXPECT_EQ(record.standardOutput, "first\n");
    EXPECT_EQ(record.standardError, "line 3: assertion failed: n > 3\n");
}

// What the second-best compiler makes of the headers.
TEST(HostObject, TheHeadersSuitGcc) {
    auto rewritten = host::rewriteObject({"kernels/k.cu",
                                          fileText("skills/module-candidates/candidates/"
                                                   "residual_scale/kernels/residual_scale.cu"),
                                          {},
                                          {},
                                          {}});
    ASSERT_TRUE(std::holds_alternative<host::RewrittenFiles>(rewritten));
    const auto folder = temporaryFolder();
    std::ofstream(folder / "k.cu")
        << "#include <vector>\n#include <random>\n#include <thread>\n"
        << std::get<host::RewrittenFiles>(rewritten).at("kernels/k.cu").text;
    sandbox::Policy policy;
    policy.name = "test";
    policy.mounts = {{folder, "/program", true}, {shareDir() / "host-cuda", "/headers"}};
    auto record =
        sandbox::run(policy, {"/usr/bin/g++", "-x", "c++", "-std=c++20", "-O1",
                              "-DCUDA_AGENT_HOST_OBJECT=1", "-isystem", "/headers", "-include",
                              "cuda_agent_host.h", "-c", "/program/k.cu", "-o", "/program/k.o"});
    ASSERT_TRUE(record);
    EXPECT_TRUE(record->clean()) << record->standardError;
}
