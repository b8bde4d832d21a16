// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// out = relu(x + bias) * gain over a row-major matrix; one thread an element.
//
// Usage: grid cdiv(count, block), block 256. `features` is the row length, bias has that many.
//
// Version 1: one thread an element. The smallest complete plan; at 4 bytes a thread it reaches
//            about two thirds of the card's bandwidth. The skill memory-bound-kernels goes on.

extern "C" __global__ void bias_relu_gain(const float *__restrict__ x,
                                          const float *__restrict__ bias,
                                          float *__restrict__ out, long long count, int features,
                                          float gain) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const float v = x[i] + bias[i % features];
    out[i] = (v < 0.0f ? 0.0f : v) * gain; // fmaxf would turn NaN into 0; torch keeps it
}
