// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// A row backwards times a weight, one block a row.
// Version 1: the row goes through shared memory, so that both ways to it are in order; __half's own
// operators are what PyTorch's build flags take away.
#include <cuda_fp16.h>

extern "C" __global__ void flip_rows(const __half *x, const __half *weight, __half *out, long long n) {
    extern __shared__ __half row[];
    const long long first = blockIdx.x * n;
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        row[i] = x[first + i];
    __syncthreads();
    for (long long i = threadIdx.x; i < n; i += blockDim.x)
        out[first + i] = row[n - 1 - i] * weight[i];
}
