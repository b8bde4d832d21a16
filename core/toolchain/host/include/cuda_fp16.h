// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// __half and __half2.

#include "cuda_agent_small_floats.h"

struct __half_raw {
    unsigned short x;
};

struct __half {
    CAH_SMALL_FLOAT_MEMBERS(__half)
    CAH_MEMBER __half(float x) : value_(_Float16(x)) {}
    CAH_MEMBER __half(__half_raw raw) : value_(__builtin_bit_cast(_Float16, raw.x)) {}
    CAH_MEMBER operator float() const { return float(value_); }
    CAH_MEMBER operator __half_raw() const { return {bits()}; }
    CAH_MEMBER unsigned short bits() const { return __builtin_bit_cast(unsigned short, value_); }
    static CAH_MEMBER __half fromBits(unsigned short bits) { return __half(__half_raw{bits}); }
    static CAH_MEMBER __half fromDouble(double x) {
        __half result;
        result.value_ = _Float16(x);
        return result;
    }

  private:
    _Float16 value_;
};

struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    CAH_MEMBER __half2(__half x_, __half y_) : x(x_), y(y_) {}
};
using half = __half;
using half2 = __half2;
CAH_SMALL_FLOAT(__half, __half2)

CAH_FUNCTION float __half2float(__half x) {
    return float(x);
}
CAH_FUNCTION __half __float2half(float x) {
    return __half(x);
}
CAH_FUNCTION __half __float2half_rn(float x) {
    return __half(x);
}
CAH_FUNCTION __half __double2half(double x) {
    return __half(x);
}
CAH_FUNCTION __half __int2half_rn(int x) {
    return __half(x);
}
CAH_FUNCTION __half __uint2half_rn(unsigned x) {
    return __half(x);
}
CAH_FUNCTION int __half2int_rn(__half x) {
    return __float2int_rn(float(x));
}
CAH_FUNCTION int __half2int_rz(__half x) {
    return __float2int_rz(float(x));
}
CAH_FUNCTION __half2 __float2half2_rn(float x) {
    return __half2(__half(x), __half(x));
}
CAH_FUNCTION __half2 __floats2half2_rn(float x, float y) {
    return __half2(__half(x), __half(y));
}
CAH_FUNCTION __half2 __float22half2_rn(float2 v) {
    return __floats2half2_rn(v.x, v.y);
}
CAH_FUNCTION float2 __half22float2(__half2 v) {
    return make_float2(float(v.x), float(v.y));
}
CAH_FUNCTION __half2 __half2half2(__half x) {
    return __half2(x, x);
}
CAH_FUNCTION __half2 __halves2half2(__half x, __half y) {
    return __half2(x, y);
}
CAH_FUNCTION __half2 make_half2(__half x, __half y) {
    return __half2(x, y);
}
CAH_FUNCTION __half __low2half(__half2 v) {
    return v.x;
}
CAH_FUNCTION __half __high2half(__half2 v) {
    return v.y;
}
CAH_FUNCTION __half2 __low2half2(__half2 v) {
    return __half2(v.x, v.x);
}
CAH_FUNCTION __half2 __high2half2(__half2 v) {
    return __half2(v.y, v.y);
}
CAH_FUNCTION __half2 __lows2half2(__half2 a, __half2 b) {
    return __half2(a.x, b.x);
}
CAH_FUNCTION __half2 __highs2half2(__half2 a, __half2 b) {
    return __half2(a.y, b.y);
}
CAH_FUNCTION unsigned short __half_as_ushort(__half x) {
    return x.bits();
}
CAH_FUNCTION short __half_as_short(__half x) {
    return short(x.bits());
}
CAH_FUNCTION __half __ushort_as_half(unsigned short x) {
    return __half::fromBits(x);
}
CAH_FUNCTION __half __short_as_half(short x) {
    return __half::fromBits((unsigned short)x);
}
#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
#define CUDART_ZERO_FP16 __ushort_as_half(0u)
