#pragma once
#define X(n)                                                                                       \
    CAH_FUNCTION float __cah_##n##f(float x) {                                                     \
        return __builtin_##n##f(x);                                                                \
    }
X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(tanh) X(erf)
