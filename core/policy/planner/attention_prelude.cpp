// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

// Attention in one kernel: Dao, "FlashAttention-2", arXiv 2307.08691, section 3.1. Weights never
// reach memory: keys and values pass by in tiles, sums are kept relative to the largest logit so
// far, and put right when a larger one turns up.

namespace cuda_agent::policy {

namespace {

constexpr const char *tensorAttention =
    R"cuda(// A warp takes 16 rows of queries, a lane rows lane / 4 and lane / 4 + 8 of them, as tensor cores
// hold sums. `mode` 0: float arithmetic, 1: tensor cores, 2: each float as two TF32 numbers there.
// `safe`: rows of which nothing is allowed give 0, not NaN.
template <class T, int mode, int warps, int keys, int depth, int width, int qVector,
          long long qPitch, int kVector, long long kPitch, int vVector, long long vPitch, bool safe>
struct AttentionTile {
    static constexpr int threads = warps * 32, rows = warps * 16;
    static constexpr int extra = 16 / (int)sizeof(T); // so that lanes meet in no bank
    static constexpr int deep = depth + extra, wide = width + extra;
    static constexpr int shared = ((rows + keys) * deep + keys * wide) * (int)sizeof(T);
    static constexpr int tiles = keys / 8, parts = width / 8, step = 32 / (int)sizeof(T);

    template <int vector, class Logit, class Finish>
    static __device__ __forceinline__ void run(const T *q, const T *k, const T *v, int m, int n,
                                               int head, int end, int valueWidth, int top,
                                               unsigned char *memory, const Logit &logit,
                                               const Finish &finish) {
        T *queries = reinterpret_cast<T *>(memory), *keyTile = queries + rows * deep;
        T *values = keyTile + keys * deep;
        const int lane = (int)threadIdx.x % 32, warpTop = (int)threadIdx.x / 32 * 16;
        const int first = top + warpTop + lane / 4, pair = lane % 4 * 2;
        copyTile<rows, depth, deep, qVector>(queries, q + top * qPitch, qPitch, m - top, head);
        copyTile<keys, depth, deep, kVector>(keyTile, k, kPitch, n, head);
        endOfGroup();
        float sums[parts][4] = {}, largest[2] = {-INFINITY, -INFINITY}, total[2] = {};
        for (int at = 0; at < end; at += keys) {
            copyTile<keys, width, wide, vVector>(values, v + at * vPitch, vPitch, n - at,
                                                 valueWidth);
            endOfGroup();
            waitForGroups<1>();
            __syncthreads();
            float s[tiles][4] = {};
            scores(s, queries, keyTile, warpTop);
            __syncthreads(); // the next keys take the place of these
            if (at + keys < end)
                copyTile<keys, depth, deep, kVector>(keyTile, k + (at + keys) * kPitch, kPitch,
                                                     n - at - keys, head);
            endOfGroup();
#pragma unroll
            for (int j = 0; j < tiles; ++j)
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    const int row = first + c / 2 * 8, column = at + j * 8 + pair + c % 2;
                    s[j][c] = row < m && column < n ? logit(row, column, s[j][c]) : -INFINITY;
                }
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float most = largest[h];
#pragma unroll
                for (int j = 0; j < tiles; ++j)
                    most = fmaxf(most, fmaxf(s[j][h * 2], s[j][h * 2 + 1]));
                most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
                most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
                // Rows of which nothing is allowed yet have no largest logit to subtract.
                const float base = most == -INFINITY ? 0.0f : most;
                const float before = expf(largest[h] - base);
                largest[h] = most;
                float sum = 0.0f;
#pragma unroll
                for (int j = 0; j < tiles; ++j)
#pragma unroll
                    for (int c = 0; c < 2; ++c) {
                        s[j][h * 2 + c] = expf(s[j][h * 2 + c] - base);
                        sum += s[j][h * 2 + c];
                    }
                total[h] = total[h] * before + sum;
#pragma unroll
                for (int i = 0; i < parts; ++i) {
                    sums[i][h * 2] *= before;
                    sums[i][h * 2 + 1] *= before;
                }
            }
            waitForGroups<1>();
            __syncthreads();
            weigh(sums, s, values);
            __syncthreads();
        }
        waitForGroups<0>();
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float sum = total[h];
            sum += __shfl_xor_sync(0xffffffffu, sum, 1);
            sum += __shfl_xor_sync(0xffffffffu, sum, 2);
            const int row = first + h * 8;
#pragma unroll
            for (int i = 0; i < parts; ++i)
#pragma unroll
                for (int c = 0; c < 2; c += vector) {
                    const int column = i * 8 + pair + c;
                    float out[vector];
#pragma unroll
                    for (int e = 0; e < vector; ++e)
                        out[e] = safe && sum == 0.0f ? 0.0f : sums[i][h * 2 + c + e] / sum;
                    if (row < m && column < valueWidth)
                        finish(row, column, out);
                }
        }
    }

  private:
    template <int lines, int across, int line, int vector>
    static __device__ __forceinline__ void copyTile(T *tile, const T *from, long long pitch,
                                                    int linesLeft, int columns) {
        constexpr int run = across / vector;
        for (int i = (int)threadIdx.x; i < lines * run; i += threads) {
            const int row = i / run, along = i % run * vector;
            copyAsync<vector * (int)sizeof(T)>(tile + row * line + along,
                                               from + row * pitch + along,
                                               row < linesLeft && along < columns);
        }
    }

//IF split
    static __device__ __forceinline__ float plainScore(const T *queries, const T *keyTile, int row,
                                                       int key) {
        float sum = 0.0f;
        for (int d = 0; d < depth; ++d)
            sum += widen(queries[row * deep + d]) * widen(keyTile[key * deep + d]);
        return sum;
    }
//END

    // Logits of 16 rows and all keys of the tile, before anything is computed from them.
    static __device__ __forceinline__ void scores(float (&s)[tiles][4], const T *queries,
                                                  const T *keyTile, int warpTop) {
        const int lane = (int)threadIdx.x % 32, row = warpTop + lane / 4, pair = lane % 4 * 2;
//IF tensorAttention
#ifndef __CUDA_AGENT_HOST__
        if constexpr (mode > 0) {
            using Rows = Operand<T, rows, depth, threads, true, extra, 1>;
            using Keys = Operand<T, keys, depth, threads, true, extra, 1>;
//IF whole rounded
            if constexpr (mode == 1) {
#pragma unroll
                for (int d = 0; d < depth; d += step) {
                    unsigned a[4];
                    Rows::left16(a, queries, warpTop, d);
//IF rounded
                    if constexpr (sizeof(T) == 4)
                        roundAll(a);
//END
#pragma unroll
                    for (int j = 0; j < tiles; j += 2) {
                        unsigned b[4];
                        Keys::right16(b, keyTile, j * 8, d);
//IF rounded
                        if constexpr (sizeof(T) == 4)
                            roundAll(b);
//END
                        Multiply<T>::add(s[j], a, b[0], b[1]);
                        Multiply<T>::add(s[j + 1], a, b[2], b[3]);
                    }
                }
            }
//END
//IF split
            if constexpr (mode == 2) {
                // Tensor cores cut sums off: a few steps at a time.
                constexpr int few = 4 * step < depth ? 4 * step : depth;
#pragma unroll 1
                for (int d0 = 0; d0 < depth; d0 += few) {
                    unsigned a[few / step][4], aRest[few / step][4];
#pragma unroll
                    for (int i = 0; i < few / step; ++i) {
                        Rows::left16(a[i], queries, warpTop,
                                     d0 + i * step < depth ? d0 + i * step : 0);
                        splitAll(a[i], aRest[i]);
                    }
#pragma unroll
                    for (int j = 0; j < tiles; j += 2) {
                        float part[2][4] = {};
#pragma unroll
                        for (int i = 0; i < few / step; ++i) {
                            if (d0 + i * step >= depth)
                                continue;
                            unsigned b[4], bRest[4];
                            Keys::right16(b, keyTile, j * 8, d0 + i * step);
                            splitAll(b, bRest);
#pragma unroll
                            for (int p = 0; p < 2; ++p) {
                                Multiply<T>::add(part[p], aRest[i], b[p * 2], b[p * 2 + 1]);
                                Multiply<T>::add(part[p], a[i], bRest[p * 2], bRest[p * 2 + 1]);
                                Multiply<T>::add(part[p], a[i], b[p * 2], b[p * 2 + 1]);
                            }
                        }
#pragma unroll
                        for (int c = 0; c < 4; ++c) {
                            s[j][c] += part[0][c];
                            s[j + 1][c] += part[1][c];
                        }
                    }
                }
                // What is not finite is computed once more: parts of infinities are no numbers.
#pragma unroll
                for (int j = 0; j < tiles; ++j)
#pragma unroll
                    for (int c = 0; c < 4; ++c)
                        if (!(fabsf(s[j][c]) <= 3.4028234e38f))
                            s[j][c] = plainScore(queries, keyTile, row + c / 2 * 8,
                                                 j * 8 + pair + c % 2);
            }
//END
            return;
        }
#endif
//END
        constexpr int together = sizeof(T) == 4 ? 4 : 1;
#pragma unroll 2
        for (int d = 0; d < depth; d += together) {
            float u[2][together];
#pragma unroll
            for (int h = 0; h < 2; ++h)
                take(u[h], queries + (row + h * 8) * deep + d);
#pragma unroll
            for (int j = 0; j < tiles; ++j)
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    float w[together];
                    take(w, keyTile + (j * 8 + pair + c) * deep + d);
#pragma unroll
                    for (int e = 0; e < together; ++e) {
                        s[j][c] += u[0][e] * w[e];
                        s[j][2 + c] += u[1][e] * w[e];
                    }
                }
        }
    }

    template <int count>
    static __device__ __forceinline__ void take(float (&to)[count], const T *from) {
        if constexpr (count == 4) {
            const float4 v = *reinterpret_cast<const float4 *>(from);
            to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        } else {
            to[0] = widen(from[0]);
        }
    }

    // Adds the values, each times its weight.
    static __device__ __forceinline__ void weigh(float (&sums)[parts][4], const float (&s)[tiles][4],
                                                 const T *values) {
//IF tensorAttention
#ifndef __CUDA_AGENT_HOST__
//IF float32
        if constexpr (mode > 0 && sizeof(T) == 4) {
            const int lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4 * 2;
            // Steps of k may come in any order: a lane's own two neighbours are its share.
            bool bad = false;
#pragma unroll
            for (int i = 0; i < parts; ++i) {
                float part[4] = {};
#pragma unroll
                for (int j = 0; j < tiles; ++j) {
                    unsigned a[4] = {__float_as_uint(s[j][0]), __float_as_uint(s[j][2]),
                                     __float_as_uint(s[j][1]), __float_as_uint(s[j][3])};
                    const T *place = values + (j * 8 + t) * wide + i * 8 + g;
                    unsigned b[4] = {__float_as_uint(place[0]), __float_as_uint(place[wide]), 0, 0};
//IF rounded
                    if constexpr (mode == 1) {
                        roundAll(a);
                        roundAll(b);
                    }
//END
//IF split
                    if constexpr (mode == 2) {
                        unsigned aRest[4], bRest[4];
                        splitAll(a, aRest);
                        splitAll(b, bRest);
                        Multiply<T>::add(part, aRest, b[0], b[1]);
                        Multiply<T>::add(part, a, bRest[0], bRest[1]);
                    }
//END
                    Multiply<T>::add(part, a, b[0], b[1]);
                }
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    const bool fine = mode == 1 || fabsf(part[c]) <= 3.4028234e38f;
                    sums[i][c] += fine ? part[c] : 0.0f;
                    bad = bad || !fine;
                }
            }
            // Infinite values have no two parts: what comes of them decides alone.
            if (__any_sync(0xffffffffu, bad))
                plainly(sums, s, values, true);
            return;
        }
//END
//IF shortAcross
        if constexpr (mode > 0 && sizeof(T) == 2) {
            using Values = Operand<T, width, keys, threads, false, extra, 1>;
            const int lane = (int)threadIdx.x % 32;
#pragma unroll
            for (int j = 0; j < tiles; j += 2) {
                const unsigned a[4] = {packed(s[j][0], s[j][1]), packed(s[j][2], s[j][3]),
                                       packed(s[j + 1][0], s[j + 1][1]),
                                       packed(s[j + 1][2], s[j + 1][3])};
#pragma unroll
                for (int i = 0; i < parts; i += 2) {
                    unsigned b[4];
                    Values::template matrices<true>(
                        b, values + (j * 8 + lane % 16) * wide + i * 8 + lane / 16 * 8);
                    Multiply<T>::add(sums[i], a, b[0], b[1]);
                    Multiply<T>::add(sums[i + 1], a, b[2], b[3]);
                }
            }
            return;
        }
//END
#endif
//END
        plainly(sums, s, values, false);
    }

    // Weights of a row lie with the four lanes that share it. `infinite`: only what is no number.
    static __device__ __forceinline__ void plainly(float (&sums)[parts][4],
                                                   const float (&s)[tiles][4], const T *values,
                                                   bool infinite) {
        const int lane = (int)threadIdx.x % 32, pair = lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < tiles; ++j)
#pragma unroll
            for (int key = 0; key < 8; ++key) {
                const int owner = lane / 4 * 4 + key / 2;
                const float low = __shfl_sync(0xffffffffu, s[j][key % 2], owner);
                const float high = __shfl_sync(0xffffffffu, s[j][2 + key % 2], owner);
                const T *place = values + (j * 8 + key) * wide + pair;
#pragma unroll
                for (int i = 0; i < parts; ++i)
#pragma unroll
                    for (int c = 0; c < 2; ++c) {
                        const float value = widen(place[i * 8 + c]);
                        const float a = low * value, b = high * value;
                        sums[i][c] += infinite && a - a == 0.0f ? 0.0f : a;
                        sums[i][2 + c] += infinite && b - b == 0.0f ? 0.0f : b;
                    }
            }
    }

//IF tensorAttention
#ifndef __CUDA_AGENT_HOST__
//IF shortAcross
    static __device__ __forceinline__ unsigned packed(float low, float high) {
        T both[2];
        narrow(both[0], low), narrow(both[1], high);
        return *reinterpret_cast<const unsigned *>(both);
    }
    template <class S> static __device__ __forceinline__ void narrow(S &to, float x) {
        to = (S)x;
    }
//END
#endif
//END
};

)cuda";

constexpr const char *loopAttention = R"cuda(// Some rows of queries by one thread in plain loops.
template <class T, int rows, int keys, int depth, int width, long long qPitch, long long kPitch,
          long long vPitch, bool safe>
struct LoopAttention {
    template <class Logit, class Finish>
    static __device__ __forceinline__ void run(const T *__restrict__ q, const T *__restrict__ k,
                                               const T *__restrict__ v, int m, int n, int end,
                                               int top, const Logit &logit, const Finish &finish) {
        float sums[rows][width] = {}, largest[rows], total[rows] = {};
        float turned[depth][keys];
        const int here = m - top < rows ? m - top : rows;
        for (int i = 0; i < rows; ++i)
            largest[i] = -INFINITY;
        for (int at = 0; at < end; at += keys) {
            const int count = n - at < keys ? n - at : keys;
            for (int j = 0; j < keys; ++j)
                for (int d = 0; d < depth; ++d)
                    turned[d][j] = j < count ? widen(k[(at + j) * kPitch + d]) : 0.0f;
            for (int i = 0; i < here; ++i) {
                float s[keys] = {};
                for (int d = 0; d < depth; ++d) {
                    const float u = widen(q[(top + i) * qPitch + d]);
                    for (int j = 0; j < keys; ++j)
                        s[j] += u * turned[d][j];
                }
                float most = largest[i];
                for (int j = 0; j < count; ++j) {
                    s[j] = logit(top + i, at + j, s[j]);
                    most = fmaxf(most, s[j]);
                }
                const float base = most == -INFINITY ? 0.0f : most;
                const float before = expf(largest[i] - base);
                largest[i] = most;
                float sum = 0.0f;
                for (int j = 0; j < count; ++j) {
                    s[j] = expf(s[j] - base);
                    sum += s[j];
                }
                total[i] = total[i] * before + sum;
                float part[width] = {};
                for (int j = 0; j < count; ++j)
                    for (int e = 0; e < width; ++e)
                        part[e] += s[j] * widen(v[(at + j) * vPitch + e]);
                for (int e = 0; e < width; ++e)
                    sums[i][e] = sums[i][e] * before + part[e];
            }
        }
        for (int i = 0; i < here; ++i) {
            for (int e = 0; e < width; ++e)
                sums[i][e] = safe && total[i] == 0.0f ? 0.0f : sums[i][e] / total[i];
            finish(top + i, 0, width, sums[i]);
        }
    }
};

)cuda";

} // namespace

std::string attentionPrelude(const std::set<std::string> &helpers) {
    std::string text;
    if (helpers.contains("attention"))
        text += tensorAttention;
    if (helpers.contains("loopAttention"))
        text += loopAttention;
    return text;
}

} // namespace cuda_agent::policy
