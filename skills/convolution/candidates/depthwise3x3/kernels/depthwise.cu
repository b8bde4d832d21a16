// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Depthwise 3 x 3, stride 1, padding 1: out[b][c] = conv(x[b][c], w[c]) + bias[c].
//
// Usage: grid (B * C, cdiv(H, 64), cdiv(W, 32)), block (32, 8). Any H and W.
//
// Times are for 32 x 256 x 96 x 96 on an H200; cuDNN takes 715 us, torch.compile 496.
// Version 1: a thread a result, nine loads each.
// Version 2: 34 x 34 values in shared memory for 32 x 32 results, four rows a thread: 290 us. Filling
//            the tile (a division for each value, a barrier) costs more than it saves.
// Version 3: no shared memory. A thread makes four rows of a column and reads 6 x 3 values straight:
//            L1 has the neighbours, and all loads are in flight at once: 267 us.
// Version 4: eight rows a thread: 10 x 3 reads for 8 results, 255 us, 56 % of the limit. Next would be
//            two columns a thread in 8-byte words.

#define ROWS 8

extern "C" __global__ void depthwise3x3(const float *__restrict__ x, const float *__restrict__ w,
                                        const float *__restrict__ bias, float *__restrict__ out,
                                        int channels, int height, int width) {
    const int plane = blockIdx.x, c = plane % channels;
    const int column = blockIdx.z * 32 + threadIdx.x;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if (column >= width)
        return;
    const float *from = x + (long long)plane * height * width;
    float weights[9];
#pragma unroll
    for (int i = 0; i < 9; ++i)
        weights[i] = w[c * 9 + i];
    const float add = bias[c];
    const bool hasLeft = column > 0, hasRight = column + 1 < width;
    float v[ROWS + 2][3];
#pragma unroll
    for (int r = 0; r < ROWS + 2; ++r) {
        const int row = top + r - 1;
        const bool inside = row >= 0 && row < height;
        const float *at = from + (long long)row * width + column;
        v[r][0] = inside && hasLeft ? at[-1] : 0.0f;
        v[r][1] = inside ? at[0] : 0.0f;
        v[r][2] = inside && hasRight ? at[1] : 0.0f;
    }
#pragma unroll
    for (int o = 0; o < ROWS; ++o) {
        float sum = add;
#pragma unroll
        for (int i = 0; i < 9; ++i)
            sum += weights[i] * v[o + i / 3][i % 3];
        if (top + o < height)
            out[((long long)plane * height + top + o) * width + column] = sum;
    }
}
