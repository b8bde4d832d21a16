// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Atomic operations, relaxed as CUDA's are.

template <class Word, class T, class Update>
CAH_FUNCTION T __cah_atomic_update(T *address, Update update) {
    static_assert(sizeof(Word) == sizeof(T), "");
    Word *word = reinterpret_cast<Word *>(address);
    Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
        T value;
        __builtin_memcpy(static_cast<void *>(&value), &old, sizeof value);
        const T wanted = update(value);
        Word bits;
        __builtin_memcpy(&bits, &wanted, sizeof bits);
        if (__atomic_compare_exchange_n(word, &old, bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return value;
    }
}

#define CAH_ATOMIC_INTEGER(T, Word)                                                                \
    CAH_FUNCTION T atomicAdd(T *p, T v) {                                                          \
        return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);                                         \
    }                                                                                              \
    CAH_FUNCTION T atomicSub(T *p, T v) {                                                          \
        return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);                                         \
    }                                                                                              \
    CAH_FUNCTION T atomicAnd(T *p, T v) {                                                          \
        return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);                                         \
    }                                                                                              \
    CAH_FUNCTION T atomicOr(T *p, T v) {                                                           \
        return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);                                          \
    }                                                                                              \
    CAH_FUNCTION T atomicXor(T *p, T v) {                                                          \
        return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);                                         \
    }                                                                                              \
    CAH_FUNCTION T atomicExch(T *p, T v) {                                                         \
        return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);                                        \
    }                                                                                              \
    CAH_FUNCTION T atomicCAS(T *p, T compare, T v) {                                               \
        __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
        return compare;                                                                            \
    }                                                                                              \
    CAH_FUNCTION T atomicMax(T *p, T v) {                                                          \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                              \
        while (old < v && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED,         \
                                                       __ATOMIC_RELAXED)) {                        \
        }                                                                                          \
        return old;                                                                                \
    }                                                                                              \
    CAH_FUNCTION T atomicMin(T *p, T v) {                                                          \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                              \
        while (v < old && !__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_RELAXED,         \
                                                       __ATOMIC_RELAXED)) {                        \
        }                                                                                          \
        return old;                                                                                \
    }

CAH_ATOMIC_INTEGER(int, unsigned)
CAH_ATOMIC_INTEGER(unsigned, unsigned)
CAH_ATOMIC_INTEGER(long, unsigned long)
CAH_ATOMIC_INTEGER(unsigned long, unsigned long)
CAH_ATOMIC_INTEGER(long long, unsigned long long)
CAH_ATOMIC_INTEGER(unsigned long long, unsigned long long)
#undef CAH_ATOMIC_INTEGER

CAH_FUNCTION unsigned short atomicCAS(unsigned short *p, unsigned short compare, unsigned short v) {
    __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return compare;
}
CAH_FUNCTION float atomicAdd(float *p, float v) {
    return __cah_atomic_update<unsigned>(p, [v](float old) { return old + v; });
}
CAH_FUNCTION double atomicAdd(double *p, double v) {
    return __cah_atomic_update<unsigned long long>(p, [v](double old) { return old + v; });
}
CAH_FUNCTION float atomicExch(float *p, float v) {
    return __cah_atomic_update<unsigned>(p, [v](float) { return v; });
}
CAH_FUNCTION unsigned atomicInc(unsigned *p, unsigned limit) {
    return __cah_atomic_update<unsigned>(
        p, [limit](unsigned old) { return old >= limit ? 0u : old + 1; });
}
CAH_FUNCTION unsigned atomicDec(unsigned *p, unsigned limit) {
    return __cah_atomic_update<unsigned>(
        p, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

#define CAH_ATOMIC_SCOPES(name)                                                                    \
    template <class T, class... V>                                                                 \
    CAH_FUNCTION T name##_block(T *p, V... v) {                                                    \
        return name(p, T(v)...);                                                                   \
    }                                                                                              \
    template <class T, class... V>                                                                 \
    CAH_FUNCTION T name##_system(T *p, V... v) {                                                   \
        return name(p, T(v)...);                                                                   \
    }
CAH_ATOMIC_SCOPES(atomicAdd)
CAH_ATOMIC_SCOPES(atomicMax)
CAH_ATOMIC_SCOPES(atomicMin)
CAH_ATOMIC_SCOPES(atomicExch)
CAH_ATOMIC_SCOPES(atomicCAS)
#undef CAH_ATOMIC_SCOPES
