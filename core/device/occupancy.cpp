// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/occupancy.h"

#include <algorithm>

namespace cuda_agent::device {

namespace {

template <typename T>
constexpr T roundedUp(T value, T unit) {
    return (value + unit - 1) / unit * unit;
}

/// Registers of one warp, in whole pieces.
int registersPerWarp(const Architecture &architecture, const BlockNeeds &block) {
    return roundedUp(block.registers * architecture.warpThreads, architecture.registerUnit);
}

/// Why no such block can be started, or empty.
std::string problemOf(const Architecture &architecture, const BlockNeeds &block) {
    if (block.threads < 1)
        return "a block without threads";
    if (block.threads > architecture.maxThreadsPerBlock)
        return fmt::format("{} threads in a block; at most {} are possible", block.threads,
                           architecture.maxThreadsPerBlock);
    if (block.clusterBlocks > 1 && architecture.clusterBlocks <= 1)
        return fmt::format("clusters of {} blocks; {} has no thread block clusters",
                           block.clusterBlocks, architecture.name);
    if (block.staticShared > architecture.sharedBytesPerBlock)
        return fmt::format("{} bytes of static shared memory in a block; at most {} are possible",
                           block.staticShared, architecture.sharedBytesPerBlock);
    if (block.staticShared + block.dynamicShared > architecture.sharedBytesPerBlockOptIn)
        return fmt::format("{} bytes of shared memory in a block; at most {} are possible",
                           block.staticShared + block.dynamicShared,
                           architecture.sharedBytesPerBlockOptIn);
    if (block.registers > architecture.registersPerThread + 1)
        return fmt::format("{} registers in a thread; at most {} are possible", block.registers,
                           architecture.registersPerThread);
    const int warps = (block.threads + architecture.warpThreads - 1) / architecture.warpThreads;
    // The hardware's check takes all sub-partitions to be used alike.
    const int taken =
        registersPerWarp(architecture, block) * roundedUp(warps, architecture.subPartitions);
    if (taken > architecture.registersPerBlock)
        return fmt::format("{} registers in a block ({} threads of {}); at most {} are possible",
                           taken, block.threads, block.registers, architecture.registersPerBlock);
    return {};
}

} // namespace

std::string_view nameOf(Limiter limiter) {
    switch (limiter) {
    case Limiter::warps:
        return "warps";
    case Limiter::blocks:
        return "blocks";
    case Limiter::registers:
        return "registers";
    case Limiter::sharedMemory:
        return "shared memory";
    case Limiter::barriers:
        return "barriers";
    }
    return "warps";
}

Occupancy occupancyOf(const Architecture &architecture, const BlockNeeds &block) {
    Occupancy result;
    result.problem = problemOf(architecture, block);
    if (!result.fits())
        return result;
    result.warpsPerBlock =
        (block.threads + architecture.warpThreads - 1) / architecture.warpThreads;
    result.blocksByWarps = architecture.maxWarps / result.warpsPerBlock;
    result.blocksByBlocks = architecture.maxBlocks;
    if (const int perWarp = registersPerWarp(architecture, block); perWarp > 0) {
        result.registersPerBlock = perWarp * result.warpsPerBlock;
        const int warps = architecture.subPartitions *
                          (architecture.registers / architecture.subPartitions / perWarp);
        result.blocksByRegisters = warps / result.warpsPerBlock;
    }
    result.sharedPerBlock = roundedUp<std::int64_t>(block.staticShared + block.dynamicShared +
                                                        architecture.reservedSharedBytesPerBlock,
                                                    architecture.sharedUnit);
    if (result.sharedPerBlock > 0)
        result.blocksByShared = static_cast<int>(architecture.sharedBytes / result.sharedPerBlock);
    if (architecture.barriers > 0 && block.barriers > 0)
        result.blocksByBarriers = architecture.barriers / block.barriers;

    const std::pair<Limiter, std::optional<int>> limits[] = {
        {Limiter::warps, result.blocksByWarps},
        {Limiter::blocks, result.blocksByBlocks},
        {Limiter::registers, result.blocksByRegisters},
        {Limiter::sharedMemory, result.blocksByShared},
        {Limiter::barriers, result.blocksByBarriers}};
    result.blocks = result.blocksByBlocks;
    for (const auto &[limiter, blocks] : limits)
        result.blocks = std::min(result.blocks, blocks.value_or(result.blocks));
    for (const auto &[limiter, blocks] : limits)
        if (blocks && *blocks == result.blocks)
            result.limiters.push_back(limiter);
    result.warps = result.blocks * result.warpsPerBlock;
    result.fraction = static_cast<double>(result.warps) / architecture.maxWarps;
    return result;
}

Json toJson(const Occupancy &occupancy, const Architecture &architecture) {
    Json json{{"fits", occupancy.fits()}};
    if (!occupancy.fits()) {
        json["problem"] = occupancy.problem;
        return json;
    }
    Json limiters = Json::array();
    for (const auto limiter : occupancy.limiters)
        limiters.push_back(nameOf(limiter));
    Json by{{"warps", occupancy.blocksByWarps}, {"blocks", occupancy.blocksByBlocks}};
    if (occupancy.blocksByRegisters)
        by["registers"] = *occupancy.blocksByRegisters;
    if (occupancy.blocksByShared)
        by["shared_memory"] = *occupancy.blocksByShared;
    if (occupancy.blocksByBarriers)
        by["barriers"] = *occupancy.blocksByBarriers;
    json.update({{"blocks_per_sm", occupancy.blocks},
                 {"warps_per_sm", occupancy.warps},
                 {"max_warps_per_sm", architecture.maxWarps},
                 {"occupancy", occupancy.fraction},
                 {"limiters", std::move(limiters)},
                 {"blocks_by", std::move(by)},
                 {"warps_per_block", occupancy.warpsPerBlock},
                 {"registers_per_block", occupancy.registersPerBlock},
                 {"shared_bytes_per_block", occupancy.sharedPerBlock}});
    return json;
}

} // namespace cuda_agent::device
