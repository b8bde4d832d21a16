// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cuda_judge_kernels.h"
#include "core/device/nvrtc_library.h"

#include <gtest/gtest.h>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

// What they compute is tested on a GPU (tests/gpu); that they compile is known without one.
TEST(JudgeKernels, CompileFromTheOldestToTheNewestArchitecture) {
    const auto folder = cuda::Nvrtc::findFolder(cuda::Nvrtc::folders());
    ASSERT_TRUE(folder) << folder.error().message;
    const auto nvrtc = cuda::Nvrtc::load(*folder);
    ASSERT_TRUE(nvrtc) << nvrtc.error().message;
    EXPECT_GE(nvrtc->version(), 13000);
    for (const char *architecture : {"sm_75", "sm_90", "sm_100"}) {
        const auto result =
            nvrtc->compile(judgeKernelText, "judge.cu",
                           {std::string("--gpu-architecture=") + architecture, "-std=c++17"});
        EXPECT_EQ(result.code, NVRTC_SUCCESS) << architecture << ": " << result.log;
        EXPECT_EQ(result.log, "") << architecture;
        for (const char *kernel :
             {"compare_float16", "compare_int64", "fill", "first_change", "digest", "copy_once",
              "read_pieces", "read_shared", "random_halves", "random_bfloats", "multiply_add"})
            EXPECT_NE(result.cubin.find(std::string(".text.") + kernel), std::string::npos)
                << kernel;
    }
}

TEST(JudgeKernels, ErrorsCarryTheLine) {
    const auto folder = cuda::Nvrtc::findFolder(cuda::Nvrtc::folders());
    ASSERT_TRUE(folder);
    const auto nvrtc = cuda::Nvrtc::load(*folder);
    ASSERT_TRUE(nvrtc);
    const auto result = nvrtc->compile("int a;\nint a;\n", "twice.cu", {});
    EXPECT_EQ(result.code, NVRTC_ERROR_COMPILATION);
    EXPECT_NE(result.log.find("twice.cu(2): error"), std::string::npos) << result.log;
    EXPECT_TRUE(result.cubin.empty());
}

TEST(JudgeKernels, AMissingLibraryNamesThePlaces) {
    const auto folder = cuda::Nvrtc::findFolder({"/nowhere/a", "/nowhere/b"});
    ASSERT_FALSE(folder);
    EXPECT_NE(folder.error().message.find("/nowhere/a, /nowhere/b"), std::string::npos);
}

} // namespace
