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
//            few units in the last place, still in one pass.
// Rows that fit on the chip do better with two exact passes over registers, which have no division
// in the loop: see the skill reductions-and-normalisations.

extern "C" __global__ void row_variance(const float *__restrict__ x, float *__restrict__ out,
                                        int rows, int n) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return; // whole warps
    const float *from = x + (long long)row * n;
    const float shift = from[0]; // one for all lanes: their means are merged
    float count = 0.0f, mean = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) {
        const float v = from[i] - shift, delta = v - mean;
        count += 1.0f;
        mean += delta / count;
        squares += delta * (v - mean);
    }
    for (int step = 16; step > 0; step /= 2) {
        const float otherCount = __shfl_down_sync(0xffffffffu, count, step);
        const float otherMean = __shfl_down_sync(0xffffffffu, mean, step);
        const float otherSquares = __shfl_down_sync(0xffffffffu, squares, step);
        const float total = count + otherCount;
        if (otherCount > 0.0f) { // a lane without values would give 0 / 0
            const float delta = otherMean - mean, share = otherCount / total;
            mean += delta * share;
            squares += otherSquares + delta * delta * count * share;
            count = total;
        }
    }
    if (threadIdx.x == 0)
        out[row] = squares / (float)(n - 1);
}
