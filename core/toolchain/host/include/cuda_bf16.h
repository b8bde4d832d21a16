// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// __nv_bfloat16 and __nv_bfloat162.

#include "cuda_agent_small_floats.h"

struct __nv_bfloat16_raw {
    unsigned short x;
};

struct __nv_bfloat16 {
    CAH_SMALL_FLOAT_MEMBERS(__nv_bfloat16)
    CAH_MEMBER __nv_bfloat16(float x) {
        const unsigned word = __builtin_bit_cast(unsigned, x);
        const unsigned rounded = (word + 0x7fffu + (word >> 16 & 1u)) >> 16; // to nearest even
        bits_ = (unsigned short)(x != x ? 0x7fffu : rounded);
    }
    CAH_MEMBER __nv_bfloat16(__nv_bfloat16_raw raw) : bits_(raw.x) {}
    CAH_MEMBER operator float() const { return __builtin_bit_cast(float, (unsigned)bits_ << 16); }
    CAH_MEMBER operator __nv_bfloat16_raw() const { return {bits_}; }
    CAH_MEMBER unsigned short bits() const { return bits_; }
    static CAH_MEMBER __nv_bfloat16 fromBits(unsigned short bits) {
        return __nv_bfloat16(__nv_bfloat16_raw{bits});
    }
    /// By way of a float rounded to odd, so that rounding twice does no harm.
    static CAH_MEMBER __nv_bfloat16 fromDouble(double x) {
        const float nearest = float(x);
        unsigned word = __builtin_bit_cast(unsigned, nearest);
        if (double(nearest) != x && x == x && nearest - nearest == 0.0f) {
            const bool away = __builtin_fabs(double(nearest)) > __builtin_fabs(x);
            word = (word - (away ? 1u : 0u)) | 1u;
        }
        return __nv_bfloat16(__builtin_bit_cast(float, word));
    }

  private:
    unsigned short bits_;
};

struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    CAH_MEMBER __nv_bfloat162(__nv_bfloat16 x_, __nv_bfloat16 y_) : x(x_), y(y_) {}
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
CAH_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162)

CAH_FUNCTION float __bfloat162float(__nv_bfloat16 x) {
    return float(x);
}
CAH_FUNCTION __nv_bfloat16 __float2bfloat16(float x) {
    return __nv_bfloat16(x);
}
CAH_FUNCTION __nv_bfloat16 __float2bfloat16_rn(float x) {
    return __nv_bfloat16(x);
}
CAH_FUNCTION __nv_bfloat16 __double2bfloat16(double x) {
    return __nv_bfloat16(x);
}
CAH_FUNCTION __nv_bfloat16 __int2bfloat16_rn(int x) {
    return __nv_bfloat16(x);
}
CAH_FUNCTION int __bfloat162int_rn(__nv_bfloat16 x) {
    return __float2int_rn(float(x));
}
CAH_FUNCTION int __bfloat162int_rz(__nv_bfloat16 x) {
    return __float2int_rz(float(x));
}
CAH_FUNCTION __nv_bfloat162 __float2bfloat162_rn(float x) {
    return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x));
}
CAH_FUNCTION __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
CAH_FUNCTION __nv_bfloat162 __float22bfloat162_rn(float2 v) {
    return __floats2bfloat162_rn(v.x, v.y);
}
CAH_FUNCTION float2 __bfloat1622float2(__nv_bfloat162 v) {
    return make_float2(float(v.x), float(v.y));
}
CAH_FUNCTION __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) {
    return __nv_bfloat162(x, x);
}
CAH_FUNCTION __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
    return __nv_bfloat162(x, y);
}
CAH_FUNCTION __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
    return __nv_bfloat162(x, y);
}
CAH_FUNCTION __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) {
    return v.x;
}
CAH_FUNCTION __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) {
    return v.y;
}
CAH_FUNCTION unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
    return x.bits();
}
CAH_FUNCTION __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
    return __nv_bfloat16::fromBits(x);
}
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
