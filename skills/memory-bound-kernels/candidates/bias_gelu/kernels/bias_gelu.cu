// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out = gelu(x + bias), exact (erf) form, row-major R x N.
//
// Usage: grid (cdiv(R, ROWS), cdiv(cdiv(N, 4), block)), block 256, -DROWS=4. Any N; rows whose
// length is a multiple of 4 are moved in 16-byte words.
//
// Version 1: one thread an element. 4-byte loads leave too few bytes in flight.
// Version 2: float4 loads and stores: a quarter of the instructions for the same bytes.
// Version 3: the column is fixed a thread, so the bias is read once for ROWS rows and no division
//            by N is left; all ROWS loads are issued before the first use, 64 bytes in flight a
//            thread.

#ifndef ROWS
#define ROWS 4
#endif

__device__ __forceinline__ float gelu(float v) {
    return 0.5f * v * (1.0f + erff(v * 0.70710678118654752f));
}

extern "C" __global__ void bias_gelu(const float *__restrict__ x, const float *__restrict__ bias,
                                     float *__restrict__ out, int rows, int n) {
    const int column = (blockIdx.y * blockDim.x + threadIdx.x) * 4;
    const int first = blockIdx.x * ROWS;
    const int last = min(first + ROWS, rows);
    if (column >= n)
        return;
    if (n % 4 == 0) {
        const float4 b = *reinterpret_cast<const float4 *>(bias + column);
        float4 v[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (first + r < last)
                v[r] = *reinterpret_cast<const float4 *>(x + (long long)(first + r) * n + column);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (first + r >= last)
                break;
            const float4 y = make_float4(gelu(v[r].x + b.x), gelu(v[r].y + b.y),
                                         gelu(v[r].z + b.z), gelu(v[r].w + b.w));
            *reinterpret_cast<float4 *>(out + (long long)(first + r) * n + column) = y;
        }
        return;
    }
    for (int row = first; row < last; ++row)
        for (int c = column; c < min(column + 4, n); ++c)
            out[(long long)row * n + c] = gelu(x[(long long)row * n + c] + bias[c]);
}
