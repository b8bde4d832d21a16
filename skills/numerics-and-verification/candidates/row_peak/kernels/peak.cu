// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// value[r] = max of row r, index[r] = the first place where it stands; one warp a row.
//
// Usage: grid cdiv(R, 8), block (32, 8); n >= 1.
//
// Version 1: fmaxf and a comparison for the index. fmaxf drops NaN, so a row with one gives the
//            largest number and fails the "nan" case; and which of two equal values wins depends on
//            the lanes.
// Version 2: one order for (value, index): NaN above every number, of equals the lower index. It has
//            one result whatever the order of merging, so lanes may merge as they like.

#include <math_constants.h> // NVRTC knows no INFINITY

__device__ __forceinline__ bool before(float a, int i, float b, int j) {
    const bool nanA = a != a, nanB = b != b;
    if (nanA || nanB)
        return nanA && (!nanB || i < j);
    return a > b || (a == b && i < j);
}

extern "C" __global__ void row_peak(const float *__restrict__ x, float *__restrict__ value,
                                    long long *__restrict__ index, int rows, int n) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return; // whole warps
    const float *from = x + (long long)row * n;
    float best = -CUDART_INF_F;
    int at = 0x7fffffff; // loses to every real place, also to one that holds -inf
    for (int i = threadIdx.x; i < n; i += 32)
        if (before(from[i], i, best, at)) {
            best = from[i];
            at = i;
        }
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, best, step);
        const int place = __shfl_xor_sync(0xffffffffu, at, step);
        if (before(other, place, best, at)) {
            best = other;
            at = place;
        }
    }
    if (threadIdx.x == 0) {
        value[row] = best;
        index[row] = at;
    }
}
