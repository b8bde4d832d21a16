// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out = scale * round_to_half(a @ b), a: M x K and b: K x N in half, row-major, out float.
//
// Usage: grid (N / 32, M / 32), block 32 (one warp); M and N multiples of 32, K of 16. Needs sm_70;
// the CPU device refuses it (tensor-core instructions).
//
// Version 1: one 16 x 16 tile a warp. Every operand fragment is used once.
// Version 2: 2 x 2 tiles a warp: each fragment is used twice, half the loads for the same work.
// It reads its operands straight from L2; past a few hundred rows and columns use half_linear_relu's
// shared-memory ring, or the gemm step.

#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_matmul(const __half *__restrict__ a, const __half *__restrict__ b,
                                       float *__restrict__ out, int n, int k, float scale) {
    const int top = blockIdx.y * 32, left = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::fill_fragment(sums[i][j], 0.0f);
    for (int at = 0; at < k; at += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
        for (int i = 0; i < 2; ++i) {
            wmma::load_matrix_sync(fa[i], a + (long long)(top + i * 16) * k + at, k);
            wmma::load_matrix_sync(fb[i], b + (long long)at * n + left + i * 16, n);
        }
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                wmma::mma_sync(sums[i][j], fa[i], fb[j], sums[i][j]);
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            // Every element is treated alike, so the layout of a fragment need not be known.
            for (int e = 0; e < sums[i][j].num_elements; ++e)
                sums[i][j].x[e] = scale * __half2float(__float2half(sums[i][j].x[e]));
            wmma::store_matrix_sync(out + (long long)(top + i * 16) * n + left + j * 16, sums[i][j],
                                    n, wmma::mem_row_major);
        }
}
