// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/ceilings.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cuda_agent::device {

namespace {

constexpr std::uint64_t group = 1024;             ///< bytes that one round of a loop reads
constexpr std::uint64_t batchBytes = 1u << 20;    ///< read at least before the clock is looked at
constexpr std::uint64_t hugePage = 2ull << 20;    ///< alignment, so that the kernel may use them
constexpr std::uint64_t mostBytes = 512ull << 20; ///< of all threads: no machine has such caches

// One body, compiled for each width, as in cpu_flops.cpp. Eight sums, since each load may have to
// wait for the one before in its sum; `or` costs less than an addition on no processor.
#define CUDA_AGENT_READ(name, width, target)                                                       \
    target void name(const std::byte *from, std::uint64_t bytes) {                                 \
        typedef long long Vector __attribute__((vector_size(width)));                              \
        Vector a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{};                                             \
        for (std::uint64_t at = 0; at < bytes; at += group) {                                      \
            const auto *place = reinterpret_cast<const Vector *>(from + at);                       \
            for (std::uint64_t i = 0; i < group / (width); i += 8) {                               \
                a |= place[i];                                                                     \
                b |= place[i + 1];                                                                 \
                c |= place[i + 2];                                                                 \
                d |= place[i + 3];                                                                 \
                e |= place[i + 4];                                                                 \
                f |= place[i + 5];                                                                 \
                g |= place[i + 6];                                                                 \
                h |= place[i + 7];                                                                 \
            }                                                                                      \
        }                                                                                          \
        const Vector all = a | b | c | d | e | f | g | h;                                          \
        volatile long long sink = all[0] | all[1];                                                 \
        (void)sink;                                                                                \
    }

#if defined(__x86_64__)
CUDA_AGENT_READ(readWide, 64, __attribute__((target("avx512f"))))
CUDA_AGENT_READ(readMiddle, 32, __attribute__((target("avx2"))))
#endif
CUDA_AGENT_READ(readPlain, 16, )

using Read = void (*)(const std::byte *, std::uint64_t);

Read readFunction() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return readWide;
    if (__builtin_cpu_supports("avx2"))
        return readMiddle;
#endif
    return readPlain;
}

struct Free {
    void operator()(std::byte *pointer) const { std::free(pointer); }
};

double readRate(std::uint64_t bytesPerThread, int threads) {
    const std::uint64_t part = (bytesPerThread + hugePage - 1) / hugePage * hugePage;
    const std::unique_ptr<std::byte, Free> pages(static_cast<std::byte *>(
        std::aligned_alloc(hugePage, part * static_cast<std::uint64_t>(threads))));
    if (!pages)
        return 0;
    const Read read = readFunction();
    const std::uint64_t passes = std::max<std::uint64_t>(1, batchBytes / bytesPerThread);
    std::vector<char> touched(static_cast<std::size_t>(threads));
    return bestTotalRate(threads, [&](int thread) {
        auto *start = pages.get() + part * static_cast<std::uint64_t>(thread);
        if (char &mine = touched[static_cast<std::size_t>(thread)]; !mine) {
            // By the thread that reads: on machines of several sockets its memory is near then.
            std::memset(start, 0x5a, bytesPerThread);
            mine = 1;
            return 0.0;
        }
        for (std::uint64_t pass = 0; pass < passes; ++pass) {
            read(start, bytesPerThread);
            asm volatile("" ::: "memory"); // each pass reads again
        }
        return static_cast<double>(passes * bytesPerThread);
    });
}

} // namespace

std::vector<MemoryLevel> measureCpuLevels(const std::vector<CpuCache> &caches, int threads) {
    std::vector<MemoryLevel> levels;
    std::uint64_t inner = 0; // a thread's part of the level before
    for (const auto &cache : caches) {
        const auto sharers = static_cast<std::uint64_t>(std::clamp(cache.sharers, 1, threads));
        const std::uint64_t mine = cache.bytes / sharers;
        // Four times the level before leaves it no hits; where this level is not that large, as
        // much of it as it takes.
        std::uint64_t bytes = mine / 2;
        if (inner > 0)
            bytes = std::min(4 * inner, std::max(mine / 2, std::min(2 * inner, mine)));
        bytes = std::min(bytes, mostBytes / static_cast<std::uint64_t>(threads)) / group * group;
        inner = mine;
        if (bytes == 0)
            continue;
        MemoryLevel level;
        level.name = fmt::format("L{}", cache.level);
        level.bytes = mine * static_cast<std::uint64_t>(threads);
        level.bytesPerSecond = readRate(bytes, threads);
        if (level.bytesPerSecond > 0)
            levels.push_back(std::move(level));
    }
    return levels;
}

} // namespace cuda_agent::device
