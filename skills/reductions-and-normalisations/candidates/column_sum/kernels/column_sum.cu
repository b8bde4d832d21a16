// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out[c] = sum over r of x[r][c], row-major R x N.
//
// Usage: column_parts with grid (cdiv(N, 128), splits), block (32, 8), rowsPerSplit = cdiv(R,
// splits); then add_parts with a thread a column. N a multiple of 4.
//
// Version 1: one thread a column, all rows: reads are whole lines, but 512 columns are 16 warps on a
//            card that wants 132 * 64.
// Version 2: rows split over blocks until there are about 8 for each of 132 SMs; partial sums go to
//            scratch and a second step adds them, in the same order at every call.
// Version 3: 4 columns (16 bytes) a lane and 8 warps a block that add up in shared memory, so that
//            scratch stays small.

extern "C" __global__ void column_parts(const float *__restrict__ x, float *__restrict__ part,
                                        int rows, int n, int rowsPerSplit) {
    __shared__ float4 sums[8][32];
    const int column = (blockIdx.x * 32 + threadIdx.x) * 4;
    const int first = blockIdx.y * rowsPerSplit;
    const int last = min(first + rowsPerSplit, rows);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (column < n) {
#pragma unroll 4
        for (int r = first + threadIdx.y; r < last; r += 8) {
            const float4 v = *reinterpret_cast<const float4 *>(x + (long long)r * n + column);
            sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= n)
        return;
    for (int y = 1; y < 8; ++y) {
        const float4 v = sums[y][threadIdx.x];
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    *reinterpret_cast<float4 *>(part + (long long)blockIdx.y * n + column) = sum;
}

extern "C" __global__ void add_parts(const float *__restrict__ part, float *__restrict__ out,
                                     int splits, int n) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n)
        return;
    float sum = 0.0f;
#pragma unroll 8
    for (int s = 0; s < splits; ++s)
        sum += part[(long long)s * n + column];
    out[column] = sum;
}
