// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// SwiGLU (Shazeer, arXiv 2002.05202) on rows of a gate and what it lets through, [2 * INNER]:
// y = gate * sigmoid(gate) * through. A thread an access. Grid: rows * innerAccesses / threads,
// rounded up; rows * innerAccesses is less than 2^31.

constexpr unsigned innerAccesses = INNER / width;

extern "C" __global__ void __launch_bounds__(256)
    swiglu(const Element *both, Element *y, unsigned accesses) {
    const unsigned at = blockIdx.x * threads + threadIdx.x;
    if (at >= accesses)
        return;
    const i64 row = at / innerAccesses;
    const Element *from = both + row * (2 * INNER) + at % innerAccesses * width;
    const Values gate = load(from), through = load(from + INNER);
    Values to;
#pragma unroll
    for (int j = 0; j < width; ++j)
        to.v[j] = gate.v[j] * sigmoid(gate.v[j]) * through.v[j];
    store(y + static_cast<i64>(at) * width, to);
}

extern "C" __global__ void __launch_bounds__(256)
    swiglu_backward(const Element *dy, const Element *both, Element *dboth, unsigned accesses) {
    const unsigned at = blockIdx.x * threads + threadIdx.x;
    if (at >= accesses)
        return;
    const i64 place =
        static_cast<i64>(at / innerAccesses) * (2 * INNER) + at % innerAccesses * width;
    const Values gradient = load(dy + static_cast<i64>(at) * width);
    Values gate = load(both + place), through = load(both + place + INNER);
#pragma unroll
    for (int j = 0; j < width; ++j) {
        const float open = sigmoid(gate.v[j]), g = gate.v[j];
        gate.v[j] = gradient.v[j] * through.v[j] * open * (1.0f + g * (1.0f - open));
        through.v[j] = gradient.v[j] * g * open;
    }
    store(dboth + place, gate);
    store(dboth + place + INNER, through);
}
