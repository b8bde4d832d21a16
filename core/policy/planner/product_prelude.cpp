// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

// The inner loops of kernels that compute products. An operand lies with k innermost (`alongK`) or
// with its rows innermost; `pitch` elements lie from one line to the next, and `vector` of them may
// be read at once: sizes and pitches are multiples of it. Rows of the right operand are the columns
// of the product. `finish(row, column, sums)` gets neighbouring elements of a row.

namespace cuda_agent::policy {

namespace {

// storeVector() is for global memory alone: its store names that space.
constexpr const char *storeTile = R"cuda(// Into shared memory.
template <int count>
__device__ __forceinline__ void storeTile(float *to, const float (&from)[count]) {
    if constexpr (count % 4 == 0) {
#pragma unroll
        for (int e = 0; e < count; e += 4)
            *reinterpret_cast<float4 *>(to + e) =
                float4{from[e], from[e + 1], from[e + 2], from[e + 3]};
    } else if constexpr (count == 2) {
        *reinterpret_cast<float2 *>(to) = float2{from[0], from[1]};
    } else {
#pragma unroll
        for (int e = 0; e < count; ++e)
            to[e] = from[e];
    }
}

)cuda";

constexpr const char *oneElement =
    R"cuda(// One element of a product of operands of the kinds A and B: for sums that are not finite, which
// may be so by what does not count, or by how they were taken.
template <class A, class B, class T>
__device__ __noinline__ float elementByElement(const T *a, const T *b, int row, int column, int from,
                                               int end) {
    float sum = 0.0f;
    for (int k = from; k < end; ++k) {
        if (A::counts(row, k))
            sum += A::element(a, row, k) * B::element(b, column, k);
    }
    return sum;
}
// Those of neighbouring elements of a row.
template <class A, class B, int width, class T>
__device__ __forceinline__ void computeAgain(float (&out)[width], const T *a, const T *b, int row,
                                             int column, int from, int end) {
#pragma unroll
    for (int e = 0; e < width; ++e) {
        if (!(fabsf(out[e]) <= 3.4028234e38f))
            out[e] = elementByElement<A, B>(a, b, row, column + e, from, end);
    }
}

)cuda";

constexpr const char *threadProduct =
    R"cuda(// A slice of an operand on its way to shared memory, where it lies as [depth][rows + 4].
template <class T, int rows, int depth, int threads, bool alongK, int vector, long long pitch>
struct Slice {
    static constexpr int run = (alongK ? depth : rows) / vector, lines = alongK ? rows : depth;
    static constexpr int count = (run * lines + threads - 1) / threads;
    float held[count][vector];

//IF padded
    static constexpr bool padded = false;
    static __device__ __forceinline__ float element(const T *from, int row, int k) {
        return widen(alongK ? from[row * pitch + k] : from[k * pitch + row]);
    }
    static __device__ __forceinline__ bool counts(int, int) { return true; }

//END
    __device__ __forceinline__ void fetch(const T *from, int first, int size, int at, int end) {
#pragma unroll
        for (int c = 0; c < count; ++c) {
            const int i = (int)threadIdx.x + c * threads;
            const int line = i / run, along = i % run * vector;
            const int row = first + (alongK ? line : along), k = at + (alongK ? along : line);
            if ((run * lines % threads == 0 || i < run * lines) && row < size && k < end) {
                loadVector(held[c], from + (alongK ? row * pitch + k : k * pitch + row));
            } else {
#pragma unroll
                for (int e = 0; e < vector; ++e)
                    held[c][e] = 0.0f;
            }
        }
    }

    __device__ __forceinline__ void put(float *tile) const {
#pragma unroll
        for (int c = 0; c < count; ++c) {
            const int i = (int)threadIdx.x + c * threads;
            if (run * lines % threads != 0 && i >= run * lines)
                continue;
            const int line = i / run, along = i % run * vector;
            if constexpr (alongK) {
#pragma unroll
                for (int e = 0; e < vector; ++e)
                    tile[(along + e) * (rows + 4) + line] = held[c][e];
            } else {
                storeTile(tile + line * (rows + 4) + along, held[c]);
            }
        }
    }
};

// A tile of a product in float arithmetic, of slices of the kinds A and B. While one is multiplied,
// the next one is on its way. A thread takes groups of 4 rows and of 4 columns, a warp 4 by 8 of them
// side by side. Sums of `block` steps of k are added up on their own, where that is not 0.
template <class T, int tileM, int tileN, int depth, int eachM, int eachN, int block, class A, class B>
struct ThreadProduct {
    static constexpr int across = tileN / eachN, down = tileM / eachM, threads = across * down;
    static constexpr int aBytes = depth * (tileM + 4), bBytes = depth * (tileN + 4);
    static constexpr int shared = 2 * (aBytes + bBytes); // floats
    static_assert(across % 8 == 0 && down % 4 == 0 && eachM % 4 == 0 && eachN % 4 == 0, "");

    template <int width, class Finish>
    static __device__ __forceinline__ void run(const T *a, const T *b, int m, int n, int from,
                                               int end, int top, int left, float *tiles,
                                               const Finish &finish) {
        const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
        const int x = (warp % (across / 8) * 8 + lane % 8) * 4;
        const int y = (warp / (across / 8) * 4 + lane / 8) * 4;
        float sums[eachM][eachN] = {};
//IF sumsInBlocks
        float part[block > 0 ? eachM : 1][block > 0 ? eachN : 1] = {};
//END
        A nextA;
        B nextB;
        nextA.fetch(a, top, m, from, end);
        nextB.fetch(b, left, n, from, end);
        nextA.put(tiles);
        nextB.put(tiles + aBytes);
        __syncthreads();
        int stage = 0;
        for (int at = from; at < end; at += depth) {
            const bool more = at + depth < end;
            if (more) {
                nextA.fetch(a, top, m, at + depth, end);
                nextB.fetch(b, left, n, at + depth, end);
            }
            const float *tileA = tiles + stage * (aBytes + bBytes), *tileB = tileA + aBytes;
#pragma unroll
            for (int k = 0; k < depth; ++k) {
                float u[eachM], v[eachN];
#pragma unroll
                for (int i = 0; i < eachM; i += 4)
                    loadFour(u + i, tileA + k * (tileM + 4) + i * down + y);
#pragma unroll
                for (int j = 0; j < eachN; j += 4)
                    loadFour(v + j, tileB + k * (tileN + 4) + j * across + x);
#pragma unroll
                for (int i = 0; i < eachM; ++i)
#pragma unroll
//IF sumsInBlocks
                    for (int j = 0; j < eachN; ++j) {
                        if constexpr (block > 0)
                            part[i][j] += u[i] * v[j];
                        else
                            sums[i][j] += u[i] * v[j];
                    }
//ELSE
                    for (int j = 0; j < eachN; ++j)
                        sums[i][j] += u[i] * v[j];
//END
            }
//IF sumsInBlocks
            if constexpr (block > 0) {
                if ((at - from) / depth % (block / depth) == block / depth - 1 || !more) {
#pragma unroll
                    for (int i = 0; i < eachM; ++i)
#pragma unroll
                        for (int j = 0; j < eachN; ++j) {
                            sums[i][j] += part[i][j];
                            part[i][j] = 0.0f;
                        }
                }
            }
//END
            stage ^= 1;
            if (more) {
                nextA.put(tiles + stage * (aBytes + bBytes));
                nextB.put(tiles + stage * (aBytes + bBytes) + aBytes);
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < eachM; ++i) {
            const int row = top + i / 4 * 4 * down + y + i % 4;
#pragma unroll
            for (int j = 0; j < eachN; j += width) {
                const int column = left + j / 4 * 4 * across + x + j % 4;
                float out[width];
#pragma unroll
                for (int e = 0; e < width; ++e)
                    out[e] = sums[i][j + e];
                if (row >= m || column >= n)
                    continue;
//IF padded
                if constexpr (A::padded)
                    computeAgain<A, B>(out, a, b, row, column, from, end);
//END
                finish(row, column, out);
            }
        }
    }

  private:
    static __device__ __forceinline__ void loadFour(float *to, const float *from) {
        const float4 v = *reinterpret_cast<const float4 *>(from);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    }
};

)cuda";

} // namespace

std::string productPrelude(const std::set<std::string> &helpers) {
    const auto has = [&](const char *name) { return helpers.contains(name); };
    std::string text;
    if (has("product") || has("tensor")) {
        text += storeTile;
        if (has("split") || has("padded"))
            text += oneElement;
    }
    if (has("product"))
        text += threadProduct;
    text += tensorPrelude(helpers) + loopProductPrelude(helpers) + windowPrelude(helpers) +
            attentionPrelude(helpers);
    return chosenParts(text, helpers);
}

} // namespace cuda_agent::policy
