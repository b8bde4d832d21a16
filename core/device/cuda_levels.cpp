// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cuda_judge_kernels.h"
#include "core/device/cuda_measure.h"

#include <algorithm>
#include <numeric>

namespace cuda_agent::device {

namespace {

constexpr int runs = 8;

/// All multiprocessors at once, from their own memory.
Result<MemoryLevel> sharedLevel(CudaContext &context, CudaTimer &timer, CUdeviceptr sink) {
    CUDA_AGENT_ASSIGN(each,
                      context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
    const auto processors = static_cast<unsigned>(context.info().multiprocessors);
    // Four blocks fit on every multiprocessor that there is: 1024 threads, 64 KiB.
    const unsigned blocks = 4 * processors;
    unsigned rounds = 2048;
    void *arguments[] = {&rounds, &sink};
    CUDA_AGENT_ASSIGN(seconds, bestOf(timer, runs, [&] {
                          return context.launch("read_shared", blocks, arguments);
                      }));
    MemoryLevel level{"L1/shared", static_cast<std::uint64_t>(each) * processors, 0};
    if (seconds > 0)
        level.bytesPerSecond = 64.0 * judgeThreads * rounds * blocks / seconds;
    return level;
}

/// A quarter of the cache, read again and again past L1.
Result<MemoryLevel> cacheLevel(CudaContext &context, CudaTimer &timer, CUdeviceptr sink) {
    constexpr std::uint64_t piece = 64ull * judgeThreads;
    constexpr std::uint64_t total = 4ull << 30; ///< bytes read in one run: most of a millisecond
    const std::uint64_t cache = context.info().cacheBytes;
    MemoryLevel level{"L2", cache, 0};
    auto pieces = static_cast<unsigned>(cache / 4 / piece);
    if (pieces == 0)
        return level;
    CUDA_AGENT_ASSIGN(buffer, CudaBuffer::create(context, pieces * piece));
    auto address = buffer.address();
    std::uint64_t count = pieces * piece / sizeof(float);
    std::uint64_t seed = 3;
    void *filling[] = {&address, &count, &seed};
    CUDA_AGENT_TRY(context.launch("random_floats", context.blocksFor(count), filling));
    // Far from one and without a common divisor: every block comes to every piece.
    unsigned stride = std::max(1u, pieces * 3 / 8);
    while (std::gcd(stride, pieces) != 1)
        ++stride;
    const unsigned blocks = static_cast<unsigned>(context.info().multiprocessors) * 8;
    auto steps = static_cast<unsigned>(std::max<std::uint64_t>(1, total / (piece * blocks)));
    void *arguments[] = {&address, &pieces, &stride, &steps, &sink};
    CUDA_AGENT_ASSIGN(seconds, bestOf(timer, runs, [&] {
                          return context.launch("read_pieces", blocks, arguments);
                      }));
    if (seconds > 0)
        level.bytesPerSecond = static_cast<double>(piece) * steps * blocks / seconds;
    return level;
}

} // namespace

Result<std::vector<MemoryLevel>> measureCudaLevels(CudaContext &context, CudaTimer &timer) {
    CUDA_AGENT_ASSIGN(sink, CudaBuffer::create(context, 4));
    std::vector<MemoryLevel> levels;
    for (const auto measure : {&sharedLevel, &cacheLevel}) {
        CUDA_AGENT_ASSIGN(level, measure(context, timer, sink.address()));
        if (level.bytesPerSecond > 0)
            levels.push_back(std::move(level));
    }
    return levels;
}

} // namespace cuda_agent::device
