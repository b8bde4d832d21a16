// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/occupancy.h"

#include <gtest/gtest.h>

#include <climits>

#if __has_include(<cuda_occupancy.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#define CUDA_AGENT_HAS_CALCULATOR
#endif

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

const Architecture &sm(std::string_view name) {
    return *findArchitecture(name);
}

using Limiters = std::vector<Limiter>;

} // namespace

TEST(Architectures, AreFoundByNameWithOrWithoutFeatures) {
    for (const auto &each : architectures()) {
        EXPECT_EQ(findArchitecture(each.name), &each);
        EXPECT_EQ(fmt::format("sm_{}", each.number), each.name);
        EXPECT_EQ(findArchitecture(std::string(each.name) + "a"), &each);
    }
    EXPECT_EQ(findArchitecture("sm_100f"), findArchitecture("sm_100"));
    for (const char *unknown :
         {"", "a", "sm_", "sm_9", "sm_900", "sm_70", "SM_90", "90", "sm_90aa"})
        EXPECT_EQ(findArchitecture(unknown), nullptr) << unknown;
}

TEST(Architectures, HoldWhatTheGuidesTablesSay) {
    // Warps, blocks, KB of shared memory of an SM and of a block after opting in.
    struct Expected {
        const char *name;
        int warps, blocks, shared, optIn;
    };
    for (const auto &[name, warps, blocks, shared, optIn] :
         {Expected{"sm_75", 32, 16, 64, 64}, Expected{"sm_80", 64, 32, 164, 163},
          Expected{"sm_86", 48, 16, 100, 99}, Expected{"sm_89", 48, 24, 100, 99},
          Expected{"sm_90", 64, 32, 228, 227}, Expected{"sm_100", 64, 32, 228, 227},
          Expected{"sm_120", 48, 24, 100, 99}}) {
        const auto &each = sm(name);
        EXPECT_EQ(each.maxWarps, warps) << name;
        EXPECT_EQ(each.maxBlocks, blocks) << name;
        EXPECT_EQ(each.sharedBytes, shared * 1024) << name;
        EXPECT_EQ(each.sharedBytesPerBlockOptIn, optIn * 1024) << name;
        EXPECT_EQ(each.registers, 65536) << name;
        // A block may use all that the system does not keep for itself.
        EXPECT_EQ(each.sharedBytesPerBlockOptIn + each.reservedSharedBytesPerBlock,
                  each.sharedBytes)
            << name;
    }
}

TEST(Architectures, ListsAreRead) {
    const auto both = parseArchitectures("sm_80, sm_90,sm_80");
    ASSERT_TRUE(both);
    EXPECT_EQ(*both, (std::vector{&sm("sm_80"), &sm("sm_90")}));
    const auto all = parseArchitectures("all");
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), architectures().size());
    for (const char *bad : {"", ",", "sm_80,", ",sm_80", " ", "sm_80,,sm_90"}) {
        const auto none = parseArchitectures(bad);
        ASSERT_FALSE(none) << bad;
        EXPECT_EQ(none.error().kind, ErrorKind::request);
        EXPECT_NE(none.error().message.find("missing"), std::string::npos) << bad;
    }
    for (const char *bad : {"sm_70", "sm_80;sm_90", "hopper", "sm_90a", "all,sm_80"}) {
        const auto none = parseArchitectures(bad);
        ASSERT_FALSE(none) << bad;
        EXPECT_NE(none.error().message.find("sm_75, sm_80"), std::string::npos)
            << none.error().message;
    }
}

// The worked examples of NVIDIA's CUDA C++ Best Practices Guide, chapter Calculating Occupancy, in
// its words for compute capability 7.0, which shares registers and warps with 8.0: "a kernel with
// 128-thread blocks using 37 registers per thread results in an occupancy of 75 % with 12 active
// 128-thread blocks per multiprocessor, whereas a kernel with 320-thread blocks using the same 37
// registers per thread results in an occupancy of 63 % because only four 320-thread blocks can
// reside".
TEST(Occupancy, BestPracticesGuide) {
    // 37 * 32 = 1184 registers, rounded up to 1280 a warp; 16384 / 1280 = 12 warps in each of four
    // quarters, 48 warps; 12 blocks of 4 warps.
    const auto small = occupancyOf(sm("sm_80"), {128, 37, 0, 0});
    EXPECT_EQ(small.blocks, 12);
    EXPECT_DOUBLE_EQ(small.fraction, 0.75);
    EXPECT_EQ(small.limiters, Limiters{Limiter::registers});
    // 48 warps hold 4 blocks of 10: 40 of 64 warps, 62.5 %.
    const auto large = occupancyOf(sm("sm_80"), {320, 37, 0, 0});
    EXPECT_EQ(large.blocks, 4);
    EXPECT_DOUBLE_EQ(large.fraction, 0.625);
    EXPECT_EQ(large.registersPerBlock, 12800);
}

TEST(Occupancy, WarpsAndBlocksLimit) {
    // 256 threads are 8 warps; 64 / 8 = 8 blocks, 32 registers: 16384 / 1024 = 16 warps a quarter.
    const auto full = occupancyOf(sm("sm_90"), {256, 32, 0, 0});
    EXPECT_EQ(full.blocks, 8);
    EXPECT_DOUBLE_EQ(full.fraction, 1);
    EXPECT_EQ(full.limiters, (Limiters{Limiter::warps, Limiter::registers}));
    // One warp a block: 32 blocks of an H100's 64 warps; on an A10 16 of 48.
    const auto tiny = occupancyOf(sm("sm_90"), {32, 16, 0, 0});
    EXPECT_EQ(tiny.blocks, 32);
    EXPECT_DOUBLE_EQ(tiny.fraction, 0.5);
    EXPECT_EQ(tiny.limiters, Limiters{Limiter::blocks});
    EXPECT_DOUBLE_EQ(occupancyOf(sm("sm_86"), {32, 16, 0, 0}).fraction, 16.0 / 48);
    // 33 threads are two warps.
    EXPECT_EQ(occupancyOf(sm("sm_90"), {33, 16, 0, 0}).warpsPerBlock, 2);
    // 1024 threads leave a third of 48 warps idle.
    EXPECT_DOUBLE_EQ(occupancyOf(sm("sm_86"), {1024, 32, 0, 0}).fraction, 32.0 / 48);
}

TEST(Occupancy, SharedMemoryLimits) {
    // 48 KB + 1 KB reserved: 228 / 49 = 4 blocks on Hopper, 164 / 49 = 3 on an A100, 100 / 49 = 2
    // on an A10, 64 / 48 = 1 on a T4, which reserves nothing.
    const std::pair<const char *, int> blocks[] = {
        {"sm_90", 4}, {"sm_80", 3}, {"sm_86", 2}, {"sm_75", 1}};
    for (const auto &[name, expected] : blocks) {
        const auto each = occupancyOf(sm(name), {128, 32, 48 << 10, 0});
        EXPECT_EQ(each.blocks, expected) << name;
        EXPECT_EQ(each.limiters, Limiters{Limiter::sharedMemory}) << name;
    }
    // Static and dynamic add up, and go out in pieces of 128 bytes: 1 + 1 + 1024 -> 1152.
    EXPECT_EQ(occupancyOf(sm("sm_90"), {128, 32, 1, 1}).sharedPerBlock, 1152);
    EXPECT_EQ(occupancyOf(sm("sm_75"), {128, 32, 1, 1}).sharedPerBlock, 256);
}

TEST(Occupancy, BarriersLimitFromHopperOn) {
    // 64 named barriers of an SM, 16 of each block: 4 blocks of one warp group.
    const auto hopper = occupancyOf(sm("sm_90"), {128, 32, 0, 0, 16});
    EXPECT_EQ(hopper.blocks, 4);
    EXPECT_EQ(hopper.limiters, Limiters{Limiter::barriers});
    EXPECT_EQ(occupancyOf(sm("sm_80"), {128, 32, 0, 0, 16}).blocks, 16);
}

TEST(Occupancy, WhatDoesNotFitSaysWhy) {
    const auto why = [](const char *name, BlockNeeds block) {
        const auto result = occupancyOf(sm(name), block);
        EXPECT_EQ(result.blocks, 0);
        EXPECT_TRUE(result.limiters.empty());
        return result.problem;
    };
    EXPECT_NE(why("sm_90", {1025, 32, 0, 0}).find("1025 threads"), std::string::npos);
    EXPECT_NE(why("sm_90", {0, 32, 0, 0}).find("without threads"), std::string::npos);
    EXPECT_NE(why("sm_90", {128, 32, (48 << 10) + 1, 0}).find("static"), std::string::npos);
    EXPECT_NE(why("sm_86", {128, 32, 0, (99 << 10) + 1}).find("at most 101376"), std::string::npos);
    EXPECT_TRUE(occupancyOf(sm("sm_86"), {128, 32, 0, 99 << 10}).fits());
    EXPECT_TRUE(occupancyOf(sm("sm_90"), {128, 32, 0, 227 << 10}).fits());
    // 65 registers are 2304 a warp, 32 warps of them 73728.
    EXPECT_NE(why("sm_90", {1024, 65, 0, 0}).find("73728 registers"), std::string::npos);
    EXPECT_TRUE(occupancyOf(sm("sm_90"), {1024, 64, 0, 0}).fits());
    // 255 registers fill a warp's 8192: 8 warps use all 65536, a ninth is counted as twelve.
    EXPECT_TRUE(occupancyOf(sm("sm_90"), {256, 255, 0, 0}).fits());
    EXPECT_NE(why("sm_90", {288, 255, 0, 0}).find("98304 registers"), std::string::npos);
    EXPECT_NE(why("sm_80", {128, 32, 0, 0, 1, 2}).find("no thread block clusters"),
              std::string::npos);
    EXPECT_TRUE(occupancyOf(sm("sm_90"), {128, 32, 0, 0, 1, 2}).fits());
}

TEST(Occupancy, JsonNamesWhatLimits) {
    const auto json = toJson(occupancyOf(sm("sm_80"), {128, 37, 0, 0}), sm("sm_80"));
    EXPECT_EQ(json["blocks_per_sm"], 12);
    EXPECT_EQ(json["limiters"], Json::array({"registers"}));
    EXPECT_EQ(json["blocks_by"]["warps"], 16);
    EXPECT_FALSE(json["blocks_by"].contains("barriers"));
    const auto none = toJson(occupancyOf(sm("sm_80"), {2048, 37, 0, 0}), sm("sm_80"));
    EXPECT_FALSE(none["fits"]);
    EXPECT_TRUE(none["problem"].is_string());
}

#ifdef CUDA_AGENT_HAS_CALCULATOR
// The calculator that the toolkit carries, over every architecture and a grid of launches.
TEST(Occupancy, AgreesWithTheToolkitsCalculator) {
    int compared = 0;
    int impossible = 0;
    for (const auto &each : architectures()) {
        cudaOccDeviceProp device;
        device.computeMajor = each.number / 10;
        device.computeMinor = each.number % 10;
        device.maxThreadsPerBlock = each.maxThreadsPerBlock;
        device.maxThreadsPerMultiprocessor = each.maxThreads();
        device.regsPerBlock = each.registersPerBlock;
        device.regsPerMultiprocessor = each.registers;
        device.warpSize = each.warpThreads;
        device.sharedMemPerBlock = static_cast<std::size_t>(each.sharedBytesPerBlock);
        device.sharedMemPerMultiprocessor = static_cast<std::size_t>(each.sharedBytes);
        device.numSms = 100;
        device.sharedMemPerBlockOptin = static_cast<std::size_t>(each.sharedBytesPerBlockOptIn);
        device.reservedSharedMemPerBlock =
            static_cast<std::size_t>(each.reservedSharedBytesPerBlock);
        const cudaOccDeviceState state;
        for (int threads = 1; threads <= 1024; threads += 31)
            for (int registers = 1; registers <= 255; registers += 7)
                for (std::int64_t shared : {0, 1, 900, 5000, 24 << 10, 48 << 10, 64 << 10, 99 << 10,
                                            163 << 10, 200 << 10, 227 << 10, 228 << 10})
                    for (int barriers : {1, 5}) {
                        cudaOccFuncAttributes function;
                        function.maxThreadsPerBlock = INT_MAX;
                        function.numRegs = registers;
                        function.sharedSizeBytes = 128;
                        function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
                        function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(shared);
                        function.numBlockBarriers = barriers;
                        cudaOccResult expected;
                        ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(
                                      &expected, &device, &function, &state, threads,
                                      static_cast<std::size_t>(shared)),
                                  CUDA_OCC_SUCCESS);
                        const auto got =
                            occupancyOf(each, {threads, registers, 128, shared, barriers});
                        ASSERT_EQ(got.blocks, expected.activeBlocksPerMultiprocessor)
                            << each.name << " " << threads << " threads, " << registers
                            << " registers, " << shared << " bytes, " << barriers << " barriers";
                        ++compared;
                        impossible += got.blocks == 0;
                    }
    }
    EXPECT_GT(compared, 100000);
    EXPECT_GT(impossible, 10000);
}
#endif
