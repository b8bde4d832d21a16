// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/ceilings.h"

namespace cuda_agent::device {

namespace {

/// Independent sums, enough to hide the latency of a multiply-add on two units.
constexpr int sums = 12;
constexpr std::int64_t roundsPerBatch = 20'000;

// One body, compiled for each width: the compiler lowers vector types for the function that they
// stand in, so that an inlined common function would be lowered for the baseline. Twelve variables,
// since an array of them would live in memory.
#define CUDA_AGENT_EACH_SUM(apply)                                                                 \
    apply(0) apply(1) apply(2) apply(3) apply(4) apply(5) apply(6) apply(7) apply(8) apply(9)      \
        apply(10) apply(11)
#define CUDA_AGENT_DECLARE(i) Vector total##i = Vector{} + static_cast<float>(i + 1);
#define CUDA_AGENT_STEP(i) total##i = total##i * scale + step;
#define CUDA_AGENT_COLLECT(i) result += total##i[0];
#define CUDA_AGENT_MULTIPLY_ADD(name, lanes, target)                                               \
    target double name(std::int64_t rounds) {                                                      \
        typedef float Vector __attribute__((vector_size(4 * (lanes))));                            \
        CUDA_AGENT_EACH_SUM(CUDA_AGENT_DECLARE)                                                    \
        Vector scale = Vector{} + 0.999f;                                                          \
        Vector step = Vector{} + 0.001f;                                                           \
        for (std::int64_t round = 0; round < rounds; ++round) {                                    \
            CUDA_AGENT_EACH_SUM(CUDA_AGENT_STEP)                                                   \
            asm volatile("" : "+r"(round)); /* keeps the loop */                                   \
        }                                                                                          \
        float result = 0;                                                                          \
        CUDA_AGENT_EACH_SUM(CUDA_AGENT_COLLECT)                                                    \
        volatile float sink = result;                                                              \
        (void)sink;                                                                                \
        return 2.0 * (lanes)*sums * static_cast<double>(rounds);                                   \
    }

#if defined(__x86_64__)
CUDA_AGENT_MULTIPLY_ADD(batchWide, 16, __attribute__((target("avx512f"))))
CUDA_AGENT_MULTIPLY_ADD(batchMiddle, 8, __attribute__((target("avx2,fma"))))
#endif
CUDA_AGENT_MULTIPLY_ADD(batchPlain, 4, )

double (*batchFunction())(std::int64_t) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return batchWide;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return batchMiddle;
#endif
    return batchPlain;
}

} // namespace

double measureCpuFlops(int threads) {
    const auto batch = batchFunction();
    return bestTotalRate(threads, [batch](int) { return batch(roundsPerBatch); });
}

} // namespace cuda_agent::device
