// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out[m][n] = relu(sum over k of x[m][k] * w[n][k] + bias[n]), half in and out, float sums.
//
// Usage: grid (cdiv(M, 128), cdiv(N, TILE_N)), block TILE_N / WARP_N * 64, dynamic shared memory
// STAGES * (128 + TILE_N) * 128 bytes; -DTILE_N=128 -DWARP_N=64 -DSTAGES=3. M and N at least 1, N
// even, K a multiple of 8 (16-byte copies). Needs sm_80 or newer.
// Both operands lie with k innermost, as nn.Linear keeps them: no transposition anywhere.
//
// Times are for 8192 x 1024 x 4096 on an H200, where cuBLAS takes 137 us.
// Version 1: 16 x 16 tiles with scalar FMA: about 30 TFLOP/s at most, whatever else is done.
// Version 2: mma.sync.m16n8k16, 128 x 128 x 32 a block, 8 warps of 64 x 32 each; ldmatrix with
//            permuted 16-byte chunks, so that 8 rows of a matrix cover all 32 banks once; cp.async into
//            a ring of 4 tiles, one barrier a tile; bias and relu on the accumulators: 272 us.
// Version 3: larger warp tiles or more stages alone: slower, 324 us. The disassembly shows why: 12
//            branches between barrier and first HMMA, from bounds and 64-bit products of every copy.
// Version 4: row pointers are made before the loop, rows past the end repeat the last one, only the
//            end of k is a condition (it becomes the size of the copy): 231 us.
// Version 5: 64 of k a stage: rows of 128 bytes are whole lines, and half the barriers: 206 us.
// Version 6: 4 warps of 64 x 64: a fragment is used 4 and 8 times: 195 us, 352 TFLOP/s.
// Left on the table: wgmma and TMA with multicast. Where m is small it wins as it is: 333 x 1000 x 254
// takes 21 us, torch.compile 54 to 94.

#include <cuda_fp16.h>

#ifndef STAGES
#define STAGES 3
#endif
#ifndef TILE_N
#define TILE_N 128
#endif
#ifndef WARP_N
#define WARP_N 64
#endif
#define TILE_M 128
#define WARP_M 64
#define WARPS_N (TILE_N / WARP_N)
#define THREADS (TILE_M / WARP_M * WARPS_N * 32)
#define DEPTH 64 // of k, in each stage
#define CHUNKS (DEPTH / 8) // of 16 bytes in a row of a tile
#define ROWS (THREADS / CHUNKS) // that one round of copies covers
#define COPIES(tile) ((tile) / ROWS)

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
    for (int i = threadIdx.x; i < TILE_M * TILE_N; i += blockDim.x) {
        const int row = blockIdx.x * TILE_M + i / TILE_N, column = blockIdx.y * TILE_N + i % TILE_N;
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

// Byte offset of a 16-byte chunk of a tile row of 64 halves.
__device__ __forceinline__ unsigned placeOf(int row, int chunk) {
    return row * (DEPTH * 2) + ((chunk ^ (row & 7)) << 4);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    half_linear_relu(const __half *__restrict__ x, const __half *__restrict__ w,
                     const __half *__restrict__ bias, __half *__restrict__ out, int m, int n, int k) {
    extern __shared__ __align__(128) unsigned char tiles[];
    const unsigned base = (unsigned)__cvta_generic_to_shared(tiles);
    const unsigned stageBytes = (TILE_M + TILE_N) * DEPTH * 2, half = TILE_M * DEPTH * 2;
    const int top = blockIdx.x * TILE_M, left = blockIdx.y * TILE_N;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warpTop = warp / WARPS_N * WARP_M, warpLeft = warp % WARPS_N * WARP_N;
    const int slices = (k + DEPTH - 1) / DEPTH;

    // Each thread copies the same chunk of some rows. Rows past the end repeat the last one: what
    // comes of them is not stored. That leaves no condition but the end of k in the loop.
    const int chunk = threadIdx.x % CHUNKS, firstRow = threadIdx.x / CHUNKS;
    const __half *fromA[COPIES(TILE_M)], *fromB[COPIES(TILE_N)];
#pragma unroll
    for (int i = 0; i < COPIES(TILE_M); ++i)
        fromA[i] = x + (long long)min(top + firstRow + i * ROWS, m - 1) * k + chunk * 8;
#pragma unroll
    for (int i = 0; i < COPIES(TILE_N); ++i)
        fromB[i] = w + (long long)min(left + firstRow + i * ROWS, n - 1) * k + chunk * 8;
    const auto load = [&](int slice) {
        if (slice < slices) {
            const unsigned stage = base + (slice % STAGES) * stageBytes;
            const int at = slice * DEPTH;
            const bool there = at + chunk * 8 < k;
            const int step = there ? at : 0;
#pragma unroll
            for (int i = 0; i < COPIES(TILE_M); ++i)
                copyAsync(stage + placeOf(firstRow + i * ROWS, chunk), fromA[i] + step, there);
#pragma unroll
            for (int i = 0; i < COPIES(TILE_N); ++i)
                copyAsync(stage + half + placeOf(firstRow + i * ROWS, chunk), fromB[i] + step,
                          there);
        }
        // Committed also when empty, so that the number of groups in flight stays known.
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float sums[WARP_M / 16][WARP_N / 8][4] = {};
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
            unsigned a[WARP_M / 16][4], b[WARP_N / 16][4];
#pragma unroll
            for (int i = 0; i < WARP_M / 16; ++i)
                loadMatrices(a[i], stage + placeOf(warpTop + i * 16 + lane % 16,
                                                   step * 2 + lane / 16));
#pragma unroll
            for (int j = 0; j < WARP_N / 16; ++j)
                loadMatrices(b[j], stage + half +
                                       placeOf(warpLeft + j * 16 + lane % 8 + lane / 16 * 8,
                                               step * 2 + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < WARP_M / 16; ++i)
#pragma unroll
                for (int j = 0; j < WARP_N / 8; ++j)
                    multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }

    // A lane holds two neighbours in rows lane / 4 and lane / 4 + 8 of each 16 x 8 tile.
#pragma unroll
    for (int j = 0; j < WARP_N / 8; ++j) {
        const int column = left + warpLeft + j * 8 + lane % 4 * 2;
        if (column >= n)
            continue; // n is even: a pair is in or out as a whole
        const float2 add = __half22float2(*reinterpret_cast<const __half2 *>(bias + column));
#pragma unroll
        for (int i = 0; i < WARP_M / 16; ++i)
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
