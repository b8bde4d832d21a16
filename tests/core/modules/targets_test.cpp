// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/modules/targets.h"

#include "core/base/paths.h"
#include "core/base/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace cuda_agent::modules {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<const device::Architecture *> list(const char *names) {
    return device::parseArchitectures(names).value();
}

class ModuleTargets : public testing::Test {
  protected:
    void SetUp() override {
        std::error_code error;
        if (!std::filesystem::exists(cudaToolkitDir() / "bin" / "nvcc", error))
            GTEST_SKIP() << "no nvcc";
        setenv("CUDA_AGENT_CACHE", cache_.path().c_str(), 1);
    }
    void TearDown() override { unsetenv("CUDA_AGENT_CACHE"); }

    static Candidate workspace(std::map<std::string, std::string> kernels) {
        Candidate candidate;
        candidate.form = Form::workspace;
        candidate.files = std::move(kernels);
        candidate.files[modelFile] = "";
        return candidate;
    }

    TemporaryFolder cache_ = TemporaryFolder::make("module-targets").value();
};

TEST_F(ModuleTargets, KernelsWithoutTheirHostCode) {
    const auto candidate =
        workspace({{"kernels/a.cu", "#include \"size.cuh\"\n"
                                    "template <int N> __global__ void rows(float *x) {\n"
                                    "    __shared__ float t[N];\n"
                                    "    t[threadIdx.x] = x[threadIdx.x];\n"
                                    "    __syncthreads();\n"
                                    "    x[threadIdx.x] = t[N - 1 - threadIdx.x];\n}\n"
                                    "void launch(float *x) { rows<size><<<1, size>>>(x); }\n"},
                   {"kernels/size.cuh", "constexpr int size = 256;\n"},
                   {"kernels/a_binding.cpp", "this is not compiled"}});
    for (const bool again : {false, true}) {
        const auto targets = examineTargets(candidate, list("sm_90,sm_75"), {});
        ASSERT_TRUE(targets) << targets.error().message;
        ASSERT_EQ(targets->size(), 2u);
        for (const auto &target : *targets) {
            EXPECT_TRUE(target.compiled) << target.problem;
            EXPECT_EQ(target.cached, again);
            ASSERT_EQ(target.kernels.size(), 1u);
            EXPECT_EQ(target.kernels[0].source, "kernels/a.cu");
            EXPECT_EQ(target.kernels[0].entry.name, "rows<256>");
            EXPECT_EQ(target.kernels[0].entry.sharedBytes, 1024);
            EXPECT_EQ(target.kernels[0].entry.barriers, 1);
        }
        // 1 KB and what the system reserves: more than enough for 16 blocks of 4 warps.
        EXPECT_EQ(occupancyOf(targets->at(0), targets->at(0).kernels[0], 128).blocks, 16);
        EXPECT_EQ(occupancyOf(targets->at(1), targets->at(1).kernels[0], 128).blocks, 8);
        const auto json = toJson(targets->at(1));
        EXPECT_EQ(json["kernels"][0]["occupancy_by_threads"]["1024"]["blocks_per_sm"], 1);
    }
}

TEST_F(ModuleTargets, AnInstructionThatACardLacksIsNamedByLine) {
    const auto candidate = workspace(
        {{"kernels/a.cu", "__device__ __forceinline__ void wait() {\n"
                          "    asm volatile(\"cp.async.wait_all;\");\n}\n"
                          "__global__ void k(float *x) {\n    x[0] = 1;\n    wait();\n}\n"},
         {"kernels/b.cu", "__global__ void fine(float *x) { x[0] = 1; }\n"}});
    const auto targets = examineTargets(candidate, list("sm_75,sm_80"), {});
    ASSERT_TRUE(targets) << targets.error().message;
    const auto &old = targets->at(0);
    EXPECT_FALSE(old.compiled);
    EXPECT_THAT(old.problem, StartsWith("kernels/a.cu:2:"));
    EXPECT_THAT(old.problem, HasSubstr("'cp.async.wait_all' requires .target sm_80"));
    ASSERT_EQ(old.kernels.size(), 1u);
    EXPECT_EQ(old.kernels[0].entry.name, "fine");
    EXPECT_EQ(toJson(old)["problem"], old.problem);
    EXPECT_TRUE(targets->at(1).compiled) << targets->at(1).problem;
}

TEST_F(ModuleTargets, NewestGenerationsHaveTheirOwnInstructions) {
    // tcgen05 is there for "a" and "f" targets alone.
    const auto candidate =
        workspace({{"kernels/a.cu", "__global__ void k(float *x) {\n"
                                    "    asm volatile(\"tcgen05.wait::ld.sync.aligned;\");\n"
                                    "    x[0] = 1;\n}\n"}});
    const auto targets = examineTargets(candidate, list("sm_100,sm_120"), {});
    ASSERT_TRUE(targets) << targets.error().message;
    EXPECT_TRUE(targets->at(0).compiled) << targets->at(0).problem;
    EXPECT_FALSE(targets->at(1).compiled);
    EXPECT_THAT(targets->at(1).problem, StartsWith("kernels/a.cu:2:"));
}

TEST(ModuleTargetsOfAFile, ASingleFileSaysWhatHolds) {
    Candidate candidate;
    candidate.form = Form::singleFile;
    candidate.files = {{modelFile, ""}};
    candidate.source = "model.py";
    const auto none = examineTargets(candidate, list("sm_90"), {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::request);
    EXPECT_THAT(none.error().message, HasSubstr("when it is loaded"));
}

} // namespace
} // namespace cuda_agent::modules
