// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What __half and __nv_bfloat16 have in common. Every operation computes in float and rounds the
// result, which for + - * / and sqrt is the same as rounding the exact one. (A fused multiply-add
// may differ in the last bit where the float result lies exactly between two.)

/// The operations of a 16-bit type T and its pair T2, both already defined with T(float),
/// operator float() and bits() / fromBits().
#define CAH_SMALL_FLOAT(T, T2)                                                                     \
    CAH_FUNCTION T operator+(T a, T b) {                                                           \
        return T(float(a) + float(b));                                                             \
    }                                                                                              \
    CAH_FUNCTION T operator-(T a, T b) {                                                           \
        return T(float(a) - float(b));                                                             \
    }                                                                                              \
    CAH_FUNCTION T operator*(T a, T b) {                                                           \
        return T(float(a) * float(b));                                                             \
    }                                                                                              \
    CAH_FUNCTION T operator/(T a, T b) {                                                           \
        return T(float(a) / float(b));                                                             \
    }                                                                                              \
    CAH_FUNCTION T operator-(T a) {                                                                \
        return T::fromBits((unsigned short)(a.bits() ^ 0x8000u));                                  \
    }                                                                                              \
    CAH_FUNCTION T operator+(T a) {                                                                \
        return a;                                                                                  \
    }                                                                                              \
    CAH_FUNCTION T &operator+=(T &a, T b) {                                                        \
        return a = a + b;                                                                          \
    }                                                                                              \
    CAH_FUNCTION T &operator-=(T &a, T b) {                                                        \
        return a = a - b;                                                                          \
    }                                                                                              \
    CAH_FUNCTION T &operator*=(T &a, T b) {                                                        \
        return a = a * b;                                                                          \
    }                                                                                              \
    CAH_FUNCTION T &operator/=(T &a, T b) {                                                        \
        return a = a / b;                                                                          \
    }                                                                                              \
    CAH_FUNCTION bool operator==(T a, T b) {                                                       \
        return float(a) == float(b);                                                               \
    }                                                                                              \
    CAH_FUNCTION bool operator!=(T a, T b) {                                                       \
        return float(a) != float(b);                                                               \
    }                                                                                              \
    CAH_FUNCTION bool operator<(T a, T b) {                                                        \
        return float(a) < float(b);                                                                \
    }                                                                                              \
    CAH_FUNCTION bool operator>(T a, T b) {                                                        \
        return float(a) > float(b);                                                                \
    }                                                                                              \
    CAH_FUNCTION bool operator<=(T a, T b) {                                                       \
        return float(a) <= float(b);                                                               \
    }                                                                                              \
    CAH_FUNCTION bool operator>=(T a, T b) {                                                       \
        return float(a) >= float(b);                                                               \
    }                                                                                              \
    CAH_FUNCTION T __hadd(T a, T b) {                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T __hadd_rn(T a, T b) {                                                           \
        return a + b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T __hsub(T a, T b) {                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T __hmul(T a, T b) {                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T __hmul_rn(T a, T b) {                                                           \
        return a * b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T __hdiv(T a, T b) {                                                              \
        return a / b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T __hneg(T a) {                                                                   \
        return -a;                                                                                 \
    }                                                                                              \
    CAH_FUNCTION T __habs(T a) {                                                                   \
        return T::fromBits((unsigned short)(a.bits() & 0x7fffu));                                  \
    }                                                                                              \
    CAH_FUNCTION T __hfma(T a, T b, T c) {                                                         \
        return T(__builtin_fmaf(float(a), float(b), float(c)));                                    \
    }                                                                                              \
    CAH_FUNCTION T __hfma_relu(T a, T b, T c) {                                                    \
        const float v = __hfma(a, b, c);                                                           \
        return T(v < 0.0f ? 0.0f : v);                                                             \
    }                                                                                              \
    CAH_FUNCTION T __hadd_sat(T a, T b) {                                                          \
        return T(__saturatef(float(a + b)));                                                       \
    }                                                                                              \
    CAH_FUNCTION T __hmul_sat(T a, T b) {                                                          \
        return T(__saturatef(float(a * b)));                                                       \
    }                                                                                              \
    CAH_FUNCTION bool __heq(T a, T b) {                                                            \
        return a == b;                                                                             \
    }                                                                                              \
    CAH_FUNCTION bool __hne(T a, T b) {                                                            \
        return a < b || a > b;                                                                     \
    }                                                                                              \
    CAH_FUNCTION bool __hlt(T a, T b) {                                                            \
        return a < b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION bool __hle(T a, T b) {                                                            \
        return a <= b;                                                                             \
    }                                                                                              \
    CAH_FUNCTION bool __hgt(T a, T b) {                                                            \
        return a > b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION bool __hge(T a, T b) {                                                            \
        return a >= b;                                                                             \
    }                                                                                              \
    CAH_FUNCTION bool __hisnan(T a) {                                                              \
        return isnan(float(a));                                                                    \
    }                                                                                              \
    CAH_FUNCTION int __hisinf(T a) {                                                               \
        return !isinf(float(a)) ? 0 : float(a) > 0 ? 1 : -1;                                       \
    }                                                                                              \
    CAH_FUNCTION T __hmax(T a, T b) {                                                              \
        return T(fmaxf(float(a), float(b)));                                                       \
    }                                                                                              \
    CAH_FUNCTION T __hmin(T a, T b) {                                                              \
        return T(fminf(float(a), float(b)));                                                       \
    }                                                                                              \
    CAH_FUNCTION T __hmax_nan(T a, T b) {                                                          \
        return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b);                                   \
    }                                                                                              \
    CAH_FUNCTION T __hmin_nan(T a, T b) {                                                          \
        return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b);                                   \
    }                                                                                              \
    CAH_FUNCTION T hexp(T a) {                                                                     \
        return T(expf(float(a)));                                                                  \
    }                                                                                              \
    CAH_FUNCTION T hexp2(T a) {                                                                    \
        return T(exp2f(float(a)));                                                                 \
    }                                                                                              \
    CAH_FUNCTION T hlog(T a) {                                                                     \
        return T(logf(float(a)));                                                                  \
    }                                                                                              \
    CAH_FUNCTION T hlog2(T a) {                                                                    \
        return T(log2f(float(a)));                                                                 \
    }                                                                                              \
    CAH_FUNCTION T hsqrt(T a) {                                                                    \
        return T(sqrtf(float(a)));                                                                 \
    }                                                                                              \
    CAH_FUNCTION T hrsqrt(T a) {                                                                   \
        return T(rsqrtf(float(a)));                                                                \
    }                                                                                              \
    CAH_FUNCTION T hrcp(T a) {                                                                     \
        return T(1.0f / float(a));                                                                 \
    }                                                                                              \
    CAH_FUNCTION T hsin(T a) {                                                                     \
        return T(sinf(float(a)));                                                                  \
    }                                                                                              \
    CAH_FUNCTION T hcos(T a) {                                                                     \
        return T(cosf(float(a)));                                                                  \
    }                                                                                              \
    CAH_FUNCTION T htanh(T a) {                                                                    \
        return T(tanhf(float(a)));                                                                 \
    }                                                                                              \
    CAH_FUNCTION T hfloor(T a) {                                                                   \
        return T(floorf(float(a)));                                                                \
    }                                                                                              \
    CAH_FUNCTION T hceil(T a) {                                                                    \
        return T(ceilf(float(a)));                                                                 \
    }                                                                                              \
    CAH_FUNCTION T hrint(T a) {                                                                    \
        return T(rintf(float(a)));                                                                 \
    }                                                                                              \
    CAH_FUNCTION T htrunc(T a) {                                                                   \
        return T(truncf(float(a)));                                                                \
    }                                                                                              \
    CAH_FUNCTION T2 operator+(T2 a, T2 b) {                                                        \
        return T2(a.x + b.x, a.y + b.y);                                                           \
    }                                                                                              \
    CAH_FUNCTION T2 operator-(T2 a, T2 b) {                                                        \
        return T2(a.x - b.x, a.y - b.y);                                                           \
    }                                                                                              \
    CAH_FUNCTION T2 operator*(T2 a, T2 b) {                                                        \
        return T2(a.x * b.x, a.y * b.y);                                                           \
    }                                                                                              \
    CAH_FUNCTION T2 operator/(T2 a, T2 b) {                                                        \
        return T2(a.x / b.x, a.y / b.y);                                                           \
    }                                                                                              \
    CAH_FUNCTION T2 operator-(T2 a) {                                                              \
        return T2(-a.x, -a.y);                                                                     \
    }                                                                                              \
    CAH_FUNCTION T2 &operator+=(T2 &a, T2 b) {                                                     \
        return a = a + b;                                                                          \
    }                                                                                              \
    CAH_FUNCTION T2 &operator-=(T2 &a, T2 b) {                                                     \
        return a = a - b;                                                                          \
    }                                                                                              \
    CAH_FUNCTION T2 &operator*=(T2 &a, T2 b) {                                                     \
        return a = a * b;                                                                          \
    }                                                                                              \
    CAH_FUNCTION T2 &operator/=(T2 &a, T2 b) {                                                     \
        return a = a / b;                                                                          \
    }                                                                                              \
    CAH_FUNCTION T2 __hadd2(T2 a, T2 b) {                                                          \
        return a + b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T2 __hsub2(T2 a, T2 b) {                                                          \
        return a - b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T2 __hmul2(T2 a, T2 b) {                                                          \
        return a * b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T2 __h2div(T2 a, T2 b) {                                                          \
        return a / b;                                                                              \
    }                                                                                              \
    CAH_FUNCTION T2 __hneg2(T2 a) {                                                                \
        return -a;                                                                                 \
    }                                                                                              \
    CAH_FUNCTION T2 __habs2(T2 a) {                                                                \
        return T2(__habs(a.x), __habs(a.y));                                                       \
    }                                                                                              \
    CAH_FUNCTION T2 __hfma2(T2 a, T2 b, T2 c) {                                                    \
        return T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                   \
    }                                                                                              \
    CAH_FUNCTION T2 __hmax2(T2 a, T2 b) {                                                          \
        return T2(__hmax(a.x, b.x), __hmax(a.y, b.y));                                             \
    }                                                                                              \
    CAH_FUNCTION T2 __hmin2(T2 a, T2 b) {                                                          \
        return T2(__hmin(a.x, b.x), __hmin(a.y, b.y));                                             \
    }                                                                                              \
    CAH_FUNCTION T2 h2exp(T2 a) {                                                                  \
        return T2(hexp(a.x), hexp(a.y));                                                           \
    }                                                                                              \
    CAH_FUNCTION T2 h2exp2(T2 a) {                                                                 \
        return T2(hexp2(a.x), hexp2(a.y));                                                         \
    }                                                                                              \
    CAH_FUNCTION T2 h2log(T2 a) {                                                                  \
        return T2(hlog(a.x), hlog(a.y));                                                           \
    }                                                                                              \
    CAH_FUNCTION T2 h2sqrt(T2 a) {                                                                 \
        return T2(hsqrt(a.x), hsqrt(a.y));                                                         \
    }                                                                                              \
    CAH_FUNCTION T2 h2rsqrt(T2 a) {                                                                \
        return T2(hrsqrt(a.x), hrsqrt(a.y));                                                       \
    }                                                                                              \
    CAH_FUNCTION T2 h2rcp(T2 a) {                                                                  \
        return T2(hrcp(a.x), hrcp(a.y));                                                           \
    }                                                                                              \
    CAH_FUNCTION T2 h2tanh(T2 a) {                                                                 \
        return T2(htanh(a.x), htanh(a.y));                                                         \
    }                                                                                              \
    CAH_FUNCTION float __low2float(T2 a) {                                                         \
        return float(a.x);                                                                         \
    }                                                                                              \
    CAH_FUNCTION float __high2float(T2 a) {                                                        \
        return float(a.y);                                                                         \
    }                                                                                              \
    CAH_FUNCTION T2 __lowhigh2highlow(T2 a) {                                                      \
        return T2(a.y, a.x);                                                                       \
    }                                                                                              \
    CAH_FUNCTION T atomicAdd(T *p, T v) {                                                          \
        return __cah_atomic_update<unsigned short>(p, [v](T old) { return old + v; });             \
    }                                                                                              \
    CAH_FUNCTION T2 atomicAdd(T2 *p, T2 v) {                                                       \
        return __cah_atomic_update<unsigned>(p, [v](T2 old) { return old + v; });                  \
    }

/// Conversions from and to the other arithmetic types, as members of T.
#define CAH_SMALL_FLOAT_MEMBERS(T)                                                                 \
    T() = default;                                                                                 \
    CAH_MEMBER T(double x) : T(fromDouble(x)) {}                                                   \
    CAH_MEMBER T(int x) : T(fromDouble(x)) {}                                                      \
    CAH_MEMBER T(unsigned x) : T(fromDouble(x)) {}                                                 \
    CAH_MEMBER T(short x) : T(fromDouble(x)) {}                                                    \
    CAH_MEMBER T(unsigned short x) : T(fromDouble(x)) {}                                           \
    CAH_MEMBER T(long x) : T(fromDouble(double(x))) {}                                             \
    CAH_MEMBER T(unsigned long x) : T(fromDouble(double(x))) {}                                    \
    CAH_MEMBER T(long long x) : T(fromDouble(double(x))) {}                                        \
    CAH_MEMBER T(unsigned long long x) : T(fromDouble(double(x))) {}                               \
    CAH_MEMBER explicit operator bool() const {                                                    \
        return (bits() & 0x7fffu) != 0;                                                            \
    }
