// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cpu_kernels.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace cuda_agent::device {

namespace {

constexpr std::uint64_t chunk = 1u << 20;

std::int64_t chunksOf(std::uint64_t bytes) {
    return static_cast<std::int64_t>((bytes + chunk - 1) / chunk);
}

/// The word turned so that its first byte belongs to `phase`.
std::uint32_t turned(std::uint32_t word, std::uint64_t phase) {
    const unsigned shift = 8 * (phase % 4);
    return shift == 0 ? word : (word >> shift) | (word << (32 - shift));
}

} // namespace

void fillBytes(Crew &crew, void *to, std::uint64_t bytes, std::uint32_t word, std::uint64_t phase) {
    // A chunk is a multiple of four bytes, so the phase is the same in each.
    const std::uint32_t pattern = turned(word, phase);
    crew.run(chunksOf(bytes), [&](std::int64_t i) {
        const auto start = static_cast<std::uint64_t>(i) * chunk;
        const auto size = std::min(chunk, bytes - start);
        auto *place = static_cast<std::byte *>(to) + start;
        for (std::uint64_t at = 0; at + 4 <= size; at += 4)
            std::memcpy(place + at, &pattern, 4);
        std::memcpy(place + size / 4 * 4, &pattern, size % 4);
    });
}

std::optional<std::uint64_t> firstChangedByte(Crew &crew, const void *from, std::uint64_t bytes,
                                              std::uint32_t word, std::uint64_t phase) {
    const std::uint32_t pattern = turned(word, phase);
    std::atomic<std::uint64_t> first{bytes};
    crew.run(chunksOf(bytes), [&](std::int64_t i) {
        const auto start = static_cast<std::uint64_t>(i) * chunk;
        if (start >= first.load(std::memory_order_relaxed))
            return;
        const auto size = std::min(chunk, bytes - start);
        const auto *place = static_cast<const std::byte *>(from) + start;
        constexpr std::uint64_t group = 1024;
        std::uint64_t at = 0;
        // Whole groups first, without a branch inside, so that this runs at memory speed.
        for (; at + group <= size; at += group) {
            std::uint32_t difference = 0;
            for (std::uint64_t j = 0; j < group; j += 4) {
                std::uint32_t value;
                std::memcpy(&value, place + at + j, 4);
                difference |= value ^ pattern;
            }
            if (difference != 0)
                break;
        }
        for (; at < size; ++at) {
            if (place[at] == static_cast<std::byte>(pattern >> (8 * (at % 4))))
                continue;
            auto known = first.load();
            while (start + at < known && !first.compare_exchange_weak(known, start + at)) {
            }
            return;
        }
    });
    if (first == bytes)
        return std::nullopt;
    return first.load();
}

std::uint64_t digestBytes(Crew &crew, const void *from, std::uint64_t bytes, std::uint64_t key) {
    std::vector<std::uint64_t> parts(static_cast<std::size_t>(chunksOf(bytes)) + 1);
    crew.run(chunksOf(bytes), [&](std::int64_t i) {
        const auto start = static_cast<std::uint64_t>(i) * chunk;
        parts[static_cast<std::size_t>(i)] = XXH3_64bits_withSeed(
            static_cast<const std::byte *>(from) + start, std::min(chunk, bytes - start), key);
    });
    parts.back() = bytes;
    return XXH3_64bits_withSeed(parts.data(), parts.size() * sizeof(parts[0]), key);
}

void copyBytes(Crew &crew, void *to, const void *from, std::uint64_t bytes) {
    // One long piece a thread: the prefetchers do better than with many short ones.
    const std::uint64_t piece =
        std::max(chunk, (bytes / static_cast<std::uint64_t>(crew.size()) + 4096) / 4096 * 4096);
    crew.run(static_cast<std::int64_t>((bytes + piece - 1) / piece), [&](std::int64_t i) {
        const auto start = static_cast<std::uint64_t>(i) * piece;
        std::memcpy(static_cast<std::byte *>(to) + start,
                    static_cast<const std::byte *>(from) + start, std::min(piece, bytes - start));
    });
}

} // namespace cuda_agent::device
