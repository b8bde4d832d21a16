// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/recurrence.h"

namespace cuda_agent::policy {

namespace {

constexpr const char *cells =
    R"cuda(// The next state of a unit. x: what the input gives its gates, h: what the last states give them,
// biases included; gates in the order of torch.nn.
__device__ __forceinline__ float sigmoidOf(float x) {
    return 1.0f / (1.0f + expf(-x));
}
struct LstmCell {
    static constexpr int gates = 4;
    static __device__ __forceinline__ float next(const float *x, const float *h, float,
                                                 float &cell) {
        const float enter = sigmoidOf(x[0] + h[0]), forget = sigmoidOf(x[1] + h[1]);
        cell = forget * cell + enter * tanhf(x[2] + h[2]);
        return sigmoidOf(x[3] + h[3]) * tanhf(cell);
    }
};
struct GruCell {
    static constexpr int gates = 3;
    static __device__ __forceinline__ float next(const float *x, const float *h, float state,
                                                 float &) {
        const float reset = sigmoidOf(x[0] + h[0]), update = sigmoidOf(x[1] + h[1]);
        const float fresh = tanhf(x[2] + reset * h[2]);
        return fresh + update * (state - fresh);
    }
};
struct TanhCell {
    static constexpr int gates = 1;
    static __device__ __forceinline__ float next(const float *x, const float *h, float, float &) {
        return tanhf(x[0] + h[0]);
    }
};
struct ReluCell {
    static constexpr int gates = 1;
    static __device__ __forceinline__ float next(const float *x, const float *h, float, float &) {
        const float sum = x[0] + h[0];
        return sum < 0 ? 0.0f : sum;
    }
};

)cuda";

constexpr const char *inBlocks =
    R"cuda(template <bool tagged> struct Told {
    using Type = int;
};
template <> struct Told<true> {
    using Type = unsigned long long;
};

// A recurrent layer. Version 1: a kernel a step reads all weights each time and waits for its
// launch. Version 2: blocks stay for all steps and keep the weights of their units in registers;
// what they tell each other after a step is the new states, through the second-level cache: they
// count up in `told` when theirs are written, and wait for the others' counts. Version 3 (tagged):
// `told` holds each state with the number of its step, eight bytes that are written at once, so
// that who reads it needs no word from anybody else; two of each, as nobody is more than one step
// ahead.
//
// A warp multiplies `each` rows of the weights with the states of `together` rows of the batch; its
// lanes take four columns each of every 128, and their sums are exchanged so that each lane ends
// with one of them.
template <class Cell, int steps, int batch, int hidden, int directions, int units, int blocks,
          int threads, bool kept, bool tagged>
__device__ __forceinline__ void
recurInBlocks(const float *gates, const float *weight, const float *inputBias,
              const float *hiddenBias, const float *first, const float *firstCell, float *out,
              float *lastCell, typename Told<tagged>::Type *told, int direction) {
    constexpr int G = Cell::gates, rows = G * units, warps = threads / 32;
    constexpr int each = (rows + warps - 1) / warps;
    constexpr int together =
        each > 16 ? 1 : each > 8 ? 2 : each > 4 ? 4 : each > 2 ? 8 : each > 1 ? 16 : 32;
    constexpr int padded = (batch + together - 1) / together * together;
    constexpr int vectors = (hidden + 127) / 128, items = (batch * units + threads - 1) / threads;
    extern __shared__ __align__(16) float shared[];
    float *const states = shared, *const sums = states + padded * hidden,
                *const cells = sums + padded * rows;
    const int lane = (int)threadIdx.x % 32, firstRow = (int)threadIdx.x / 32 * each;
    const int firstUnit = (int)blockIdx.x % blocks * units;
    // Row r is gate r / units of the unit r % units; rows and columns beyond the end count as 0.
    const auto weightAt = [&](int r, int column) {
        const int unit = firstUnit + r % units;
        return r < rows && unit < hidden && column < hidden
                   ? __ldg(weight + (long long)(r / units * hidden + unit) * hidden + column)
                   : 0.0f;
    };
    float w[kept ? each : 1][kept ? vectors * 4 : 1];
    if (kept) {
#pragma unroll
        for (int r = 0; r < (kept ? each : 0); ++r)
#pragma unroll
            for (int c = 0; c < (kept ? vectors * 4 : 0); ++c)
                w[r][c] = weightAt(firstRow + r, c / 4 * 128 + lane * 4 + c % 4);
    }
    for (int i = (int)threadIdx.x; i < padded * hidden; i += threads)
        states[i] = i < batch * hidden ? first[i] : 0.0f;
    for (int i = (int)threadIdx.x; i < batch * units; i += threads) {
        const int unit = firstUnit + i % units;
        cells[i] = firstCell && unit < hidden ? firstCell[i / units * hidden + unit] : 0.0f;
    }
    __syncthreads();
    for (int s = 0; s < steps; ++s) {
        const int t = direction ? steps - 1 - s : s;
        // What the input gives is on its way while other blocks end their step.
        float x[items][G];
#pragma unroll
        for (int k = 0; k < items; ++k) {
            const int i = (int)threadIdx.x + k * threads, unit = firstUnit + i % units;
            if (i >= batch * units || unit >= hidden)
                continue;
            const float *from = gates + ((long long)t * batch + i / units) * (G * hidden) + unit;
#pragma unroll
            for (int g = 0; g < G; ++g)
                x[k][g] = from[g * hidden] + (inputBias ? inputBias[g * hidden + unit] : 0.0f);
        }
        if (s > 0 && tagged) {
            constexpr int count = (batch * hidden + threads - 1) / threads;
            constexpr int inFlight = count < 16 ? count : 16;
            const auto *from = told + (s - 1) % 2 * (batch * hidden);
            for (int c = 0; c < count; c += inFlight) {
                unsigned long long got[inFlight];
                bool all;
                do {
                    all = true;
#pragma unroll
                    for (int k = 0; k < inFlight; ++k) {
                        const int i = (int)threadIdx.x + (c + k) * threads;
                        if (i < batch * hidden)
                            got[k] = *(const volatile unsigned long long *)(from + i);
                    }
#pragma unroll
                    for (int k = 0; k < inFlight; ++k)
                        all = all && ((int)threadIdx.x + (c + k) * threads >= batch * hidden ||
                                      (int)(got[k] >> 32) == s);
                } while (!all);
#pragma unroll
                for (int k = 0; k < inFlight; ++k) {
                    const int i = (int)threadIdx.x + (c + k) * threads;
                    if (i < batch * hidden)
                        states[i] = __uint_as_float((unsigned)got[k]);
                }
            }
            __syncthreads();
        } else if (s > 0) {
            if (threadIdx.x == 0) {
                while (*(const volatile int *)(told + s - 1) < blocks) {
                }
                __threadfence();
            }
            __syncthreads();
            // Past the first-level cache, which other blocks' writes do not update.
            const int before = direction ? t + 1 : t - 1;
            for (int i = (int)threadIdx.x; i < batch * (hidden / 4); i += threads) {
                const int b = i / (hidden / 4), c = i % (hidden / 4) * 4;
                const float *from =
                    out + (((long long)before * batch + b) * directions + direction) * hidden + c;
                *reinterpret_cast<float4 *>(states + b * hidden + c) =
                    __ldcg(reinterpret_cast<const float4 *>(from));
            }
            __syncthreads();
        }
        for (int b0 = 0; b0 < padded; b0 += together) {
            float sum[32] = {};
#pragma unroll (kept ? vectors : 1)
            for (int v = 0; v < vectors; ++v) {
                const int column = v * 128 + lane * 4;
                if (column >= hidden)
                    continue;
                float own[kept ? 1 : each][4];
                if (!kept) {
#pragma unroll
                    for (int r = 0; r < (kept ? 0 : each); ++r)
#pragma unroll
                        for (int e = 0; e < 4; ++e)
                            own[kept ? 0 : r][e] = weightAt(firstRow + r, column + e);
                }
#pragma unroll
                for (int b = 0; b < together; ++b) {
                    const float4 h =
                        *reinterpret_cast<const float4 *>(states + (b0 + b) * hidden + column);
#pragma unroll
                    for (int r = 0; r < each; ++r) {
                        const float *const by =
                            kept ? w[kept ? r : 0] + v * 4 * kept : own[kept ? 0 : r];
                        float &to = sum[r * together + b];
                        to = fmaf(by[0], h.x, to);
                        to = fmaf(by[1], h.y, to);
                        to = fmaf(by[2], h.z, to);
                        to = fmaf(by[3], h.w, to);
                    }
                }
            }
            // Lane l ends with the sum of all lanes' sum[l].
#pragma unroll
            for (int level = 4; level >= 0; --level) {
                const int half = 1 << level;
#pragma unroll
                for (int i = 0; i < 16; ++i) {
                    if (i >= half)
                        continue;
                    const float mine = lane & half ? sum[i + half] : sum[i];
                    const float theirs = lane & half ? sum[i] : sum[i + half];
                    sum[i] = mine + __shfl_xor_sync(0xffffffffu, theirs, half);
                }
            }
            const int r = firstRow + lane / together;
            if (lane / together < each && r < rows)
                sums[(b0 + lane % together) * rows + r] = sum[0];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < items; ++k) {
            const int i = (int)threadIdx.x + k * threads, b = i / units;
            const int unit = firstUnit + i % units;
            if (i >= batch * units || unit >= hidden)
                continue;
            float h[G];
#pragma unroll
            for (int g = 0; g < G; ++g)
                h[g] = sums[b * rows + g * units + i % units] +
                       (hiddenBias ? hiddenBias[g * hidden + unit] : 0.0f);
            const float next = Cell::next(x[k], h, states[b * hidden + unit], cells[i]);
            out[(((long long)t * batch + b) * directions + direction) * hidden + unit] = next;
            if (tagged)
                *(volatile unsigned long long *)(told + s % 2 * (batch * hidden) + b * hidden +
                                                 unit) =
                    (unsigned long long)(s + 1) << 32 | __float_as_uint(next);
            if (lastCell && s == steps - 1)
                lastCell[b * hidden + unit] = cells[i];
        }
        if (s < steps - 1) {
            __syncthreads();
            if (!tagged && threadIdx.x == 0) {
                __threadfence();
                atomicAdd((int *)told + s, 1);
            }
        }
    }
}

)cuda";

constexpr const char *alone =
    R"cuda(// A recurrent layer, one row of the batch by one thread. Sums run in lanes side by side.
template <class Cell, int steps, int batch, int hidden, int directions>
__device__ __forceinline__ void
recurAlone(const float *gates, const float *weight, const float *inputBias,
           const float *hiddenBias, const float *first, const float *firstCell, float *out,
           float *lastCell, int direction, int b) {
    constexpr int G = Cell::gates, lanes = 16;
    float states[hidden], cells[hidden], sums[G * hidden];
    for (int u = 0; u < hidden; ++u) {
        states[u] = first[b * hidden + u];
        cells[u] = firstCell ? firstCell[b * hidden + u] : 0.0f;
    }
    for (int s = 0; s < steps; ++s) {
        const int t = direction ? steps - 1 - s : s;
        for (int r = 0; r < G * hidden; ++r) {
            const float *const row = weight + (long long)r * hidden;
            float part[lanes] = {};
            for (int c = 0; c < hidden / lanes * lanes; c += lanes)
                for (int l = 0; l < lanes; ++l)
                    part[l] += states[c + l] * row[c + l];
            float sum = hiddenBias ? hiddenBias[r] : 0.0f;
            for (int c = hidden / lanes * lanes; c < hidden; ++c)
                sum += states[c] * row[c];
            for (int l = 0; l < lanes; ++l)
                sum += part[l];
            sums[r] = sum;
        }
        const float *const from = gates + ((long long)t * batch + b) * (G * hidden);
        float *const to = out + (((long long)t * batch + b) * directions + direction) * hidden;
        for (int u = 0; u < hidden; ++u) {
            float x[G], h[G];
            for (int g = 0; g < G; ++g) {
                x[g] = from[g * hidden + u] + (inputBias ? inputBias[g * hidden + u] : 0.0f);
                h[g] = sums[g * hidden + u];
            }
            states[u] = Cell::next(x, h, states[u], cells[u]);
            to[u] = states[u];
        }
    }
    if (lastCell)
        for (int u = 0; u < hidden; ++u)
            lastCell[b * hidden + u] = cells[u];
}

)cuda";

} // namespace

std::string recurrencePrelude(const std::set<std::string> &helpers) {
    std::string text;
    if (helpers.contains("recurInBlocks") || helpers.contains("recurAlone"))
        text += cells;
    if (helpers.contains("recurInBlocks"))
        text += inBlocks;
    if (helpers.contains("recurAlone"))
        text += alone;
    return text;
}

} // namespace cuda_agent::policy
