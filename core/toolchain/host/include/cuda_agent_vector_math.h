// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Single-precision functions without branches or calls, so that loops over them vectorise at any
// width (the C library's vector versions stop at 8 lanes and lack most of these). Polynomials are
// near-minimax fits of the reduced functions named beside them. Full range, subnormals, infinities
// and NaNs included; the largest errors found in samples of the whole range stand in
// core/toolchain/host/README.md.

CAH_FUNCTION float __cah_select(bool condition, float yes, float no) {
    return condition ? yes : no;
}
CAH_FUNCTION float __cah_bits(int bits) {
    return __builtin_bit_cast(float, bits);
}
CAH_FUNCTION int __cah_word(float x) {
    return __builtin_bit_cast(int, x);
}
CAH_FUNCTION float __cah_fma(float x, float y, float z) {
    return __builtin_fmaf(x, y, z);
}

/// p * 2^n for n in [-252, 254], in two steps, so that results may be subnormal or infinite.
CAH_FUNCTION float __cah_scale(float p, int n) {
    const int half = n >> 1;
    return p * __cah_bits((half + 127) << 23) * __cah_bits((n - half + 127) << 23);
}

/// The nearest integer of x (|x| < 2^22), also as an int: adding this number shifts the fraction
/// out. Unlike a conversion it is defined for a NaN.
#define CAH_ROUND_SHIFT 12582912.0f

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2
CAH_FUNCTION float __cah_exp_tail(float r) {
    float p = 0.00139269268f;
    p = __cah_fma(p, r, 0.00836377405f);
    p = __cah_fma(p, r, 0.0416665487f);
    p = __cah_fma(p, r, 0.166665733f);
    return __cah_fma(p, r, 0.5f);
}

struct __cah_reduced {
    float r; ///< x - n ln(2)
    int n;
};
CAH_FUNCTION __cah_reduced __cah_reduce_exp(float x) {
    const float shifted = __cah_fma(x, 1.44269504f, CAH_ROUND_SHIFT);
    const float n = shifted - CAH_ROUND_SHIFT;
    const float r = __cah_fma(n, -1.42860677e-6f, __cah_fma(n, -0.693145752f, x));
    return {r, __cah_word(shifted) - __cah_word(CAH_ROUND_SHIFT)};
}

CAH_FUNCTION float __cah_expf(float x) {
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    const __cah_reduced v = __cah_reduce_exp(x);
    return __cah_scale(1.0f + __cah_fma(v.r * v.r, __cah_exp_tail(v.r), v.r), v.n);
}

CAH_FUNCTION float __cah_exp2f(float x) {
    x = x > 129.0f ? 129.0f : x;
    x = x < -151.0f ? -151.0f : x;
    const float shifted = x + CAH_ROUND_SHIFT;
    const float f = x - (shifted - CAH_ROUND_SHIFT);
    float p = 1.52982211e-05f; // (2^f - 1) / f
    p = __cah_fma(p, f, 0.000154626105f);
    p = __cah_fma(p, f, 0.00133334997f);
    p = __cah_fma(p, f, 0.00961805414f);
    p = __cah_fma(p, f, 0.0555041097f);
    p = __cah_fma(p, f, 0.240226507f);
    p = __cah_fma(p, f, 0.693147182f);
    return __cah_scale(__cah_fma(p, f, 1.0f), __cah_word(shifted) - __cah_word(CAH_ROUND_SHIFT));
}

CAH_FUNCTION float __cah_expm1f(float x) {
    float y = x > 89.0f ? 89.0f : x;
    y = y < -30.0f ? -30.0f : y;
    const __cah_reduced v = __cah_reduce_exp(y);
    const float p = __cah_fma(v.r * v.r, __cah_exp_tail(v.r), v.r);
    // Half of it first: 2^128 is no float.
    const float scale = __cah_bits((v.n + 126) << 23);
    const float result = 2.0f * __cah_fma(scale, p, scale - 0.5f);
    return __cah_select(__builtin_fabsf(x) < 1e-20f, x, result);
}

struct __cah_log_parts {
    float f;    ///< x = (1 + f) 2^e, f in [sqrt(1/2) - 1, sqrt(2) - 1)
    float tail; ///< log(1 + f) - f
    float e;
};
CAH_FUNCTION __cah_log_parts __cah_log_reduce(float x) {
    const bool tiny = x < 1.17549435e-38f;
    const int i = __cah_word(tiny ? x * 8388608.0f : x) - 0x3f3504f3;
    const float e = float((i >> 23) - (tiny ? 23 : 0));
    const float f = __cah_bits((i & 0x007fffff) + 0x3f3504f3) - 1.0f;
    float p = 0.0697161183f; // (log(1 + f) - f + f^2 / 2) / f^3
    p = __cah_fma(p, f, -0.114797339f);
    p = __cah_fma(p, f, 0.116854198f);
    p = __cah_fma(p, f, -0.124256872f);
    p = __cah_fma(p, f, 0.142490581f);
    p = __cah_fma(p, f, -0.166678026f);
    p = __cah_fma(p, f, 0.200007156f);
    p = __cah_fma(p, f, -0.24999997f);
    p = __cah_fma(p, f, 0.333333313f);
    const float squared = f * f;
    return {f, __cah_fma(p * f, squared, -0.5f * squared), e};
}
/// `result` where x is positive and finite; what a logarithm is elsewhere.
CAH_FUNCTION float __cah_log_edges(float x, float result) {
    result = x < __builtin_inff() ? result : x; // infinity, NaN
    result = x == 0.0f ? -__builtin_inff() : result;
    return x < 0.0f ? __builtin_nanf("") : result;
}

CAH_FUNCTION float __cah_logf(float x) {
    const __cah_log_parts v = __cah_log_reduce(x);
    const float low = __cah_fma(v.e, 1.42860677e-6f, v.tail);
    return __cah_log_edges(x, __cah_fma(v.e, 0.693145752f, low + v.f));
}
CAH_FUNCTION float __cah_log2f(float x) {
    const __cah_log_parts v = __cah_log_reduce(x);
    // log2(e) = 1.4375 + 0.00519504; f * 1.4375 loses little, and e + ... nothing.
    const float low = __cah_fma(v.tail + v.f, 0.00519504089f, v.tail * 1.4375f);
    return __cah_log_edges(x, __cah_fma(v.f, 1.4375f, low) + v.e);
}
CAH_FUNCTION float __cah_log10f(float x) {
    const __cah_log_parts v = __cah_log_reduce(x);
    const float low =
        __cah_fma(v.e, 7.9034151e-7f, __cah_fma(v.f, 0.000231981510f, v.tail * 0.434294482f));
    return __cah_log_edges(x, __cah_fma(v.e, 0.301029205f, __cah_fma(v.f, 0.4340625f, low)));
}
CAH_FUNCTION float __cah_log1pf(float x) {
    const float u = 1.0f + x;
    const float lost = (x - (u - 1.0f)) / u; // what rounding took from 1 + x
    const __cah_log_parts v = __cah_log_reduce(u);
    const float low = __cah_fma(v.e, 1.42860677e-6f, v.tail) + lost;
    float result = __cah_fma(v.e, 0.693145752f, low + v.f);
    result = __cah_log_edges(u, result);
    return __builtin_fabsf(x) < 1e-10f ? x : result;
}

CAH_FUNCTION float __cah_tanhf(float x) {
    const float a = __builtin_fabsf(x);
    const float s = x * x;
    float p = 0.0022695018f; // (tanh(x) - x) / x^3 in x^2
    p = __cah_fma(p, s, -0.00832318701f);
    p = __cah_fma(p, s, 0.0217625033f);
    p = __cah_fma(p, s, -0.0539584607f);
    p = __cah_fma(p, s, 0.133332998f);
    p = __cah_fma(p, s, -0.333333343f);
    const float small = __cah_fma(p * s, x, x);
    const float capped = a > 10.0f ? 10.0f : a; // tanh is 1 from 9.02 on
    const float large = 1.0f - 2.0f / (1.0f + __cah_expf(2.0f * capped));
    return __builtin_copysignf(a < 0.625f ? small : large, x);
}

CAH_FUNCTION float __cah_erff(float x) {
    const float t = __builtin_fabsf(x);
    const float s = x * x;
    float p = 8.21278081e-05f; // erf(x) / x - 1 in x^2
    p = __cah_fma(p, s, -0.000810505473f);
    p = __cah_fma(p, s, 0.00519768475f);
    p = __cah_fma(p, s, -0.0268580429f);
    p = __cah_fma(p, s, 0.112836711f);
    p = __cah_fma(p, s, -0.376126319f);
    p = __cah_fma(p, s, 0.128379166f);
    const float small = __cah_fma(p, x, x);
    const float capped = t > 4.0f ? 4.0f : t; // erf is 1 from 3.92 on
    float q = -1.64306368e-06f;               // -log(erfc(t))
    q = __cah_fma(q, capped, 4.61638592e-05f);
    q = __cah_fma(q, capped, -0.000597585749f);
    q = __cah_fma(q, capped, 0.00476262579f);
    q = __cah_fma(q, capped, -0.0264276378f);
    q = __cah_fma(q, capped, 0.110087164f);
    q = __cah_fma(q, capped, 0.631823897f);
    q = __cah_fma(q, capped, 1.13023102f);
    q = __cah_fma(q, capped, -0.000318539649f);
    const float large = 1.0f - __cah_expf(-q);
    return t < 0.925f ? small : __builtin_copysignf(large, x);
}

/// In double precision, as the exponent multiplies every error of the logarithm.
CAH_FUNCTION float __cah_powf(float x, float y) {
    const float a = __builtin_fabsf(x);
    const long long i = __builtin_bit_cast(long long, double(a)) - 0x3fe6a09e667f3bcdll;
    const double m = __builtin_bit_cast(double, (i & 0x000fffffffffffffll) + 0x3fe6a09e667f3bcdll);
    const double t = (m - 1.0) / (m + 1.0);
    const double s = t * t;
    double p = 0.28310105034388616; // log2(m) / t in t^2
    p = __builtin_fma(p, s, 0.31989243436159814);
    p = __builtin_fma(p, s, 0.4122095544082238);
    p = __builtin_fma(p, s, 0.5770779396096877);
    p = __builtin_fma(p, s, 0.9617966941219199);
    p = __builtin_fma(p, s, 2.885390081777846);
    double log2 = __builtin_fma(p, t, double(int(i >> 52)));
    log2 = a == 0.0f ? -__builtin_inf() : log2;
    log2 = a < __builtin_inff() ? log2 : __builtin_inf();

    double z = double(y) * log2;
    z = z > 200.0 ? 200.0 : z;
    z = z < -200.0 ? -200.0 : z;
    const double shifted = z + 6755399441055744.0; // rounds to an integer, as above
    const double f = z - (shifted - 6755399441055744.0);
    double e = 1.530380284962428e-05; // 2^f
    e = __builtin_fma(e, f, 0.00015469861921601935);
    e = __builtin_fma(e, f, 0.0013333478154201467);
    e = __builtin_fma(e, f, 0.009618025198219938);
    e = __builtin_fma(e, f, 0.055504109065657);
    e = __builtin_fma(e, f, 0.24022651216614133);
    e = __builtin_fma(e, f, 0.6931471805568075);
    e = __builtin_fma(e, f, 0.9999999999592369);
    const long long n = __builtin_bit_cast(long long, shifted) - 0x4338000000000000ll;
    float result = float(e * __builtin_bit_cast(double, (n + 1023) << 52));

    const bool whole = __builtin_rintf(y) == y;
    const float half = y * 0.5f;
    const bool odd = whole & (__builtin_rintf(half) != half);
    const bool negative = __cah_word(x) < 0;
    result = (negative & odd) ? -result : result;
    result = ((x < 0.0f) & !whole & (a < __builtin_inff())) ? __builtin_nanf("") : result;
    result = ((x != x) | (y != y)) ? x + y : result;
    result = ((a == 1.0f) & (__builtin_fabsf(y) == __builtin_inff())) ? 1.0f : result;
    return ((y == 0.0f) | (x == 1.0f)) ? 1.0f : result;
}
