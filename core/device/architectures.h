// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::device {

/// What a block and a multiprocessor (SM) of one compute capability may hold. Sizes in bytes,
/// registers of 32 bits. The same for every card of that capability; what differs between cards
/// (number of SMs, memory, clocks) is in device::Info.
///
/// Source: CUDA C++ Programming Guide 13, appendix Compute Capabilities, tables of technical
/// specifications and of shared memory capacity; the units in which registers and shared memory are
/// handed out, the sub-partitions and the barriers are those of the occupancy calculator that the
/// CUDA 13 toolkit carries (cuda_occupancy.h).
struct Architecture {
    std::string_view name;       ///< "sm_90"
    int number = 0;              ///< 90: ten times major plus minor
    std::string_view generation; ///< "Hopper"
    std::string_view example;    ///< a card of that kind, "H100, H200"

    int warpThreads = 32;
    int maxThreadsPerBlock = 1024;
    int maxWarps = 0;  ///< resident on an SM
    int maxBlocks = 0; ///< resident on an SM
    int maxThreads() const { return maxWarps * warpThreads; }

    int registers = 64 << 10;         ///< of an SM
    int registersPerBlock = 64 << 10; ///< at most
    int registersPerThread = 255;     ///< at most
    int registerUnit = 256;           ///< registers of a warp are handed out in such pieces
    int subPartitions = 4;            ///< of an SM; each has its own part of the registers

    int sharedBytes = 0;                 ///< of an SM
    int sharedBytesPerBlock = 48 << 10;  ///< without opting in; also the most that may be static
    int sharedBytesPerBlockOptIn = 0;    ///< dynamic, after opting in
    int reservedSharedBytesPerBlock = 0; ///< taken by the system for each block
    int sharedUnit = 0;                  ///< shared memory is handed out in such pieces

    int barriers = 0;      ///< named barriers of an SM; 0 where they never limit the blocks
    int clusterBlocks = 1; ///< most blocks of a cluster on every such card; 1: no clusters
};

/// Those that this program knows, the oldest first.
std::span<const Architecture> architectures();

/// By name, features of a very generation or family ignored ("sm_90a", "sm_100f"); null when it is
/// none of architectures().
const Architecture *findArchitecture(std::string_view name);

/// "sm_75, sm_80, ..." for messages.
std::string architectureNames();

/// Reads "sm_80,sm_90" or "all": each once, in the order given. Errors: request (an unknown name,
/// with those that are known; an empty list or item).
Result<std::vector<const Architecture *>> parseArchitectures(std::string_view list);

} // namespace cuda_agent::device
