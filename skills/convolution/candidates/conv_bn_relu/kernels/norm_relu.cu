// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// y = relu((y - mean[c]) * gamma[c] / sqrt(var[c] + epsilon) + beta[c]) in place, N x C x plane.
//
// Usage: grid (N * C, cdiv(plane, 4 * block)), block 256. Any plane; multiples of 4 go in 16-byte
// words.
//
// Version 1: batch norm and relu as a kernel each: the convolution's output crosses memory five
//            times.
// Version 2: one kernel, in place: three times. The channel is fixed a block, so its four numbers
//            become one scale and one shift before the loop.
// Folding the scale into the weights and the shift into the convolution's bias (the step takes one)
// leaves only relu here. It changes the rounding of the weights, and weights are parameters: fold
// them in a kernel step into scratch, at every call.

extern "C" __global__ void norm_relu(float *__restrict__ y, const float *__restrict__ gamma,
                                     const float *__restrict__ beta, const float *__restrict__ mean,
                                     const float *__restrict__ var, int channels, int plane,
                                     float epsilon) {
    const int c = blockIdx.x % channels;
    const float scale = gamma[c] * rsqrtf(var[c] + epsilon);
    const float shift = beta[c] - mean[c] * scale;
    float *at = y + (long long)blockIdx.x * plane;
    const int i = (blockIdx.y * blockDim.x + threadIdx.x) * 4;
    const auto one = [&](float v) {
        v = v * scale + shift;
        return v < 0.0f ? 0.0f : v; // keeps NaN
    };
    if (plane % 4 == 0) {
        if (i < plane) {
            float4 *word = reinterpret_cast<float4 *>(at + i);
            const float4 v = *word;
            *word = make_float4(one(v.x), one(v.y), one(v.z), one(v.w));
        }
        return;
    }
    for (int j = i; j < min(i + 4, plane); ++j)
        at[j] = one(at[j]);
}
