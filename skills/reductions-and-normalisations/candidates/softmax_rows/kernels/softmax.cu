// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out = softmax(scale * x) over rows of n floats; one block a row, the row stays on the chip.
//
// Usage: grid R, block: a multiple of 32 up to 1024, dynamic shared memory 4 * n bytes (rounded up
// to 16), so n <= 57344 on sm_90.
//
// Version 1: three passes over global memory (maximum, sum, quotient): 3 reads and 1 write.
// Version 2: the row is kept in shared memory: 1 read and 1 write, which is the least there is.
// Version 3: warp shuffles instead of a tree in shared memory: 2 barriers a reduction, not 8.
// Version 4: 16-byte words where n is a multiple of 4; a thread for each, so that one round of
//            loads is all in flight at once.

#include <math_constants.h> // NVRTC knows no INFINITY

template <typename Merge>
__device__ float overBlock(float v, float neutral, Merge merge) {
    __shared__ float part[32];
    for (int step = 16; step > 0; step /= 2)
        v = merge(v, __shfl_xor_sync(0xffffffffu, v, step));
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    v = lane < warps ? part[lane] : neutral;
    for (int step = 16; step > 0; step /= 2)
        v = merge(v, __shfl_xor_sync(0xffffffffu, v, step));
    __syncthreads(); // part is used again
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
    extern __shared__ float4 words[];
    float *row = reinterpret_cast<float *>(words);
    const float *from = x + (long long)blockIdx.x * n;
    float *to = out + (long long)blockIdx.x * n;
    const bool wide = n % 4 == 0;

    float high = -CUDART_INF_F;
    if (wide) {
        for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
            float4 v = reinterpret_cast<const float4 *>(from)[i];
            v = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
            words[i] = v;
            high = fmaxf(high, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        }
    } else {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            row[i] = from[i] * scale;
            high = fmaxf(high, row[i]);
        }
    }
    high = overBlock(high, -CUDART_INF_F, Larger()); // its barriers also publish the row

    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        row[i] = expf(row[i] - high);
        sum += row[i];
    }
    const float inverse = 1.0f / overBlock(sum, 0.0f, Sum());

    if (wide) {
        for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
            const float4 v = words[i];
            reinterpret_cast<float4 *>(to)[i] =
                make_float4(v.x * inverse, v.y * inverse, v.z * inverse, v.w * inverse);
        }
    } else {
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            to[i] = row[i] * inverse;
    }
}
