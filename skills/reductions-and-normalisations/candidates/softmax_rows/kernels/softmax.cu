// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out = softmax(scale * x) over rows of n floats; one block a row, the row stays in registers.
//
// Usage: grid R, block: a multiple of 32 up to 1024 with 16 * block >= n, so n <= 16384.
//
// Version 1: three passes over global memory (maximum, sum, quotient): 3 reads and 1 write.
// Version 2: the row kept in shared memory, 1024 threads for 4096 columns: 1 read and 1 write, the
//            least there is, but 64 % of an H200's limit: two blocks an SM that wait at barriers.
// Version 3: 16 values a thread in registers: 4 loads of 16 bytes in flight, a block of 256 threads
//            for 4096 columns, six blocks an SM that wait at different times.
// Version 4: warp shuffles instead of a tree in shared memory: 2 barriers a reduction, not 8.

#include <math_constants.h> // NVRTC knows no INFINITY

#define VALUES 16 // a thread; indices are known when compiled, else they go to local memory

template <typename Merge>
__device__ __forceinline__ float overBlock(float v, float neutral, float *part, Merge merge) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        v = merge(v, __shfl_xor_sync(0xffffffffu, v, step));
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    v = lane < warps ? part[lane] : neutral;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        v = merge(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}

struct Larger {
    // Drops NaN, which is right here: exp(NaN - m) brings it back into the sum and so into the row.
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

extern "C" __global__ void softmax_rows(const float *__restrict__ x, float *__restrict__ out, int n,
                                        float scale) {
    __shared__ float part[2][32]; // one for each reduction: no barrier between them
    const float *from = x + (long long)blockIdx.x * n;
    float *to = out + (long long)blockIdx.x * n;
    const bool wide = n % 4 == 0;
    const int self = threadIdx.x, threads = blockDim.x;

    float v[VALUES];
    if (wide) {
#pragma unroll
        for (int k = 0; k < VALUES / 4; ++k) {
            const int i = k * threads + self;
            float4 word = make_float4(-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F);
            if (i < n / 4) {
                word = reinterpret_cast<const float4 *>(from)[i];
                word = make_float4(word.x * scale, word.y * scale, word.z * scale, word.w * scale);
            }
            v[4 * k] = word.x, v[4 * k + 1] = word.y, v[4 * k + 2] = word.z, v[4 * k + 3] = word.w;
        }
    } else {
#pragma unroll
        for (int k = 0; k < VALUES; ++k)
            v[k] = k * threads + self < n ? from[k * threads + self] * scale : -CUDART_INF_F;
    }
    float high = v[0];
#pragma unroll
    for (int k = 1; k < VALUES; ++k)
        high = fmaxf(high, v[k]);
    high = overBlock(high, -CUDART_INF_F, part[0], Larger());

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < VALUES; ++k) {
        // Places past the row hold -inf. In a row of -inf alone that gives NaN, as torch does.
        v[k] = expf(v[k] - high);
        const int i = wide ? (k / 4 * threads + self) * 4 : k * threads + self;
        sum += i < n ? v[k] : 0.0f;
    }
    const float inverse = 1.0f / overBlock(sum, 0.0f, part[1], Sum());

    if (wide) {
#pragma unroll
        for (int k = 0; k < VALUES / 4; ++k)
            if (k * threads + self < n / 4)
                reinterpret_cast<float4 *>(to)[k * threads + self] =
                    make_float4(v[4 * k] * inverse, v[4 * k + 1] * inverse, v[4 * k + 2] * inverse,
                                v[4 * k + 3] * inverse);
    } else {
#pragma unroll
        for (int k = 0; k < VALUES; ++k)
            if (k * threads + self < n)
                to[k * threads + self] = v[k] * inverse;
    }
}
