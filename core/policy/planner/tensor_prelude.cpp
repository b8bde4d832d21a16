// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

// Products on tensor cores, and what attention shares with them: copies that are not waited for,
// operands in shared memory, and the instructions that multiply.

namespace cuda_agent::policy {

namespace {

constexpr const char *asyncCopies =
    R"cuda(// `bytes` from global to shared memory, not waited for; zeros where there is nothing to read.
template <int bytes>
__device__ __forceinline__ void copyAsync(void *to, const void *from, bool there) {
#ifdef __CUDA_AGENT_HOST__
    for (int i = 0; i < bytes; ++i)
        static_cast<char *>(to)[i] = there ? static_cast<const char *>(from)[i] : 0;
#else
    if constexpr (bytes == 2) {
        *static_cast<unsigned short *>(to) =
            there ? *static_cast<const unsigned short *>(from) : (unsigned short)0;
    } else {
        const unsigned place = (unsigned)__cvta_generic_to_shared(to);
        const int read = there ? bytes : 0;
        if constexpr (bytes == 16)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from),
                         "r"(read)
                         : "memory");
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(place), "l"(from),
                         "n"(bytes), "r"(read)
                         : "memory");
    }
#endif
}
__device__ __forceinline__ void endOfGroup() {
#ifndef __CUDA_AGENT_HOST__
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int pending> __device__ __forceinline__ void waitForGroups() {
#ifndef __CUDA_AGENT_HOST__
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

)cuda";

constexpr const char *tensorOperands =
    R"cuda(// The rows of an operand that a block multiplies. In shared memory a slice lies as in global memory,
// with lines so much longer that no two of the lanes that read together meet in a bank.
template <class T, int rows, int depth, int threads, bool alongK, int vector, long long pitch>
struct Operand {
    static constexpr int run = (alongK ? depth : rows) / vector, lines = alongK ? rows : depth;
    static constexpr int each = threads / run; // lines that one round of copies covers
    static constexpr int count = (lines + each - 1) / each;
    static constexpr int line = alongK ? depth + 16 / (int)sizeof(T) : rows + 8;
//IF tensor
    static constexpr int size = lines * line; // elements of a slice

    const T *from;
    int mine, along, left;

    __device__ __forceinline__ Operand(const T *base, int first, int total, int at)
        : mine((int)threadIdx.x / run), along((int)threadIdx.x % run * vector),
          left(total - first - (alongK ? mine : along)) {
        static_assert(threads % run == 0, "");
        from = alongK ? base + (first + mine) * pitch + at + along
                      : base + (at + mine) * pitch + first + along;
    }
    // Starts to copy a part of the slice at `at` of k: all parts of a slice in order, then the next.
    __device__ __forceinline__ void copy(T *tile, int at, int end, int part, int parts) {
#pragma unroll
        for (int c = 0; c < count; ++c) {
            if (c * parts / count != part || (lines % each != 0 && mine + c * each >= lines))
                continue;
            const bool there = alongK ? c * each < left && at + along < end
                                      : left > 0 && at + mine + c * each < end;
            copyAsync<vector * (int)sizeof(T)>(tile + (mine + c * each) * line + along,
                                               from + c * (each * pitch), there);
        }
        if (part == parts - 1)
            from += alongK ? depth : depth * pitch;
    }
    static __device__ __forceinline__ float at(const T *tile, int row, int k) {
        return widen(alongK ? tile[row * line + k] : tile[k * line + row]);
    }
//IF split padded
    static constexpr bool padded = false;
    static __device__ __forceinline__ float element(const T *base, int row, int k) {
        return widen(alongK ? base[row * pitch + k] : base[k * pitch + row]);
    }
    static __device__ __forceinline__ bool counts(int, int) { return true; }
//END
//END

#ifndef __CUDA_AGENT_HOST__
//IF alongK shortAcross
    template <bool transpose>
    static __device__ __forceinline__ void matrices(unsigned (&r)[4], const T *place) {
        const unsigned address = (unsigned)__cvta_generic_to_shared(place);
//IF shortAcross
        if constexpr (transpose)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                         : "r"(address)
                         : "memory");
//END
//IF alongK
        if constexpr (!transpose)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                         : "r"(address)
                         : "memory");
//END
    }
//END
    // 16 rows of the left operand, 32 bytes of k.
    static __device__ __forceinline__ void left16(unsigned (&r)[4], const T *tile, int row, int k) {
        const int lane = (int)threadIdx.x % 32;
//IF alongK
        if constexpr (alongK)
            matrices<false>(r, tile + (row + lane % 16) * line + k +
                                   lane / 16 * (16 / (int)sizeof(T)));
//END
//IF shortAcross
        if constexpr (!alongK && sizeof(T) == 2)
            matrices<true>(r, tile + (k + lane % 8 + lane / 16 * 8) * line + row + lane / 8 % 2 * 8);
//END
//IF floatAcross
        if constexpr (!alongK && sizeof(T) == 4) {
            const T *place = tile + (k + lane % 4) * line + row + lane / 4;
            r[0] = __float_as_uint(place[0]), r[1] = __float_as_uint(place[8]);
            r[2] = __float_as_uint(place[4 * line]), r[3] = __float_as_uint(place[4 * line + 8]);
        }
//END
    }
    // Twice 8 columns, as rows of the right operand, 32 bytes of k: {0, 1} and {2, 3}.
    static __device__ __forceinline__ void right16(unsigned (&r)[4], const T *tile, int row, int k) {
        const int lane = (int)threadIdx.x % 32;
//IF alongK
        if constexpr (alongK)
            matrices<false>(r, tile + (row + lane % 8 + lane / 16 * 8) * line + k +
                                   lane / 8 % 2 * (16 / (int)sizeof(T)));
//END
//IF shortAcross
        if constexpr (!alongK && sizeof(T) == 2)
            matrices<true>(r, tile + (k + lane % 16) * line + row + lane / 16 * 8);
//END
//IF floatAcross
        if constexpr (!alongK && sizeof(T) == 4) {
            const T *place = tile + (k + lane % 4) * line + row + lane / 4;
            r[0] = __float_as_uint(place[0]), r[1] = __float_as_uint(place[4 * line]);
            r[2] = __float_as_uint(place[8]), r[3] = __float_as_uint(place[4 * line + 8]);
        }
//END
    }
#endif
};

#ifndef __CUDA_AGENT_HOST__
//IF rounded
__device__ __forceinline__ unsigned roundedToTf32(unsigned bits) {
    unsigned result;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(__uint_as_float(bits)));
    return result;
}
__device__ __forceinline__ void roundAll(unsigned (&r)[4]) {
#pragma unroll
    for (int c = 0; c < 4; ++c)
        r[c] = roundedToTf32(r[c]);
}
//END
//IF split
// Each as the sum of two TF32 numbers. Cut by a mask: conversions are slow, and the rest makes up
// for it.
__device__ __forceinline__ void splitAll(unsigned (&r)[4], unsigned (&rest)[4]) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        const unsigned whole = r[c];
        r[c] = whole & 0xffffe000u;
        rest[c] = __float_as_uint(__uint_as_float(whole) - __uint_as_float(r[c])) + 0x1000u;
    }
}
//END
template <class T> struct Multiply;
//IF bfloat16
template <> struct Multiply<__nv_bfloat16> {
    static __device__ __forceinline__ void add(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                               unsigned b1) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};
//END
//IF float16
template <> struct Multiply<__half> {
    static __device__ __forceinline__ void add(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                               unsigned b1) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};
//END
//IF float32
template <> struct Multiply<float> {
    static __device__ __forceinline__ void add(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                               unsigned b1) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};
//END
#endif

)cuda";

constexpr const char *tensorProduct =
    R"cuda(// A tile of a product on tensor cores, of operands of the kinds A and B, float sums.
//IF split
// `split`: each float is taken as the sum of two TF32 numbers, and three products of those make one,
// which leaves out 2^-22 of it. Tensor cores cut sums off, so those of a slice start from 0 there.
// What is not finite is computed once more.
//ELSE
// `split`, of floats in two, is false here.
//END
template <class T, int tileM, int tileN, int depth, int warpM, int warpN, int stages, bool split,
          class A, class B>
struct TensorProduct {
    static constexpr int across = tileN / warpN, threads = tileM / warpM * across * 32;
    static constexpr int step = 32 / (int)sizeof(T); // of k, in one instruction
    static constexpr int down = warpM / 16, wide = warpN / 8;
    static_assert(warpM % 16 == 0 && warpN % 16 == 0 && depth % step == 0, "");

    template <int width, class Finish>
    static __device__ __forceinline__ void run(const T *a, const T *b, int m, int n, int from,
                                               int end, int top, int left, unsigned char *shared,
                                               const Finish &finish) {
        T *tiles = reinterpret_cast<T *>(shared);
        const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
        const int warpTop = warp / across * warpM, warpLeft = warp % across * warpN;
        A loadA(a, top, m, from);
        B loadB(b, left, n, from);
        const int slices = (end - from + depth - 1) / depth;
        float sums[down][wide][4] = {};
#pragma unroll
        for (int s = 0; s < stages - 1; ++s) {
            T *tile = tiles + s * (A::size + B::size);
            if (s < slices) {
                loadA.copy(tile, from + s * depth, end, 0, 1);
                loadB.copy(tile + A::size, from + s * depth, end, 0, 1);
            }
            endOfGroup(); // also of nothing, so that the number of groups in flight stays known
        }
        int stage = 0, free = stages - 1;
        for (int slice = 0; slice < slices; ++slice) {
            waitForGroups<stages - 2>();
            __syncthreads(); // the slice is there for all, and the stage filled next is free
            const T *tileA = tiles + stage * (A::size + B::size);
            T *next = tiles + free * (A::size + B::size);
            const int at = from + (slice + stages - 1) * depth;
            const bool more = slice + stages - 1 < slices;
            // Copies of the slice to come are asked for between the multiplications.
            const auto copyPart = [&](int part, int of) {
                if (more) {
                    loadA.copy(next, at, end, part, of);
                    loadB.copy(next + A::size, at, end, part, of);
                }
            };
//IF split
            if constexpr (split) {
                float part[down][wide][4] = {};
                multiply(part, tileA, tileA + A::size, warpTop, warpLeft, copyPart);
#pragma unroll
                for (int i = 0; i < down; ++i)
#pragma unroll
                    for (int j = 0; j < wide; ++j)
#pragma unroll
                        for (int c = 0; c < 4; ++c)
                            sums[i][j][c] += part[i][j][c];
            } else {
                multiply(sums, tileA, tileA + A::size, warpTop, warpLeft, copyPart);
            }
//ELSE
            multiply(sums, tileA, tileA + A::size, warpTop, warpLeft, copyPart);
//END
            endOfGroup();
            stage = stage + 1 == stages ? 0 : stage + 1;
            free = free + 1 == stages ? 0 : free + 1;
        }
        // A lane holds two neighbours in rows lane / 4 and lane / 4 + 8 of each 16 x 8 tile. By way
        // of shared memory whole rows come together, in a loop short enough for long expressions.
        waitForGroups<0>();
        __syncthreads();
        float *tile = reinterpret_cast<float *>(shared);
        constexpr int line = tileN + 8;
#pragma unroll
        for (int i = 0; i < down; ++i)
#pragma unroll
            for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int j = 0; j < wide; ++j) {
                    const float pair[2] = {sums[i][j][h * 2], sums[i][j][h * 2 + 1]};
                    storeTile(tile + (warpTop + i * 16 + h * 8 + lane / 4) * line + warpLeft +
                                  j * 8 + lane % 4 * 2,
                              pair);
                }
        __syncthreads();
#pragma unroll 2
        for (int i = (int)threadIdx.x; i < tileM * (tileN / width); i += threads) {
            const int y = i / (tileN / width), x = i % (tileN / width) * width;
            const int row = top + y, column = left + x;
            if (row >= m || column >= n)
                continue;
            float out[width];
            loadVector(out, tile + y * line + x);
//IF split padded
            if constexpr (split || A::padded)
                computeAgain<A, B>(out, a, b, row, column, from, end);
//END
            finish(row, column, out);
        }
    }

  private:
    template <class Copy>
    static __device__ __forceinline__ void multiply(float (&sums)[down][wide][4], const T *tileA,
                                                    const T *tileB, int top, int left,
                                                    const Copy &copyPart) {
#ifdef __CUDA_AGENT_HOST__
        // No tensor cores here: the same elements in plain arithmetic.
        const int lane = (int)threadIdx.x % 32;
        copyPart(0, 1);
        for (int k = 0; k < depth; ++k)
            for (int i = 0; i < down; ++i)
                for (int j = 0; j < wide; ++j)
                    for (int c = 0; c < 4; ++c)
                        sums[i][j][c] += A::at(tileA, top + i * 16 + c / 2 * 8 + lane / 4, k) *
                                         B::at(tileB, left + j * 8 + lane % 4 * 2 + c % 2, k);
#else
        constexpr int steps = depth / step;
        unsigned a[2][down][4], b[2][wide / 2][4];
        const auto fetch = [&](int to, int k) {
#pragma unroll
            for (int i = 0; i < down; ++i)
                A::left16(a[to][i], tileA, top + i * 16, k);
#pragma unroll
            for (int j = 0; j < wide / 2; ++j)
                B::right16(b[to][j], tileB, left + j * 16, k);
        };
        fetch(0, 0);
#pragma unroll
        for (int s = 0; s < steps; ++s) {
            const int now = s % 2;
            if (s + 1 < steps)
                fetch(1 - now, (s + 1) * step);
            copyPart(s, steps);
//IF rounded
            if constexpr (sizeof(T) == 4 && !split) {
#pragma unroll
                for (int i = 0; i < down; ++i)
                    roundAll(a[now][i]);
#pragma unroll
                for (int j = 0; j < wide / 2; ++j)
                    roundAll(b[now][j]);
            }
//END
//IF split
            if constexpr (split) {
                unsigned aRest[down][4], bRest[wide / 2][4];
#pragma unroll
                for (int i = 0; i < down; ++i)
                    splitAll(a[now][i], aRest[i]);
#pragma unroll
                for (int j = 0; j < wide / 2; ++j)
                    splitAll(b[now][j], bRest[j]);
                // One after the other, so that no product waits for the sum of the one before.
                multiplyAll(sums, aRest, b[now]);
                multiplyAll(sums, a[now], bRest);
            }
//END
            multiplyAll(sums, a[now], b[now]);
        }
#endif
    }

#ifndef __CUDA_AGENT_HOST__
    static __device__ __forceinline__ void multiplyAll(float (&sums)[down][wide][4],
                                                       const unsigned (&a)[down][4],
                                                       const unsigned (&b)[wide / 2][4]) {
#pragma unroll
        for (int i = 0; i < down; ++i)
#pragma unroll
            for (int j = 0; j < wide; ++j)
                Multiply<T>::add(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
#endif
};

)cuda";

} // namespace

std::string tensorPrelude(const std::set<std::string> &helpers) {
    const auto has = [&](const char *name) { return helpers.contains(name); };
    std::string text;
    if (has("tensor") || has("attention"))
        text += asyncCopies;
    if (has("tensor") || has("tensorAttention"))
        text += tensorOperands;
    if (has("tensor"))
        text += tensorProduct;
    return text;
}

} // namespace cuda_agent::policy
