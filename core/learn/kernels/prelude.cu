// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Goes before every other file of this folder; one text of them all is compiled for one model:
// BFLOAT16 (1 or 0: the elements are bfloat16 or float), HIDDEN, HEADS, KV_HEADS, HEAD_SIZE, INNER
// and VOCABULARY are defined. Arithmetic is in float throughout.

#if BFLOAT16
typedef unsigned short Element; // the upper half of a float's bits
#else
typedef float Element;
#endif
typedef long long i64;

constexpr int threads = 256; ///< of every block but column_sums'
constexpr int warps = threads / 32;
constexpr int width = 16 / sizeof(Element); ///< elements of one access of 16 bytes

/// What one access reads or writes.
struct Values {
    float v[width];
};

#if BFLOAT16
/// Two floats as bfloat16, to the nearest, ties to even.
__device__ __forceinline__ unsigned pair(float low, float high) {
#ifndef __CUDA_AGENT_HOST__
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
#else
    const unsigned a = __float_as_uint(low), b = __float_as_uint(high);
    const unsigned first = low != low ? 0x7fffu : (a + 0x7fffu + ((a >> 16) & 1u)) >> 16;
    const unsigned second = high != high ? 0x7fffu : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    return first | second << 16;
#endif
}
#endif

__device__ __forceinline__ Values unpacked(uint4 words) {
    const unsigned word[4] = {words.x, words.y, words.z, words.w};
    Values values;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#if BFLOAT16
        values.v[2 * i] = __uint_as_float(word[i] << 16);
        values.v[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000u);
#else
        values.v[i] = __uint_as_float(word[i]);
#endif
    }
    return values;
}

__device__ __forceinline__ uint4 packed(const Values &values) {
    unsigned word[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#if BFLOAT16
        word[i] = pair(values.v[2 * i], values.v[2 * i + 1]);
#else
        word[i] = __float_as_uint(values.v[i]);
#endif
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

__device__ __forceinline__ uint4 loadWords(const Element *from) {
    return *reinterpret_cast<const uint4 *>(from);
}

__device__ __forceinline__ Values load(const Element *from) {
    return unpacked(loadWords(from));
}

/// One access, where the compiler would at times make four of it. No kernel reads again what it has
/// written so, which is why loads may move past it.
__device__ __forceinline__ void storeWords(Element *to, uint4 words) {
#ifndef __CUDA_AGENT_HOST__
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                 "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w));
#else
    *reinterpret_cast<uint4 *>(to) = words;
#endif
}

__device__ __forceinline__ void store(Element *to, const Values &values) {
    storeWords(to, packed(values));
}

__device__ __forceinline__ float one(const Element *from) {
#if BFLOAT16
    return __uint_as_float(static_cast<unsigned>(*from) << 16);
#else
    return *from;
#endif
}

__device__ __forceinline__ void setOne(Element *to, float value) {
#if BFLOAT16
    *to = static_cast<Element>(pair(value, 0.0f) & 0xffffu);
#else
    *to = value;
#endif
}

__device__ __forceinline__ float infinity() {
    return __uint_as_float(0x7f800000u);
}

/// e to the power of x; within a rounding of bfloat16 the quick one will do.
__device__ __forceinline__ float exponential(float x) {
#if BFLOAT16
    return __expf(x);
#else
    return expf(x);
#endif
}

/// 1 / (1 + e^-x)
__device__ __forceinline__ float sigmoid(float x) {
#if BFLOAT16
    return __fdividef(1.0f, 1.0f + __expf(-x));
#else
    return 1.0f / (1.0f + expf(-x));
#endif
}

/// The sum over `lanes` adjacent lanes, a power of two, known to all of them.
template <int lanes>
__device__ __forceinline__ float sumOver(float value) {
#pragma unroll
    for (int offset = lanes / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

/// The sum over the lanes of a warp with the same place among `lanes` adjacent ones.
template <int lanes>
__device__ __forceinline__ float sumAcross(float value) {
#pragma unroll
    for (int offset = lanes; offset < 32; offset *= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}
