// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out = mean((p - t)^2) over all elements.
//
// Usage: square_parts with 8 blocks of 256 for each of 132 SMs (1056) or as many as there is work
// for, then mean_of_parts with one block. Between the two stands the end of the first step.
//
// Version 1: atomicAdd of every thread into one float: all wait for one address, and the sum comes
//            in another order at every call ("not bitwise deterministic").
// Version 2: a sum a block into scratch, a second small kernel adds these: deterministic; the second
//            launch costs about 2 us, which matters below 10 MB only.
// Version 3: 16-byte loads and four sums a thread: independent chains, 32 bytes of each input in
//            flight a thread.

__device__ float overBlock(float v) {
    __shared__ float part[32];
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? part[lane] : 0.0f;
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

extern "C" __global__ void square_parts(const float *__restrict__ p, const float *__restrict__ t,
                                        float *__restrict__ part, long long count) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    const long long self = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    const float4 *p4 = reinterpret_cast<const float4 *>(p);
    const float4 *t4 = reinterpret_cast<const float4 *>(t);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 2
    for (long long i = self; i < count / 4; i += threads) {
        const float4 a = p4[i], b = t4[i];
        const float4 d = make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
        sum = make_float4(sum.x + d.x * d.x, sum.y + d.y * d.y, sum.z + d.z * d.z,
                          sum.w + d.w * d.w);
    }
    float total = (sum.x + sum.y) + (sum.z + sum.w);
    const long long rest = count / 4 * 4 + self;
    if (rest < count)
        total += (p[rest] - t[rest]) * (p[rest] - t[rest]);
    total = overBlock(total);
    if (threadIdx.x == 0)
        part[blockIdx.x] = total;
}

extern "C" __global__ void mean_of_parts(const float *__restrict__ part, float *__restrict__ out,
                                         int parts, long long count) {
    float sum = 0.0f;
    for (int i = threadIdx.x; i < parts; i += blockDim.x)
        sum += part[i];
    sum = overBlock(sum);
    if (threadIdx.x == 0)
        out[0] = sum / (float)count;
}
