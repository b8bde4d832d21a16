// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/occupancy.h"

#include "core/device/cuda_context.h"
#include "core/device/nvrtc_library.h"

#include <gtest/gtest.h>

#include <set>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

/// Needs as many registers as it may have: 128 values that live across a barrier.
const std::string kernel = R"(
extern "C" __global__ void k(float *x) {
#if SHARED > 0
    __shared__ float t[SHARED / 4];
    t[threadIdx.x % (SHARED / 4)] = x[0];
#endif
    float v[128];
#pragma unroll
    for (int i = 0; i < 128; ++i)
        v[i] = x[i * 1024 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 128; ++i)
        x[i * 1024 + threadIdx.x] = v[127 - i] * v[i];
#if SHARED > 0
    x[0] += t[(threadIdx.x + 1) % (SHARED / 4)];
#endif
}
)";

class GpuOccupancy : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto driver = cuda::Driver::load(); !driver)
            GTEST_SKIP() << driver.error().message;
        auto opened = CudaContext::open(0);
        ASSERT_TRUE(opened) << opened.error().message;
        context_ = std::move(*opened);
        ASSERT_TRUE(context_->activate());
        architecture_ = findArchitecture(context_->info().architecture);
        if (!architecture_)
            GTEST_SKIP() << "the table does not know " << context_->info().architecture;
    }

    int attribute(CUdevice_attribute which) {
        const auto value = context_->attribute(which);
        EXPECT_TRUE(value) << value.error().message;
        return value.value_or(-1);
    }

    std::unique_ptr<CudaContext> context_;
    const Architecture *architecture_ = nullptr;
};

} // namespace

TEST_F(GpuOccupancy, TheTableIsThatOfTheDriver) {
    const auto &table = *architecture_;
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), table.warpThreads);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), table.maxThreadsPerBlock);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), table.maxThreads());
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR), table.maxBlocks);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR), table.registers);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK), table.registersPerBlock);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
              table.sharedBytes);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
              table.sharedBytesPerBlock);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
              table.sharedBytesPerBlockOptIn);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
              table.reservedSharedBytesPerBlock);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0, table.clusterBlocks > 1);
}

TEST_F(GpuOccupancy, AgreesWithTheDriverOverAGridOfLaunches) {
    const auto &driver = context_->driver();
    const auto folder = cuda::Nvrtc::findFolder(cuda::Nvrtc::folders());
    ASSERT_TRUE(folder) << folder.error().message;
    const auto nvrtc = cuda::Nvrtc::load(*folder);
    ASSERT_TRUE(nvrtc) << nvrtc.error().message;
    std::set<int> registerCounts;
    std::set<Limiter> limiters;
    int compared = 0;
    int impossible = 0;
    for (const int registers : {24, 32, 40, 48, 64, 72, 96, 128, 168, 200, 255})
        for (const int shared : {0, 128, 4096, 40960}) {
            const auto compiled = nvrtc->compile(
                kernel, "occupancy.cu",
                {fmt::format("--gpu-architecture={}", architecture_->name),
                 fmt::format("--maxrregcount={}", registers), fmt::format("-DSHARED={}", shared)});
            ASSERT_EQ(compiled.code, NVRTC_SUCCESS) << compiled.log;
            CUmodule module = nullptr;
            CUfunction function = nullptr;
            ASSERT_EQ(driver.cuModuleLoadData(&module, compiled.cubin.data()), CUDA_SUCCESS);
            ASSERT_EQ(driver.cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
            int used = 0;
            int fixed = 0;
            ASSERT_EQ(driver.cuFuncGetAttribute(&used, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
                      CUDA_SUCCESS);
            ASSERT_EQ(
                driver.cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
                CUDA_SUCCESS);
            registerCounts.insert(used);
            const int most = architecture_->sharedBytesPerBlockOptIn - fixed;
            ASSERT_EQ(driver.cuFuncSetAttribute(
                          function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most),
                      CUDA_SUCCESS);
            for (const int threads : {1, 32, 33, 64, 96, 128, 160, 256, 288, 384, 512, 768, 1024})
                for (const int dynamic : {0, 1, 1000, 9000, 30000, 60000, 100000, 160000, most}) {
                    if (dynamic > most)
                        continue;
                    int expected = -1;
                    const auto code = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                        &expected, function, threads, static_cast<std::size_t>(dynamic));
                    ASSERT_EQ(code, CUDA_SUCCESS) << driver.describe(code);
                    const auto got =
                        occupancyOf(*architecture_, {threads, used, fixed, dynamic, 1});
                    EXPECT_EQ(got.blocks, expected)
                        << threads << " threads, " << used << " registers, " << fixed << " + "
                        << dynamic << " bytes; " << got.problem;
                    limiters.insert(got.limiters.begin(), got.limiters.end());
                    impossible += expected == 0;
                    ++compared;
                }
            driver.cuModuleUnload(module);
        }
    // The grid reaches what it is for.
    EXPECT_GE(registerCounts.size(), 5u);
    EXPECT_GT(compared, 3000);
    EXPECT_GT(impossible, 0);
    EXPECT_TRUE(limiters.contains(Limiter::registers));
    EXPECT_TRUE(limiters.contains(Limiter::sharedMemory));
    EXPECT_TRUE(limiters.contains(Limiter::warps));
    std::printf("%d launches compared, %d impossible, %zu register counts\n", compared, impossible,
                registerCounts.size());
}
