// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out = x + scale * residual, row-major rows x n, scale has n elements.
//
// Usage: residual_scale_launcher(x, residual, scale, out, rows, n, config, stream); pointers on the
// device, 4-byte aligned. config 0: 256 threads a block, 1: 128, 2: 512; anything else is 0.
// Returns after the launch; the caller asks cudaGetLastError.
//
// Version 1: one thread an element, i % n for the feature.
// Version 2: four features a thread in 16-byte words where n and the addresses allow, four rows a
//            thread, so that the scale is read once for them and no division is left.

#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int rowsPerThread = 4;

__global__ void words(const float4 *__restrict__ x, const float4 *__restrict__ residual,
                      const float4 *__restrict__ scale, float4 *__restrict__ out, long long rows,
                      int n4) {
    const int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= n4)
        return;
    const float4 s = scale[column];
    const long long first = (long long)blockIdx.x * rowsPerThread;
#pragma unroll
    for (int r = 0; r < rowsPerThread; ++r) {
        if (first + r >= rows)
            return;
        const long long i = (first + r) * n4 + column;
        const float4 a = x[i], b = residual[i];
        out[i] = make_float4(a.x + s.x * b.x, a.y + s.y * b.y, a.z + s.z * b.z, a.w + s.w * b.w);
    }
}

__global__ void elements(const float *__restrict__ x, const float *__restrict__ residual,
                         const float *__restrict__ scale, float *__restrict__ out, long long count,
                         int n) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = x[i] + scale[i % n] * residual[i];
}

bool isAligned(const void *pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

} // namespace

extern "C" void residual_scale_launcher(const float *x, const float *residual, const float *scale,
                                        float *out, long long rows, int n, int config,
                                        cudaStream_t stream) {
    if (rows <= 0 || n <= 0)
        return; // a grid of no blocks is an error
    const int block = config == 1 ? 128 : config == 2 ? 512 : 256;
    const bool wide = n % 4 == 0 && isAligned(x) && isAligned(residual) && isAligned(scale) &&
                      isAligned(out) && (n / 4 + block - 1) / block <= 65535;
    if (wide) {
        const dim3 grid((unsigned)((rows + rowsPerThread - 1) / rowsPerThread),
                        (unsigned)((n / 4 + block - 1) / block));
        words<<<grid, block, 0, stream>>>(
            reinterpret_cast<const float4 *>(x), reinterpret_cast<const float4 *>(residual),
            reinterpret_cast<const float4 *>(scale), reinterpret_cast<float4 *>(out), rows, n / 4);
        return;
    }
    const long long count = rows * n;
    elements<<<(unsigned)((count + block - 1) / block), block, 0, stream>>>(x, residual, scale, out,
                                                                          count, n);
}
