// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Files of module candidates, compiled to objects, linked and run.

#include "tests/core/toolchain/object_helpers.h"

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::test;

namespace {

std::string fileText(const std::string &path) {
    auto text = readTextFile(std::filesystem::path(CUDA_AGENT_SOURCE_DIR) / path);
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
