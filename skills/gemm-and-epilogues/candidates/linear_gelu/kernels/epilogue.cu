// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// y = gelu(y + bias) + residual in place, row-major rows x n: what follows a gemm step.
//
// Usage: grid (cdiv(rows, 4), cdiv(n, 4 * block)), block 256; n a multiple of 4.
//
// Version 1: bias in the gemm step, gelu and residual in a kernel each: y crosses memory five times.
// Version 2: all of it in one kernel: y is read and written once more than the product has to.
//            Run right after the product, a y of up to some 30 MB is still in L2.

__device__ __forceinline__ float gelu(float v) {
    return 0.5f * v * (1.0f + erff(v * 0.70710678118654752f));
}

extern "C" __global__ void bias_gelu_residual(float *__restrict__ y, const float *__restrict__ bias,
                                              const float *__restrict__ residual, int rows, int n) {
    const int column = (blockIdx.y * blockDim.x + threadIdx.x) * 4;
    if (column >= n)
        return;
    const float4 b = *reinterpret_cast<const float4 *>(bias + column);
    const int first = blockIdx.x * 4, last = min(first + 4, rows);
#pragma unroll
    for (int row = first; row < last; ++row) {
        const long long at = (long long)row * n + column;
        const float4 v = *reinterpret_cast<const float4 *>(y + at);
        const float4 r = *reinterpret_cast<const float4 *>(residual + at);
        *reinterpret_cast<float4 *>(y + at) =
            make_float4(gelu(v.x + b.x) + r.x, gelu(v.y + b.y) + r.y, gelu(v.z + b.z) + r.z,
                        gelu(v.w + b.w) + r.w);
    }
}
