// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

namespace cuda_agent::policy {

namespace {

constexpr const char *ranked =
    R"cuda(// An element and where it was. No two were at one place, so that equal ones stay as they came.
// They are copied one by one, since nobody writes what may lie between them.
template <class T> struct Ranked {
    T value;
    int place;
    Ranked() = default;
    __device__ __forceinline__ Ranked(T value, int place) : value(value), place(place) {}
    __device__ __forceinline__ Ranked(const Ranked &other)
        : value(other.value), place(other.place) {}
    __device__ __forceinline__ Ranked &operator=(const Ranked &other) {
        value = other.value, place = other.place;
        return *this;
    }
};

// NaN is the largest.
template <bool largest, class T>
__device__ __forceinline__ bool comesFirst(const Ranked<T> &a, const Ranked<T> &b) {
    const bool aIsNan = a.value != a.value, bIsNan = b.value != b.value;
    if (a.value == b.value || (aIsNan && bIsNan))
        return a.place < b.place;
    return largest ? aIsNan || a.value > b.value : bIsNan || a.value < b.value;
}

)cuda";

constexpr const char *network =
    R"cuda(// Some steps of a bitonic network, of 2^levels elements in registers: element i meets the one whose
// number differs in the bits of `stride`, then of half of it, ... A mirrored step meets the one as
// far from the other end of 2 * stride elements.
template <int levels, bool mirrored, bool largest, class T>
__device__ __forceinline__ void exchange(Ranked<T> *at, int i, int stride) {
    constexpr int count = 1 << levels;
    const int first = mirrored ? 2 * stride - 1 : stride;
    Ranked<T> x[count];
#pragma unroll
    for (int c = 0; c < count; ++c) {
        int place = i;
#pragma unroll
        for (int t = 0; t < levels; ++t)
            place ^= (c >> t & 1) * (t == 0 ? first : stride >> t);
        x[c] = at[place];
    }
#pragma unroll
    for (int t = 0; t < levels; ++t) {
#pragma unroll
        for (int c = 0; c < count; ++c) {
            if (c >> t & 1)
                continue;
            const int other = c | 1 << t;
            const bool turned = mirrored && t > 0 && (c & 1); // the mirror turns what is below it
            Ranked<T> &low = x[turned ? other : c], &high = x[turned ? c : other];
            if (comesFirst<largest>(high, low)) {
                const Ranked<T> kept = low;
                low = high;
                high = kept;
            }
        }
    }
#pragma unroll
    for (int c = 0; c < count; ++c) {
        int place = i;
#pragma unroll
        for (int t = 0; t < levels; ++t)
            place ^= (c >> t & 1) * (t == 0 ? first : stride >> t);
        at[place] = x[c];
    }
}

// All steps from `stride` down to 1, of `count` elements in runs that start `apart` * their length
// after each other; a run is a power of two.
template <int threads, int levels, bool largest, class T>
__device__ __forceinline__ void mergeRuns(Ranked<T> *at, int count, int stride, bool mirrored,
                                          int run, int apart) {
    while (stride >= 1 << (levels - 1)) {
        const int least = stride >> (levels - 1);
        for (int g = (int)threadIdx.x; g < count >> levels; g += threads) {
            int i = (g & (least - 1)) + ((g & -least) << levels);
            i += (i & -run) * (apart - 1);
            if (mirrored)
                exchange<levels, true, largest>(at, i, stride);
            else
                exchange<levels, false, largest>(at, i, stride);
        }
        __syncthreads();
        mirrored = false;
        stride = least / 2;
    }
    if constexpr (levels > 1) {
        if (stride > 0)
            mergeRuns<threads, levels - 1, largest>(at, count, stride, mirrored, run, apart);
    }
}

// Each run of `count` elements in order.
template <int threads, int levels, bool largest, class T>
__device__ __forceinline__ void sortRuns(Ranked<T> *at, int count, int run) {
    for (int half = 1; half < run; half *= 2)
        mergeRuns<threads, levels, largest>(at, count, half, true, 2 * half, 1);
}

// Of the runs of each row, which are in order, the first `run` elements in order.
template <int threads, int levels, bool largest, class T>
__device__ __forceinline__ void keepFirst(Ranked<T> *at, int count, int row, int run) {
    for (int step = run; step < row; step *= 2) {
        const int kept = count / (2 * step) * run;
        for (int g = (int)threadIdx.x; g < kept; g += threads) {
            const int i = g & (run - 1), from = (g - i) / run * 2 * step;
            const Ranked<T> other = at[from + step + run - 1 - i];
            if (comesFirst<largest>(other, at[from + i]))
                at[from + i] = other;
        }
        __syncthreads();
        mergeRuns<threads, levels, largest>(at, kept, run / 2, false, run, 2 * step / run);
    }
}

)cuda";

constexpr const char *alone =
    R"cuda(// The first `kept` of `count` elements in order, by one thread: there or in `other`.
template <bool largest, class T>
__device__ Ranked<T> *sortAlone(Ranked<T> *at, Ranked<T> *other, int count, int kept) {
    constexpr int shortRun = 16;
    for (int from = 0; from < count; from += shortRun) {
        for (int i = from + 1; i < from + shortRun && i < count; ++i) {
            const Ranked<T> own = at[i];
            int j = i;
            for (; j > from && comesFirst<largest>(own, at[j - 1]); --j)
                at[j] = at[j - 1];
            at[j] = own;
        }
    }
    for (int half = shortRun; half < count; half *= 2) {
        for (int from = 0; from < count; from += 2 * half) {
            const Ranked<T> *a = at + from, *b = a + half;
            const int rest = count - from;
            const int aCount = min(min(half, rest), kept), bCount = min(min(half, rest - half), kept);
            const int all = min(aCount + max(bCount, 0), kept);
            for (int i = 0, j = 0; i + j < all;) {
                const bool first = i < aCount && (j >= bCount || comesFirst<largest>(a[i], b[j]));
                const Ranked<T> next = first ? a[i] : b[j];
                other[from + i + j] = next;
                i += first;
                j += !first;
            }
        }
        Ranked<T> *const done = other;
        other = at;
        at = done;
    }
    return at;
}

)cuda";

constexpr const char *before = R"cuda(// How many of a run in order come before an element.
template <bool largest, class T>
__device__ __forceinline__ int countBefore(const Ranked<T> *run, int count, const Ranked<T> &own) {
    int low = 0;
    while (count > 0) {
        const int half = count / 2;
        const bool after = comesFirst<largest>(run[low + half], own);
        low += after ? half + 1 : 0;
        count = after ? count - half - 1 : half;
    }
    return low;
}

)cuda";

} // namespace

std::string orderPrelude(const std::set<std::string> &helpers) {
    std::string text;
    if (helpers.contains("ranked"))
        text += ranked;
    if (helpers.contains("sortRuns"))
        text += network;
    if (helpers.contains("sortAlone"))
        text += alone;
    if (helpers.contains("countBefore"))
        text += before;
    return text;
}

} // namespace cuda_agent::policy
