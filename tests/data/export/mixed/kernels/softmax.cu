// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Softmax of scale * x, one block a row. The row's maximum starts from `high`; the answer is written
// twice, for the product and for the convolution.
// Version 1: the maximum and the sum by trees over shared memory.
// Version 2: the scaled row is kept in `rows`: a product fused with the difference from the maximum
// gave large values an infinite exponential.
extern "C" __global__ void softmax_rows(const float *x, float *high, float *rows, float *out, int n,
                                        float scale) {
    extern __shared__ float tile[];
    const long long first = (long long)blockIdx.x * n;
    float best = high[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x * STEP) {
        rows[first + i] = scale * x[first + i];
        best = fmaxf(best, rows[first + i]);
    }
    tile[threadIdx.x] = best;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            tile[threadIdx.x] = fmaxf(tile[threadIdx.x], tile[threadIdx.x + half]);
        __syncthreads();
    }
    best = tile[0];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += expf(rows[first + i] - best);
    tile[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        high[blockIdx.x] = best;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        rows[first + i] = out[first + i] = expf(rows[first + i] - best) / tile[0];
}
