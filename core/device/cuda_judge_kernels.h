// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstdint>

namespace cuda_agent::device {

/// Text of the judge's own kernels, CUDA C++ without includes.
extern const char *const judgeKernelText;

// Shared with the kernel text: keep both the same.

/// What one block adds to a comparison.
struct JudgePartial {
    double errorSquared;
    double oracleSquared;
    double maxError; ///< negative: no finite element
    double maxOracle;
    std::int64_t unconstrained;
    std::int64_t nonFiniteMismatches;
    std::int64_t integerMismatches;
    std::uint64_t firstMismatch; ///< all ones: none
    std::int64_t maxErrorIndex;
};
static_assert(sizeof(JudgePartial) == 72);

inline constexpr int judgeMaxRank = 12;
struct JudgeLayout {
    std::int64_t rank;
    std::int64_t shape[judgeMaxRank];
    std::int64_t strides[judgeMaxRank];
};

inline constexpr unsigned judgeThreads = 256; ///< threads of every block

/// The finaliser of SplitMix64: every input bit reaches every output bit.
constexpr std::uint64_t judgeMix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

} // namespace cuda_agent::device
