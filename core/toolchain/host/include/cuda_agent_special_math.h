// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CUDA's functions of mathematical physics. All of them compute in double precision and round once:
// they are rare, and exactness is what a reader of results expects here.

/// Starts at the single-precision fit of M. Giles, "Approximating the erfinv function" (GPU
/// Computing Gems, 2010), and takes two steps of Newton's method.
CAH_FUNCTION double __cah_erfinv(double x) {
    if (!(x > -1 && x < 1))
        return x == 1 ? __builtin_inf() : x == -1 ? -__builtin_inf() : __builtin_nan("");
    const double w = -__builtin_log1p(-x * x);
    double p = 0;
    if (w < 5) {
        const double t = w - 2.5;
        const double middle[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                 -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                 -0.00417768164,  0.246640727,    1.50140941};
        for (const double c : middle)
            p = c + p * t;
    } else {
        const double t = __builtin_sqrt(w) - 3;
        const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                               -0.00367342844,  0.00573950773,  -0.0076224613,
                               0.00943887047,   1.00167406,     2.83297682};
        for (const double c : tail)
            p = c + p * t;
    }
    double y = p * x;
    for (int i = 0; i < 2; ++i) {
        // Near 1 the complement keeps the digits that matter.
        const double over = x > 0.5    ? (1 - x) - __builtin_erfc(y)
                            : x < -0.5 ? __builtin_erfc(-y) - (1 + x)
                                       : __builtin_erf(y) - x;
        y -= over * 0.886226925452758 * __builtin_exp(y * y);
    }
    return y;
}

/// Modified Bessel function of the first kind, of order 0 or 1: its power series, and from 30 on
/// its asymptotic one (Abramowitz and Stegun 9.6.10 and 9.7.1).
CAH_FUNCTION double __cah_bessel_i(int order, double x) {
    const double size = __builtin_fabs(x);
    const double sign = order == 1 && x < 0 ? -1 : 1;
    if (size > 1000)
        return sign * size * __builtin_inf(); // and of NaN it is NaN
    if (size > 30) {
        const double mu = 4.0 * order * order;
        double term = 1, sum = 1;
        for (int k = 1; k <= 20; ++k) {
            term *= -(mu - (2 * k - 1) * (2 * k - 1)) / (8 * k * size);
            sum += term;
        }
        return sign * sum * __builtin_exp(size) / __builtin_sqrt(6.283185307179586 * size);
    }
    const double quarter = 0.25 * x * x;
    double term = order == 0 ? 1 : 0.5 * size;
    double sum = term;
    for (int k = 1; k <= 80; ++k) {
        term *= quarter / (k * (k + order));
        sum += term;
    }
    return sign * sum;
}

// The C library's, for which clang has no builtins.
extern "C" double __cah_library_j0(double) __asm__("j0");
extern "C" double __cah_library_j1(double) __asm__("j1");
extern "C" double __cah_library_y0(double) __asm__("y0");
extern "C" double __cah_library_y1(double) __asm__("y1");

#define CAH_SPECIAL1(name, value)                                                                  \
    CAH_FUNCTION double name(double x) {                                                           \
        return value;                                                                              \
    }                                                                                              \
    CAH_FUNCTION float name##f(float x) {                                                          \
        return float(name(double(x)));                                                             \
    }                                                                                              \
    CAH_FUNCTION float name(float x) {                                                             \
        return float(name(double(x)));                                                             \
    }
CAH_SPECIAL1(erfinv, __cah_erfinv(x))
CAH_SPECIAL1(cyl_bessel_i0, __cah_bessel_i(0, x))
CAH_SPECIAL1(cyl_bessel_i1, __cah_bessel_i(1, x))
CAH_SPECIAL1(j0, __cah_library_j0(x))
CAH_SPECIAL1(j1, __cah_library_j1(x))
CAH_SPECIAL1(y0, __cah_library_y0(x))
CAH_SPECIAL1(y1, __cah_library_y1(x))
#undef CAH_SPECIAL1
