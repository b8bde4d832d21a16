// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depthwise 3 x 3, stride 1, padding 1: out[b][c] = conv(x[b][c], w[c]) + bias[c].
//
// Usage: grid (B * C, cdiv(H, 32), cdiv(W, 32)), block (32, 8). Any H and W.
//
// Version 1: nine loads a result from global memory: L1 serves eight of them, but they still take
//            nine load instructions.
// Version 2: 34 x 34 values in shared memory, 32 x 32 results a block: 1.13 reads a result.
// Version 3: a thread makes four rows of a column, so the weights stay in registers and the two rows
//            that neighbours share are read from shared memory once: 6 reads a row of three for 4
//            results, not 12.

extern "C" __global__ void depthwise3x3(const float *__restrict__ x, const float *__restrict__ w,
                                        const float *__restrict__ bias, float *__restrict__ out,
                                        int channels, int height, int width) {
    __shared__ float tile[34][34];
    const int plane = blockIdx.x, c = plane % channels;
    const int top = blockIdx.y * 32, left = blockIdx.z * 32;
    const float *from = x + (long long)plane * height * width;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 34 * 34; i += 256) {
        const int row = top + i / 34 - 1, column = left + i % 34 - 1;
        const bool inside = row >= 0 && row < height && column >= 0 && column < width;
        tile[i / 34][i % 34] = inside ? from[(long long)row * width + column] : 0.0f;
    }
    float weights[9];
#pragma unroll
    for (int i = 0; i < 9; ++i)
        weights[i] = w[c * 9 + i];
    const float add = bias[c];
    __syncthreads();

    const int column = left + threadIdx.x;
    if (column >= width)
        return;
    float sums[4] = {add, add, add, add};
#pragma unroll
    for (int r = 0; r < 6; ++r) {
        const float *row = &tile[threadIdx.y * 4 + r][threadIdx.x];
        const float a = row[0], b = row[1], d = row[2];
#pragma unroll
        for (int o = 0; o < 4; ++o) {
            const int tap = r - o; // row of the window that input row r is for result o
            if (tap >= 0 && tap < 3)
                sums[o] += weights[tap * 3] * a + weights[tap * 3 + 1] * b + weights[tap * 3 + 2] * d;
        }
    }
#pragma unroll
    for (int o = 0; o < 4; ++o) {
        const int row = top + threadIdx.y * 4 + o;
        if (row < height)
            out[((long long)plane * height + row) * width + column] = sums[o];
    }
}
