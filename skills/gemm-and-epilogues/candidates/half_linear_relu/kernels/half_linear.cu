// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out[m][n] = relu(sum over k of x[m][k] * w[n][k] + bias[n]), half in and out, float sums.
//
// Usage: grid (cdiv(M, 128), cdiv(N, 128)), block 256, dynamic shared memory STAGES * 16384 bytes,
// -DSTAGES=4; K a multiple of 8 (16-byte copies), N even. Needs sm_80 or newer.
// Both operands lie with k innermost, as nn.Linear keeps them: no transposition anywhere.
//
// Version 1: 16 x 16 tiles with scalar FMA: about 30 TFLOP/s at most, whatever else is done.
// Version 2: mma.sync.m16n8k16, 128 x 128 x 32 a block, 8 warps of 64 x 32 each: an operand word that
//            comes out of shared memory is used 32 to 64 times.
// Version 3: ldmatrix with the 16-byte chunks of a row permuted by (row / 2) % 4: 8 rows of a matrix
//            then cover all 32 banks once; unpermuted, they hit the same bank in fours.
// Version 4: cp.async into a ring of STAGES tiles: loads of three tiles are under way while one is
//            multiplied, and they take no registers. One barrier a tile.
// Version 5: bias and relu on the accumulators: the output crosses memory once.
// What it leaves on the table on Hopper: wgmma and TMA, about half of the peak.

#include <cuda_fp16.h>

#ifndef STAGES
#define STAGES 4
#endif
#define TILE 128
#define DEPTH 32 // of k, in each stage

__device__ __forceinline__ float reluOf(float v) {
    return v < 0.0f ? 0.0f : v; // keeps NaN
}

#ifdef __CUDA_AGENT_HOST__

// No tensor cores on a host: the same tiles with plain loops, so that indices, bounds and the plan
// are verified there too.
extern "C" __global__ void half_linear_relu(const __half *__restrict__ x,
                                            const __half *__restrict__ w,
                                            const __half *__restrict__ bias,
                                            __half *__restrict__ out, int m, int n, int k) {
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        const int row = blockIdx.x * TILE + i / TILE, column = blockIdx.y * TILE + i % TILE;
        if (row >= m || column >= n)
            continue;
        float sum = 0.0f;
        for (int j = 0; j < k; ++j)
            sum += __half2float(x[(long long)row * k + j]) *
                   __half2float(w[(long long)column * k + j]);
        out[(long long)row * n + column] = __float2half(reluOf(sum + __half2float(bias[column])));
    }
}

#else

// 16 bytes from global to shared memory; zeros where there is nothing to read.
__device__ __forceinline__ void copyAsync(unsigned to, const __half *from, bool there) {
    const int bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void loadMatrices(unsigned (&r)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Byte offset of a 16-byte chunk of a tile row of 32 halves.
__device__ __forceinline__ unsigned placeOf(int row, int chunk) {
    return row * (DEPTH * 2) + ((chunk ^ ((row >> 1) & 3)) << 4);
}

extern "C" __global__ void __launch_bounds__(256)
    half_linear_relu(const __half *__restrict__ x, const __half *__restrict__ w,
                     const __half *__restrict__ bias, __half *__restrict__ out, int m, int n, int k) {
    extern __shared__ __align__(128) unsigned char tiles[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(tiles);
    const unsigned stageBytes = 2 * TILE * DEPTH * 2, half = TILE * DEPTH * 2;
    const int top = blockIdx.x * TILE, left = blockIdx.y * TILE;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warpTop = warp / 4 * 64, warpLeft = warp % 4 * 32;
    const int slices = (k + DEPTH - 1) / DEPTH;

    const auto load = [&](int slice) {
        if (slice < slices) {
            const unsigned stage = base + (slice % STAGES) * stageBytes;
#pragma unroll
            for (int i = threadIdx.x; i < TILE * 4; i += 256) {
                const int row = i / 4, chunk = i % 4, at = slice * DEPTH + chunk * 8;
                const bool inA = top + row < m && at < k, inB = left + row < n && at < k;
                copyAsync(stage + placeOf(row, chunk),
                          inA ? x + (long long)(top + row) * k + at : x, inA);
                copyAsync(stage + half + placeOf(row, chunk),
                          inB ? w + (long long)(left + row) * k + at : w, inB);
            }
        }
        // Committed also when empty, so that the number of groups in flight stays known.
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float sums[4][4][4] = {};
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s)
        load(s);
    for (int slice = 0; slice < slices; ++slice) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); // the slice has landed for all; the stage refilled below is no longer read
        load(slice + STAGES - 1);
        const unsigned stage = base + (slice % STAGES) * stageBytes;
#pragma unroll
        for (int step = 0; step < DEPTH / 16; ++step) {
            unsigned a[4][4], b[2][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                loadMatrices(a[i], stage + placeOf(warpTop + i * 16 + lane % 16,
                                                   step * 2 + lane / 16));
#pragma unroll
            for (int j = 0; j < 2; ++j)
                loadMatrices(b[j], stage + half +
                                       placeOf(warpLeft + j * 16 + lane % 8 + lane / 16 * 8,
                                               step * 2 + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }

    // A lane holds two neighbours in rows lane / 4 and lane / 4 + 8 of each 16 x 8 tile.
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int column = left + warpLeft + j * 8 + lane % 4 * 2;
        if (column >= n)
            continue; // n is even: a pair is in or out as a whole
        const float2 add = __half22float2(*reinterpret_cast<const __half2 *>(bias + column));
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const int row = top + warpTop + i * 16 + h * 8 + lane / 4;
                if (row < m)
                    *reinterpret_cast<__half2 *>(out + (long long)row * n + column) =
                        __floats2half2_rn(reluOf(sums[i][j][h * 2] + add.x),
                                          reluOf(sums[i][j][h * 2 + 1] + add.y));
            }
    }
}

#endif
