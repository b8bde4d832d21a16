// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/schedule_facts.h"

#include <array>

namespace cuda_agent::policy {

namespace {

/// Blocks of so many threads keep a row in registers, `each` elements a thread, and exchange their
/// partial results.
void keptTogether(const Facts &f, int threads, int each, double traffic, std::vector<Option> &out) {
    const std::int64_t parts = ceilDivide(f.elements, static_cast<std::int64_t>(threads) * each);
    // All blocks of a row have to be running: 65536 registers of a multiprocessor are 64 for each
    // of 1024 threads, or 128 where a thread keeps many elements.
    const std::int64_t resident = ceilDivide(parts, f.processors);
    if (each % f.vector != 0 || parts < 2 || resident * threads > (each > 32 ? 512 : 1024))
        return;
    const int unroll = static_cast<int>(std::min<std::int64_t>(
        each / f.vector, ceilDivide(f.elements, parts * threads * f.vector)));
    Schedule s = rowSchedule(threads, threads, f.vector, unroll, parts);
    s.staged = true;
    s.together = true;
    s.resident = static_cast<int>(resident);
    offer(out, option(s, traffic,
                      fmt::format("one read: {} blocks share a row in registers and exchange their "
                                  "partial results",
                                  parts)));
}

/// Several blocks walk along a row together, once per sweep. As few rows are in work at a time as
/// the cache can hold, so that every sweep but the first reads from there.
void sharedSweeps(const Facts &f, double traffic, std::vector<Option> &out) {
    const std::int64_t rowBytes = f.elements * std::max<std::int64_t>(f.elementBytes, 1);
    if (rowBytes * 2 > f.cacheBytes)
        return;
    // Half of the cache, as what is written passes through it, too. Two rows at least: the blocks
    // of one work while those of the other wait for each other.
    const std::int64_t rowsAtATime = std::max<std::int64_t>(2, f.cacheBytes / 2 / rowBytes);
    constexpr int threadsAtATime = 1024; // of a multiprocessor: 64 registers for each
    for (const auto &[threads, unroll, streaming] : {std::tuple{512, 4, true},
                                                     {1024, 2, true},
                                                     {512, 4, false},
                                                     {1024, 4, true},
                                                     {256, 8, true}}) {
        const int resident = threadsAtATime / threads;
        const std::int64_t tiles =
            ceilDivide(f.elements, static_cast<std::int64_t>(threads) * unroll * f.vector);
        const std::int64_t wanted = std::min(
            tiles, ceilDivide(static_cast<std::int64_t>(f.processors) * resident, rowsAtATime));
        const std::int64_t parts = ceilDivide(tiles, ceilDivide(tiles, wanted)); // of equal work
        if (parts < 2)
            continue;
        Schedule s = rowSchedule(threads, threads, f.vector, unroll, parts);
        s.together = true;
        s.resident = resident;
        s.streaming = streaming && f.elementResults;
        offer(out, option(s, traffic,
                          fmt::format("{} blocks walk along a row together, again from the "
                                      "cache that holds it",
                                      parts)));
    }
}

/// Each thread has a short row to itself, whose neighbours begin within a cache line or two:
/// windows that lie next to each other.
void ownRows(const Facts &f, std::vector<Option> &out) {
    constexpr std::int64_t nearby = 128, longest = 128, manyRows = 1024;
    if (f.bytesToNextRow <= 0 || f.bytesToNextRow > nearby || f.elements > longest ||
        f.rows < f.processors * manyRows || f.elements * f.elementBytes <= f.bytesToNextRow)
        return;
    const int elements = static_cast<int>(f.elements);
    for (const auto &[threads, unroll] : {std::pair{256, elements}, {128, elements}, {256, 8}}) {
        const Schedule s = rowSchedule(threads, 1, 1, std::min(unroll, elements));
        offer(out, option(s, 1,
                          fmt::format("a thread takes a row of {} elements, its neighbours "
                                      "those beside it",
                                      elements)));
    }
}

} // namespace

void rowOptions(const Facts &f, std::vector<Option> &out) {
    const int v = f.vector;
    const double least = 1;
    const double sweeps = static_cast<double>(f.passes) + (f.elementResults ? 1 : 0);
    const bool again = sweeps > 1;
    const int perThreadMost = f.arrays > 1 ? 64 / f.arrays : 64;
    if (!again)
        ownRows(f, out);
    // A part of a block, or a block, keeps the row in registers. Many short rows share warps: what
    // lanes tell each other would take longer than reading.
    constexpr std::int64_t shortRow = 128, manyRows = 1 << 18;
    const bool sharing = v == 4 && f.elements <= shortRow && f.rows >= manyRows;
    // Measured on an H200 on rows of 539 and 1,024 elements: a warp that waits for nobody takes
    // 0.86 and 0.74 of the time of four that wait for each other. There have to be enough of them.
    constexpr std::int64_t warpsEach = 32;
    const bool alone = f.elements > 512 && f.elements <= 1024 && f.rows >= f.processors * warpsEach;
    for (const int wanted :
         alone ? std::array{16, 32, 8, 4, 2, 64} : std::array{16, 8, 32, 4, 2, 64}) {
        if (wanted == 2 && !sharing)
            continue;
        if (wanted > perThreadMost)
            continue;
        std::int64_t team = powerOfTwo(ceilDivide(f.elements, wanted));
        if (team > 1024 || (team == 1024 && wanted > 32))
            continue;
        team = std::max<std::int64_t>(team, f.elements < 32 ? 1 : sharing ? 8 : 32);
        const int vector = static_cast<int>(
            std::min<std::int64_t>(v, std::max<std::int64_t>(1, ceilDivide(f.elements, team))));
        const int unroll =
            static_cast<int>(ceilDivide(f.elements, team * static_cast<std::int64_t>(vector)));
        if (!std::has_single_bit(static_cast<unsigned>(vector)))
            continue;
        const int threads = static_cast<int>(std::max<std::int64_t>(team, team <= 64 ? 128 : team));
        if (team > 32 && threads != team)
            continue;
        Schedule s = rowSchedule(threads, static_cast<int>(team), vector, unroll);
        s.staged = true;
        offer(out,
              option(s, least, fmt::format("one read: {} threads keep a row in registers", team)));
    }
    // Rows so long that hundreds of blocks would have to keep one: rather read again, from the
    // cache.
    constexpr std::int64_t veryLong = 1 << 20, somewhatLong = 1 << 16;
    const bool several = again && !f.boolState;
    // Measured on an H100 with rows of 8 MB: memory idles while blocks wait for each other.
    const double together = f.elements >= veryLong ? 1.6 : least;
    if (several && f.elements >= veryLong) {
        if (perThreadMost >= 32) // as few blocks as can keep it
            keptTogether(f, 1024, 32, together, out);
        sharedSweeps(f, together, out);
    }
    // Several blocks keep the row in registers and wait for each other.
    if (several && f.elements > 8192) {
        // Hundreds of blocks that wait for each other lose more time than a second read takes.
        constexpr std::int64_t longest = 4 << 20;
        const double waiting = f.elements >= longest ? 3 : together;
        // In the order of what was fastest on rows of 0.25 to 16 MB on an H200.
        for (const auto &[threads, each] : {std::pair{256, 48},
                                            {512, 16},
                                            {256, 32},
                                            {512, 48},
                                            {512, 32},
                                            {256, 64},
                                            {1024, 32},
                                            {512, 64}}) {
            if (each <= perThreadMost)
                keptTogether(f, threads, each, waiting, out);
        }
    }
    if (several && f.elements >= somewhatLong && f.elements < veryLong)
        sharedSweeps(f, together, out);
    // A block walks along the row once per sweep; later sweeps may hit the cache. Fewer blocks than
    // multiprocessors leave some of these idle.
    const double idle = std::max(1.0, static_cast<double>(f.processors) /
                                          static_cast<double>(std::max<std::int64_t>(f.rows, 1)));
    if (f.elements >= 128) {
        for (const auto &[threads, unroll] :
             {std::pair{512, 4}, {1024, 2}, {256, 4}, {1024, 4}, {256, 8}}) {
            if (f.elements < static_cast<std::int64_t>(threads) * v)
                continue;
            out.push_back(option(rowSchedule(threads, threads, v, unroll),
                                 idle * (again ? sweeps / 2 + 0.5 : 1),
                                 again ? fmt::format("{:.0f} sweeps by one block", sweeps)
                                       : "a block walks along each row"));
        }
    }
    if (out.empty())
        out.push_back(option(rowSchedule(128, 32, 1, 1), again ? sweeps / 2 + 0.5 : 1,
                             "a warp walks along each row"));
    // Few long rows: blocks take parts, a second kernel combines.
    if (f.passes == 1 && !f.elementResults && f.elements >= 4096) {
        std::vector<Option> split;
        for (const auto &[threads, unroll, perProcessor] : {std::tuple{512, 4, 4},
                                                            {256, 4, 8},
                                                            {1024, 2, 2},
                                                            {512, 2, 4},
                                                            {256, 8, 8},
                                                            {512, 8, 4}}) {
            const std::int64_t parts = std::min<std::int64_t>(
                ceilDivide(static_cast<std::int64_t>(f.processors) * perProcessor, f.rows),
                ceilDivide(f.elements, static_cast<std::int64_t>(threads) * v * unroll));
            if (parts < 2)
                continue;
            split.push_back(
                option(rowSchedule(threads, threads, v, unroll, parts), 1,
                       fmt::format("{} blocks to a row, combined by a second kernel", parts)));
        }
        const bool few = f.rows < f.processors * 2;
        out.insert(few ? out.begin() : out.end(), split.begin(), split.end());
    }
}

} // namespace cuda_agent::policy
