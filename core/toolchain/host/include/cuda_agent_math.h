// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CUDA's math functions and intrinsics at namespace scope. They have C++ linkage and are bodies or
// builtins, so the compiler inlines and vectorises them; left to the C library are those without a
// short form. Overloads for float and double as CUDA has them.

#include "cuda_agent_vector_math.h"

#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VAL (__builtin_inf())
#define HUGE_VALF (__builtin_inff())
#define CUDART_INF_F (__builtin_inff())
#define CUDART_NAN_F (__builtin_nanf(""))
#define CUDART_INF (__builtin_inf())
#define CUDART_NAN (__builtin_nan(""))
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_LOG2E_F 1.442695041f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_LNT_F 0.693147181f
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#endif
#ifndef FLT_MAX
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#endif
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1u)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1)
#endif

// name(float), namef(float), name(double) of one builtin.
#define CAH_MATH1(name)                                                                            \
    CAH_FUNCTION float name##f(float x) {                                                          \
        return __builtin_##name##f(x);                                                             \
    }                                                                                              \
    CAH_FUNCTION float name(float x) {                                                             \
        return __builtin_##name##f(x);                                                             \
    }                                                                                              \
    CAH_FUNCTION double name(double x) {                                                           \
        return __builtin_##name(x);                                                                \
    }
#define CAH_MATH2(name)                                                                            \
    CAH_FUNCTION float name##f(float x, float y) {                                                 \
        return __builtin_##name##f(x, y);                                                          \
    }                                                                                              \
    CAH_FUNCTION float name(float x, float y) {                                                    \
        return __builtin_##name##f(x, y);                                                          \
    }                                                                                              \
    CAH_FUNCTION double name(double x, double y) {                                                 \
        return __builtin_##name(x, y);                                                             \
    }
// The same with a float body of ours.
#define CAH_OWN1(name)                                                                             \
    CAH_FUNCTION float name##f(float x) {                                                          \
        return __cah_##name##f(x);                                                                 \
    }                                                                                              \
    CAH_FUNCTION float name(float x) {                                                             \
        return __cah_##name##f(x);                                                                 \
    }                                                                                              \
    CAH_FUNCTION double name(double x) {                                                           \
        return __builtin_##name(x);                                                                \
    }

CAH_MATH1(sqrt)
CAH_MATH1(floor)
CAH_MATH1(ceil)
CAH_MATH1(trunc)
CAH_MATH1(rint)
CAH_MATH1(nearbyint)
CAH_MATH1(round)
CAH_MATH1(fabs)
CAH_MATH1(cbrt)
CAH_MATH1(sin)
CAH_MATH1(cos)
CAH_MATH1(tan)
CAH_MATH1(asin)
CAH_MATH1(acos)
CAH_MATH1(atan)
CAH_MATH1(sinh)
CAH_MATH1(cosh)
CAH_MATH1(asinh)
CAH_MATH1(acosh)
CAH_MATH1(atanh)
CAH_MATH1(erfc)
CAH_MATH1(tgamma)
CAH_MATH1(lgamma)
CAH_MATH1(logb)
CAH_MATH2(atan2)
CAH_MATH2(hypot)
CAH_MATH2(fmod)
CAH_MATH2(remainder)
CAH_MATH2(copysign)
CAH_MATH2(fmax)
CAH_MATH2(fmin)
CAH_MATH2(fdim)
CAH_MATH2(nextafter)
CAH_OWN1(exp)
CAH_OWN1(exp2)
CAH_OWN1(expm1)
CAH_OWN1(log)
CAH_OWN1(log2)
CAH_OWN1(log10)
CAH_OWN1(log1p)
CAH_OWN1(tanh)
CAH_OWN1(erf)
#undef CAH_MATH1
#undef CAH_MATH2
#undef CAH_OWN1

CAH_FUNCTION float powf(float x, float y) {
    return __cah_powf(x, y);
}
CAH_FUNCTION float pow(float x, float y) {
    return __cah_powf(x, y);
}
CAH_FUNCTION double pow(double x, double y) {
    return __builtin_pow(x, y);
}
CAH_FUNCTION float pow(float x, int y) {
    return __cah_powf(x, float(y));
}
CAH_FUNCTION double pow(double x, int y) {
    return __builtin_pow(x, double(y));
}
CAH_FUNCTION float fmaf(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
CAH_FUNCTION float fma(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
CAH_FUNCTION double fma(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}
CAH_FUNCTION float exp10f(float x) {
    return float(__builtin_exp(double(x) * 2.302585092994046));
}
CAH_FUNCTION double exp10(double x) {
    return __builtin_pow(10.0, x);
}
CAH_FUNCTION float rsqrtf(float x) {
    return 1.0f / __builtin_sqrtf(x);
}
CAH_FUNCTION float rsqrt(float x) {
    return 1.0f / __builtin_sqrtf(x);
}
CAH_FUNCTION double rsqrt(double x) {
    return 1.0 / __builtin_sqrt(x);
}
CAH_FUNCTION float rcbrtf(float x) {
    return 1.0f / __builtin_cbrtf(x);
}
CAH_FUNCTION float erfcxf(float x) {
    return x < 25 ? float(__builtin_exp(double(x) * x) * __builtin_erfc(x))
                  : float(0.5641895835477563 / x);
}
CAH_FUNCTION float normcdff(float x) {
    return float(0.5 * __builtin_erfc(-0.7071067811865476 * x));
}
CAH_FUNCTION double normcdf(double x) {
    return 0.5 * __builtin_erfc(-0.7071067811865476 * x);
}
CAH_FUNCTION float sinpif(float x) {
    return float(__builtin_sin(M_PI * x));
}
CAH_FUNCTION float cospif(float x) {
    return float(__builtin_cos(M_PI * x));
}
CAH_FUNCTION void sincosf(float x, float *s, float *c) {
    *s = __builtin_sinf(x);
    *c = __builtin_cosf(x);
}
CAH_FUNCTION void sincos(double x, double *s, double *c) {
    *s = __builtin_sin(x);
    *c = __builtin_cos(x);
}
CAH_FUNCTION float ldexpf(float x, int n) {
    return __builtin_ldexpf(x, n);
}
CAH_FUNCTION double ldexp(double x, int n) {
    return __builtin_ldexp(x, n);
}
CAH_FUNCTION float scalbnf(float x, int n) {
    return __builtin_ldexpf(x, n);
}
CAH_FUNCTION float frexpf(float x, int *n) {
    return __builtin_frexpf(x, n);
}
CAH_FUNCTION float modff(float x, float *whole) {
    return __builtin_modff(x, whole);
}
CAH_FUNCTION int ilogbf(float x) {
    return __builtin_ilogbf(x);
}
CAH_FUNCTION int lrintf(float x) {
    return int(__builtin_rintf(x));
}
CAH_FUNCTION long lroundf(float x) {
    return long(__builtin_roundf(x));
}
CAH_FUNCTION long long llrintf(float x) {
    return (long long)__builtin_rintf(x);
}

#undef isnan
#undef isinf
#undef isfinite
#undef signbit
template <class T>
CAH_FUNCTION bool isnan(T x) {
    return x != x;
}
template <class T>
CAH_FUNCTION bool isinf(T x) {
    return __builtin_fabs(double(x)) == __builtin_inf();
}
CAH_FUNCTION bool isinf(float x) {
    return __builtin_fabsf(x) == __builtin_inff();
}
template <class T>
CAH_FUNCTION bool isfinite(T x) {
    return __builtin_fabs(double(x)) < __builtin_inf();
}
CAH_FUNCTION bool isfinite(float x) {
    return __builtin_fabsf(x) < __builtin_inff();
}
CAH_FUNCTION bool signbit(float x) {
    return __builtin_signbitf(x) != 0;
}
CAH_FUNCTION bool signbit(double x) {
    return __builtin_signbit(x) != 0;
}

CAH_FUNCTION int abs(int x) {
    return x < 0 ? -x : x;
}
CAH_FUNCTION long abs(long x) {
    return x < 0 ? -x : x;
}
CAH_FUNCTION long long abs(long long x) {
    return x < 0 ? -x : x;
}
CAH_FUNCTION float abs(float x) {
    return __builtin_fabsf(x);
}
CAH_FUNCTION double abs(double x) {
    return __builtin_fabs(x);
}
CAH_FUNCTION long labs(long x) {
    return x < 0 ? -x : x;
}
CAH_FUNCTION long long llabs(long long x) {
    return x < 0 ? -x : x;
}

// min and max of every pair of arithmetic types that CUDA has: the common type decides; floating
// ones answer the number when one is a NaN.
template <class A, class B>
constexpr CAH_FUNCTION auto min(A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B>
constexpr CAH_FUNCTION auto max(A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    return T(a) < T(b) ? T(b) : T(a);
}
CAH_FUNCTION float min(float a, float b) {
    return __builtin_fminf(a, b);
}
CAH_FUNCTION float max(float a, float b) {
    return __builtin_fmaxf(a, b);
}
CAH_FUNCTION double min(double a, double b) {
    return __builtin_fmin(a, b);
}
CAH_FUNCTION double max(double a, double b) {
    return __builtin_fmax(a, b);
}
CAH_FUNCTION double min(float a, double b) {
    return __builtin_fmin(a, b);
}
CAH_FUNCTION double max(float a, double b) {
    return __builtin_fmax(a, b);
}
CAH_FUNCTION double min(double a, float b) {
    return __builtin_fmin(a, b);
}
CAH_FUNCTION double max(double a, float b) {
    return __builtin_fmax(a, b);
}
CAH_FUNCTION int umin(unsigned a, unsigned b) {
    return int(a < b ? a : b);
}
CAH_FUNCTION int umax(unsigned a, unsigned b) {
    return int(a < b ? b : a);
}

// ---- fast variants: as exact as the others here
CAH_FUNCTION float __expf(float x) {
    return expf(x);
}
CAH_FUNCTION float __exp10f(float x) {
    return exp10f(x);
}
CAH_FUNCTION float __logf(float x) {
    return logf(x);
}
CAH_FUNCTION float __log2f(float x) {
    return log2f(x);
}
CAH_FUNCTION float __log10f(float x) {
    return log10f(x);
}
CAH_FUNCTION float __powf(float x, float y) {
    return powf(x, y);
}
CAH_FUNCTION float __sinf(float x) {
    return sinf(x);
}
CAH_FUNCTION float __cosf(float x) {
    return cosf(x);
}
CAH_FUNCTION float __tanf(float x) {
    return tanf(x);
}
CAH_FUNCTION float __tanhf(float x) {
    return tanhf(x);
}
CAH_FUNCTION void __sincosf(float x, float *s, float *c) {
    sincosf(x, s, c);
}
CAH_FUNCTION float __fdividef(float x, float y) {
    return x / y;
}
CAH_FUNCTION float fdividef(float x, float y) {
    return x / y;
}
CAH_FUNCTION float __saturatef(float x) {
    return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f);
}

// ---- rounding named by the function; only round-to-nearest exists as such on the host
#pragma GCC diagnostic push
#if defined(__clang__)
#define CAH_NO_CONTRACT _Pragma("clang fp contract(off)")
#else
#define CAH_NO_CONTRACT
#endif
#define CAH_ROUNDED(T, letter)                                                                     \
    CAH_FUNCTION T __##letter##add_rn(T x, T y) {                                                  \
        CAH_NO_CONTRACT return x + y;                                                              \
    }                                                                                              \
    CAH_FUNCTION T __##letter##sub_rn(T x, T y) {                                                  \
        CAH_NO_CONTRACT return x - y;                                                              \
    }                                                                                              \
    CAH_FUNCTION T __##letter##mul_rn(T x, T y) {                                                  \
        CAH_NO_CONTRACT return x * y;                                                              \
    }
CAH_ROUNDED(float, f)
CAH_ROUNDED(double, d)
#undef CAH_ROUNDED
#pragma GCC diagnostic pop
CAH_FUNCTION float __fdiv_rn(float x, float y) {
    return x / y;
}
CAH_FUNCTION double __ddiv_rn(double x, double y) {
    return x / y;
}
CAH_FUNCTION float __frcp_rn(float x) {
    return 1.0f / x;
}
CAH_FUNCTION double __drcp_rn(double x) {
    return 1.0 / x;
}
CAH_FUNCTION float __fsqrt_rn(float x) {
    return __builtin_sqrtf(x);
}
CAH_FUNCTION double __dsqrt_rn(double x) {
    return __builtin_sqrt(x);
}
CAH_FUNCTION float __frsqrt_rn(float x) {
    return float(1.0 / __builtin_sqrt(double(x)));
}
CAH_FUNCTION float __fmaf_rn(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}
CAH_FUNCTION double __fma_rn(double x, double y, double z) {
    return __builtin_fma(x, y, z);
}

// ---- bits and conversions
CAH_FUNCTION int __float_as_int(float x) {
    return __builtin_bit_cast(int, x);
}
CAH_FUNCTION unsigned __float_as_uint(float x) {
    return __builtin_bit_cast(unsigned, x);
}
CAH_FUNCTION float __int_as_float(int x) {
    return __builtin_bit_cast(float, x);
}
CAH_FUNCTION float __uint_as_float(unsigned x) {
    return __builtin_bit_cast(float, x);
}
CAH_FUNCTION long long __double_as_longlong(double x) {
    return __builtin_bit_cast(long long, x);
}
CAH_FUNCTION double __longlong_as_double(long long x) {
    return __builtin_bit_cast(double, x);
}
CAH_FUNCTION int __double2hiint(double x) {
    return int(__double_as_longlong(x) >> 32);
}
CAH_FUNCTION int __double2loint(double x) {
    return int(__double_as_longlong(x));
}
CAH_FUNCTION double __hiloint2double(int high, int low) {
    return __longlong_as_double(
        (long long)(((unsigned long long)(unsigned)high << 32) | (unsigned)low));
}
// Conversions saturate as CUDA's do; a NaN gives 0.
template <class To, class From>
CAH_FUNCTION To __cah_saturate(From x, From low, From high, To least, To most) {
    return x != x ? To(0) : x <= low ? least : x >= high ? most : To(x);
}
CAH_FUNCTION int __cah_float2int(float x) {
    return __cah_saturate<int>(x, -2147483648.f, 2147483648.f, INT_MIN, INT_MAX);
}
CAH_FUNCTION unsigned __cah_float2uint(float x) {
    return __cah_saturate<unsigned>(x, 0.f, 4294967296.f, 0u, UINT_MAX);
}
CAH_FUNCTION int __float2int_rn(float x) {
    return __cah_float2int(__builtin_rintf(x));
}
CAH_FUNCTION int __float2int_rz(float x) {
    return __cah_float2int(__builtin_truncf(x));
}
CAH_FUNCTION int __float2int_rd(float x) {
    return __cah_float2int(__builtin_floorf(x));
}
CAH_FUNCTION int __float2int_ru(float x) {
    return __cah_float2int(__builtin_ceilf(x));
}
CAH_FUNCTION unsigned __float2uint_rn(float x) {
    return __cah_float2uint(__builtin_rintf(x));
}
CAH_FUNCTION unsigned __float2uint_rz(float x) {
    return __cah_float2uint(__builtin_truncf(x));
}
CAH_FUNCTION unsigned __float2uint_rd(float x) {
    return __cah_float2uint(__builtin_floorf(x));
}
CAH_FUNCTION unsigned __float2uint_ru(float x) {
    return __cah_float2uint(__builtin_ceilf(x));
}
CAH_FUNCTION float __int2float_rn(int x) {
    return float(x);
}
CAH_FUNCTION float __uint2float_rn(unsigned x) {
    return float(x);
}
CAH_FUNCTION float __ll2float_rn(long long x) {
    return float(x);
}
CAH_FUNCTION float __ull2float_rn(unsigned long long x) {
    return float(x);
}
CAH_FUNCTION double __int2double_rn(int x) {
    return x;
}
CAH_FUNCTION double __ll2double_rn(long long x) {
    return double(x);
}
CAH_FUNCTION float __double2float_rn(double x) {
    return float(x);
}
CAH_FUNCTION long long __float2ll_rn(float x) {
    return (long long)__builtin_rintf(x);
}
CAH_FUNCTION long long __double2ll_rn(double x) {
    return (long long)__builtin_rint(x);
}
CAH_FUNCTION int __double2int_rn(double x) {
    return __cah_saturate<int>(__builtin_rint(x), -2147483648., 2147483648., INT_MIN, INT_MAX);
}

// ---- integers
CAH_FUNCTION int __popc(unsigned x) {
    return __builtin_popcount(x);
}
CAH_FUNCTION int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
CAH_FUNCTION int __ffs(int x) {
    return __builtin_ffs(x);
}
CAH_FUNCTION int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
CAH_FUNCTION int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(unsigned(x));
}
CAH_FUNCTION int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
CAH_FUNCTION unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
CAH_FUNCTION unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
CAH_FUNCTION unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    const unsigned long long all = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i)
        result |= unsigned(all >> ((s >> (4 * i) & 7) * 8) & 0xff) << (8 * i);
    return result;
}
CAH_FUNCTION unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) {
    return unsigned((((unsigned long long)high << 32 | low) << (n & 31)) >> 32);
}
CAH_FUNCTION unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
    return unsigned(((unsigned long long)high << 32 | low) >> (n & 31));
}
CAH_FUNCTION int __mulhi(int x, int y) {
    return int((long long)x * y >> 32);
}
CAH_FUNCTION unsigned __umulhi(unsigned x, unsigned y) {
    return unsigned((unsigned long long)x * y >> 32);
}
CAH_FUNCTION unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
CAH_FUNCTION int __mul24(int x, int y) {
    return (x << 8 >> 8) * (y << 8 >> 8);
}
CAH_FUNCTION unsigned __umul24(unsigned x, unsigned y) {
    return (x & 0xffffffu) * (y & 0xffffffu);
}
CAH_FUNCTION unsigned __sad(int x, int y, unsigned z) {
    return z + unsigned(x < y ? (long long)y - x : (long long)x - y);
}
CAH_FUNCTION int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; ++i)
        c += int((signed char)(a >> (8 * i))) * int((signed char)(b >> (8 * i)));
    return c;
}

// ---- loads and stores with a cache hint are plain ones here
#define CAH_LOAD(name)                                                                             \
    template <class T>                                                                             \
    CAH_FUNCTION T name(const T *p) {                                                              \
        return *p;                                                                                 \
    }
#define CAH_STORE(name)                                                                            \
    template <class T, class V>                                                                    \
    CAH_FUNCTION void name(T *p, V v) {                                                            \
        *p = v;                                                                                    \
    }
CAH_LOAD(__ldg)
CAH_LOAD(__ldcg)
CAH_LOAD(__ldca)
CAH_LOAD(__ldcs)
CAH_LOAD(__ldlu)
CAH_LOAD(__ldcv)
CAH_STORE(__stwb)
CAH_STORE(__stcg)
CAH_STORE(__stcs)
CAH_STORE(__stwt)
#undef CAH_LOAD
#undef CAH_STORE
