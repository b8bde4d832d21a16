// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: rows times a scale plus a bias, through tanh, times a power that repeats along the row.
// Version 1: a thread an element.

extern "C" __global__ void scale_rows(const float *x, const float *scale, const float *bias,
                                      const float *powers, float *out, int columns, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const int column = i % columns;
    out[i] = tanhf(x[i] * scale[column] + bias[column]) * powers[column % 3];
}
