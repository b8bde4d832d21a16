// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/architectures.h"

#include "core/base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::device {

/// What one block of a launch asks for.
struct BlockNeeds {
    int threads = 1;
    int registers = 0;              ///< of a thread; 0 where unknown: they do not limit then
    std::int64_t staticShared = 0;  ///< bytes
    std::int64_t dynamicShared = 0; ///< bytes
    int barriers = 1;               ///< named barriers, `__syncthreads` included
    int clusterBlocks = 1;          ///< blocks of a cluster
};

/// What keeps more blocks from an SM.
enum class Limiter { warps, blocks, registers, sharedMemory, barriers };
std::string_view nameOf(Limiter limiter); ///< "warps", "blocks", "registers", "shared memory", ...

/// How many blocks of a launch one SM can hold at once, at most: theoretical occupancy, before the
/// grid's size, clusters or other kernels take anything from it, and with as much of the SM's
/// memory given to shared memory as the kernel has use for.
struct Occupancy {
    /// Empty when the launch is possible; otherwise why it is not, one sentence without a full
    /// stop ("65536 bytes of shared memory; at most 49152 ..."). All counts are 0 then.
    std::string problem;
    bool fits() const { return problem.empty(); }

    int blocks = 0;      ///< of an SM
    int warps = 0;       ///< of an SM
    double fraction = 0; ///< warps over the most an SM can hold
    /// Every resource that allows no more blocks than that; none when nothing fits.
    std::vector<Limiter> limiters;

    // Blocks that each resource alone allows; none where it is not used at all.
    int blocksByWarps = 0;
    int blocksByBlocks = 0;
    std::optional<int> blocksByRegisters;
    std::optional<int> blocksByShared;
    std::optional<int> blocksByBarriers;

    // What a block takes, rounded up to the pieces that are handed out.
    int warpsPerBlock = 0;
    int registersPerBlock = 0;
    std::int64_t sharedPerBlock = 0; ///< bytes, with what the system reserves
};

/// The rules of the occupancy calculator (cuda_occupancy.h of the CUDA 13 toolkit; CUDA C++ Best
/// Practices Guide, Calculating Occupancy), for compute capability 7.5 and later:
///
/// - a block takes ceil(threads / 32) warps, of the SM's most;
/// - registers are given to warps, ceil(32 * registers / 256) * 256 to each, out of the quarter of
///   the SM's registers that belongs to the warp's sub-partition, so an SM holds
///   4 * floor(16384 / that) warps; a block must fit with its warps rounded up to whole quarters;
/// - shared memory is static + dynamic + reserved bytes, rounded up to the unit, of the SM's;
/// - the barriers of all blocks are at most the SM's (from 9.0 on).
Occupancy occupancyOf(const Architecture &architecture, const BlockNeeds &block);

/// {"fits", "problem" (where not), "blocks_per_sm", "warps_per_sm", "max_warps_per_sm",
/// "occupancy", "limiters": [names], "blocks_by": {"warps", "blocks", "registers",
/// "shared_memory", "barriers"} (those that limit at all), "warps_per_block",
/// "registers_per_block", "shared_bytes_per_block"}
Json toJson(const Occupancy &occupancy, const Architecture &architecture);

} // namespace cuda_agent::device
