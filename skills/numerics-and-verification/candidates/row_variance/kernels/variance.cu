// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out[r] = variance of row r with n - 1 in the denominator; one warp a row.
//
// Usage: grid cdiv(R, 8), block (32, 8); n >= 2.
//
// Version 1: sum and sum of squares in one pass, (q - s * s / n) / (n - 1). With mean 300 and
//            deviation 1 the two terms agree in five of their seven digits: the result keeps two,
//            and verification says so.
// Version 2: (count, mean, sum of squared deviations) a lane, updated value by value (Welford), lanes
//            merged pairwise (Chan). Still 1e-5 off: the running mean is rounded at 300, where a
//            float has steps of 3e-5.
// Version 3: the same on x - x[0], which is exact where the values are close together: an error of a
//            few units in the last place. One load in flight and a division a value: 45 % of an
//            H200's limit.
// Version 4: 16 values a lane at a time: all loads first, then their mean and squared deviations in
//            two passes over registers, merged into the lane's: one division for 16 values.
// Rows that fit into registers as a whole need no merging at all: see the skill
// reductions-and-normalisations.

#define VALUES 16

struct Moments {
    float count, mean, squares;
};

__device__ __forceinline__ Moments merged(Moments a, Moments b) {
    if (b.count == 0.0f)
        return a; // 0 / 0 otherwise
    const float total = a.count + b.count, delta = b.mean - a.mean, share = b.count / total;
    return {total, a.mean + delta * share,
            a.squares + b.squares + delta * delta * a.count * share};
}

extern "C" __global__ void row_variance(const float *__restrict__ x, float *__restrict__ out,
                                        int rows, int n) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return; // whole warps
    const float *from = x + (long long)row * n;
    const float shift = from[0]; // one for all lanes: their means are merged
    Moments all = {0.0f, 0.0f, 0.0f};
    for (int base = threadIdx.x; base < n; base += 32 * VALUES) {
        float v[VALUES];
        const int left = (n - base + 31) / 32; // values of this lane, this one included
        const int here = min(left, VALUES);
#pragma unroll
        for (int k = 0; k < VALUES; ++k)
            v[k] = k < here ? from[base + k * 32] - shift : 0.0f;
        Moments some = {(float)here, 0.0f, 0.0f};
#pragma unroll
        for (int k = 0; k < VALUES; ++k)
            some.mean += v[k];
        some.mean /= some.count;
#pragma unroll
        for (int k = 0; k < VALUES; ++k) {
            const float delta = v[k] - some.mean;
            some.squares += k < here ? delta * delta : 0.0f;
        }
        all = merged(all, some);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        all = merged(all, {__shfl_down_sync(0xffffffffu, all.count, step),
                           __shfl_down_sync(0xffffffffu, all.mean, step),
                           __shfl_down_sync(0xffffffffu, all.squares, step)});
    if (threadIdx.x == 0)
        out[row] = all.squares / (float)(n - 1);
}
