// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out[b][c][r] = scale * x[b][r][c].
//
// Usage: grid (cdiv(C, 32), cdiv(R, 32), B), block (32, 8). Any R and C.
//
// Version 1: out[c * R + r] = x[r * C + c] straight. Reads are whole lines, writes touch a line of
//            128 bytes for 4 bytes each.
// Version 2: a 32 x 32 tile in shared memory, so that both sides move whole lines.
// Version 3: 33 words a tile row: with 32, a column of the tile lies in one bank and its 32 reads
//            happen one after the other.

extern "C" __global__ void transpose_scale(const float *__restrict__ x, float *__restrict__ out,
                                           int rows, int columns, float scale) {
    __shared__ float tile[32][33];
    const float *from = x + (long long)blockIdx.z * rows * columns;
    float *to = out + (long long)blockIdx.z * rows * columns;
    const int left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (top + y < rows && left + threadIdx.x < columns)
            tile[y][threadIdx.x] = from[(long long)(top + y) * columns + left + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (left + y < columns && top + threadIdx.x < rows)
            to[(long long)(left + y) * rows + top + threadIdx.x] = scale * tile[threadIdx.x][y];
}
