// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out[b][c][r] = scale * x[b][r][c].
//
// Usage: grid (cdiv(C, 64), cdiv(R, 64), B), block 256. Any R and C; 16-byte words where both are
// multiples of 4.
//
// Version 1: out[c * R + r] = x[r * C + c] straight. Reads are whole lines, writes touch a line of
//            128 bytes for 4 bytes each.
// Version 2: a 32 x 32 tile in shared memory, so that both sides move whole lines; 33 words a tile
//            row, because with 32 a column of the tile lies in one bank. 67 % of an H200's limit.
// Version 3: a 64 x 64 tile and 16-byte words on both sides: a quarter of the memory instructions,
//            64 bytes in flight a thread, and runs of 256 bytes in each row. The tile's own accesses
//            stay 4 bytes wide; 65 words a row leave two lanes a bank, which costs nothing here.

#define TILE 64

extern "C" __global__ void transpose_scale(const float *__restrict__ x, float *__restrict__ out,
                                           int rows, int columns, float scale) {
    __shared__ float tile[TILE][TILE + 1];
    const float *from = x + (long long)blockIdx.z * rows * columns;
    float *to = out + (long long)blockIdx.z * rows * columns;
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    const int across = threadIdx.x % 16 * 4, down = threadIdx.x / 16;
    const bool wide = rows % 4 == 0 && columns % 4 == 0;

    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int r = top + down + k * 16, c = left + across;
        v[k] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (r >= rows)
            continue;
        const float *at = from + (long long)r * columns + c;
        if (wide) {
            if (c < columns)
                v[k] = *reinterpret_cast<const float4 *>(at);
        } else {
            v[k].x = c < columns ? at[0] : 0.0f;
            v[k].y = c + 1 < columns ? at[1] : 0.0f;
            v[k].z = c + 2 < columns ? at[2] : 0.0f;
            v[k].w = c + 3 < columns ? at[3] : 0.0f;
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        float *row = &tile[down + k * 16][across];
        row[0] = v[k].x, row[1] = v[k].y, row[2] = v[k].z, row[3] = v[k].w;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int c = left + down + k * 16, r = top + across;
        if (c >= columns)
            continue;
        const int column = down + k * 16;
        const float4 w = make_float4(scale * tile[across][column], scale * tile[across + 1][column],
                                     scale * tile[across + 2][column],
                                     scale * tile[across + 3][column]);
        float *at = to + (long long)c * rows + r;
        if (wide) {
            if (r < rows)
                *reinterpret_cast<float4 *>(at) = w;
        } else {
            if (r < rows)
                at[0] = w.x;
            if (r + 1 < rows)
                at[1] = w.y;
            if (r + 2 < rows)
                at[2] = w.z;
            if (r + 3 < rows)
                at[3] = w.w;
        }
    }
}
