// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/device/cuda_driver.h"
#include "tests/core/plan/run_cases.h"

#include <thread>

// Plan candidates on a GPU, in the sandbox.

namespace cuda_agent::plan {
namespace {

class RunGpuPlan : public RunPlan {
  protected:
    void openDevice() override {
        if (const auto driver = device::cuda::Driver::load(); !driver)
            GTEST_SKIP() << driver.error().message;
        auto device = device::openCuda();
        ASSERT_TRUE(device) << device.error().message;
        device_ = std::move(*device);
    }

    bool hasClusters() const { return device_->info().architecture >= "sm_90"; }
};

using GpuRunner = RunCases<RunGpuPlan>;

TEST_F(GpuRunner, AddsTwoInputs) {
    twoInputs();
}
TEST_F(GpuRunner, RunsStepsInOrderOverScratch) {
    twoStepsWithScratch();
}
TEST_F(GpuRunner, PassesScalarsOfAllKinds) {
    scalarsOfAllKinds();
}
TEST_F(GpuRunner, CopiesMisplacedViews) {
    misplacedViews();
}
TEST_F(GpuRunner, ReadsInputsInTheirOrder) {
    orderedInput();
}
TEST_F(GpuRunner, TimesCalls) {
    timingIsSane();
}

TEST_F(GpuRunner, FillsWideElements) {
    fillsWideElements();
}
TEST_F(GpuRunner, GraphReplaysManySteps) {
    graphReplaysManySteps();
}
TEST_F(GpuRunner, GemmTf32OnlyWhenAsked) {
    gemmTf32OnlyWhenAsked();
}

TEST_F(GpuRunner, GemmPlain) {
    gemm({});
}
TEST_F(GpuRunner, GemmTransposed) {
    gemm({.transposeA = true, .transposeB = true});
}
TEST_F(GpuRunner, GemmBatchedWithBiasAndScales) {
    gemm({.transposeB = true, .bias = true, .batch = 3, .alpha = 0.5, .beta = 2});
}
TEST_F(GpuRunner, Convolution1d) {
    convolution({{2, 3, 17}, {4, 3, 5}, {2, 4, 8}, {2}, {1}, {1}, {}, 1, false, true});
}
TEST_F(GpuRunner, Convolution2dDilatedInGroups) {
    convolution({{2, 4, 9, 10}, {6, 2, 3, 3}, {2, 6, 5, 10}, {2, 1}, {1, 2}, {1, 2}, {}, 2});
}
TEST_F(GpuRunner, Convolution3d) {
    convolution(
        {{1, 2, 4, 5, 6}, {3, 2, 2, 3, 3}, {1, 3, 3, 5, 6}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}});
}
TEST_F(GpuRunner, ConvolutionTransposed) {
    convolution(
        {{2, 4, 5, 6}, {4, 3, 3, 3}, {2, 6, 10, 6}, {2, 1}, {1, 1}, {1, 1}, {1, 0}, 2, true, true});
}

TEST_F(GpuRunner, KillsAnEndlessKernel) {
    failsThenNextIsFine(R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    volatile float *spin = out;
    while (spin[0] != 12345.0f) { }
}
)cu",
                        "did not finish within 1 s", std::chrono::milliseconds(1000));
}

TEST_F(GpuRunner, ReportsAnIllegalAddressWithItsStep) {
    failsThenNextIsFine(R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    out[(long long)n * 10000000000ll + threadIdx.x] = 1.0f;
}
)cu",
                        "CUDA error 700 an illegal memory access was encountered in "
                        "kernels/k.cu:k (step 0)");
}

TEST_F(GpuRunner, ReportsATrap) {
    failsThenNextIsFine(R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    if (threadIdx.x == 3)
        __trap();
}
)cu",
                        "in kernels/k.cu:k (step 0)");
}

TEST_F(GpuRunner, AFaultInATimedCallIsTheCandidates) {
    compileCandidate(pointwisePlan(), R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    out[(long long)n * 10000000000ll + threadIdx.x] = 1.0f;
}
)cu");
    signature_ = pointwiseSignature(100);
    ASSERT_TRUE(start()) << problem_.message;
    CallBuffers buffers;
    buffers.inputs = {lendFloats(ramp(100), {100})};
    buffers.outputs = {lendFloats(ramp(100), {100})};
    ASSERT_TRUE(process_->bind(0, buffers));
    SampleRequest request;
    request.sets = {0};
    const auto samples = process_->time(request);
    ASSERT_FALSE(samples);
    EXPECT_EQ(samples.error().kind, ErrorKind::failed);
    EXPECT_MENTIONS(samples.error().message, "CUDA error 700");
}

TEST_F(GpuRunner, NeedsTheKernelsArguments) {
    compileCandidate(pointwisePlan({{{"int32", 5}}}), doubleKernel);
    signature_ = pointwiseSignature(10);
    EXPECT_FALSE(start());
    EXPECT_EQ(problem_.kind, ErrorKind::failed);
    EXPECT_MENTIONS(problem_.message, "the kernel takes fewer than the 4 arguments");
    Json plan = pointwisePlan();
    plan["steps"][0]["args"][2] = {{"int64", "N"}};
    compileCandidate(plan, doubleKernel);
    EXPECT_FALSE(start());
    EXPECT_MENTIONS(problem_.message, "argument 2 has 4 bytes in the kernel and 8 in the plan");
}

TEST_F(GpuRunner, OpensTheGpuAheadOfItsPlan) {
    compileCandidate(pointwisePlan(), doubleKernel);
    signature_ = pointwiseSignature(64);
    auto runner = orThrow(openRunner(device_->info(), {}));
    ASSERT_TRUE(reload(*runner, compiled_, signature_, *device_, {}));
    CallBuffers buffers;
    buffers.inputs = {lendFloats(ramp(64), {64})};
    buffers.outputs = {lendFloats(std::vector<float>(64), {64})};
    ASSERT_TRUE(runner->bind(0, buffers));
    ASSERT_TRUE(runner->call(0));
    EXPECT_EQ(contents(buffers.outputs[0], 64)[42], 2 * ramp(64)[42]);
}

// A runner that has served one plan takes another, for other shapes, and shows it nothing.
TEST_F(GpuRunner, ServesAnotherPlan) {
    Json first = pointwisePlan();
    first["buffers"].push_back(
        {{"name", "room"}, {"role", "scratch"}, {"dtype", "float32"}, {"shape", {4096}}});
    first["steps"][0]["args"].push_back({{"buffer", "room"}});
    compileCandidate(first, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n, float *room) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 4096) room[i] = 1234.5f;
    if (i < n) out[i] = 2.0f * in[i];
}
)cu");
    signature_ = pointwiseSignature(100);
    auto runner = orThrow(startLinkedRunner(compiled_, signature_, *device_, RunnerOptions{}));
    const auto serve = [&](std::int64_t n) {
        const auto in = ramp(static_cast<std::size_t>(n));
        CallBuffers buffers;
        buffers.inputs = {lendFloats(in, {n})};
        buffers.outputs = {lendFloats(std::vector<float>(in.size()), {n})};
        EXPECT_TRUE(runner->bind(0, buffers));
        EXPECT_TRUE(runner->call(0));
        SampleRequest request;
        request.sets = {0};
        EXPECT_TRUE(runner->time(request)); // a graph, events, memory for flushing
        return contents(buffers.outputs[0], in.size());
    };
    EXPECT_EQ(serve(100)[42], 2 * ramp(100)[42]);

    // The same plan for other shapes, then one that copies what it finds in its scratch.
    ASSERT_TRUE(unload(*runner));
    ASSERT_TRUE(reload(*runner, compiled_, pointwiseSignature(3000), *device_, {}));
    EXPECT_EQ(serve(3000)[2999], 2 * ramp(3000)[2999]);
    compileCandidate(first, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n, float *room) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = room[i] == 1234.5f ? 1.0f : 7.0f;
}
)cu");
    ASSERT_TRUE(unload(*runner));
    ASSERT_TRUE(reload(*runner, compiled_, pointwiseSignature(3000), *device_, {}));
    EXPECT_EQ(serve(3000), std::vector<float>(3000, 7.0f));

    // One that does not fit is refused, and the next is taken all the same.
    Json narrow = pointwisePlan();
    narrow["requires"] = {"N == 10"};
    compileCandidate(narrow, doubleKernel);
    ASSERT_TRUE(unload(*runner));
    const auto refused = reload(*runner, compiled_, pointwiseSignature(3000), *device_, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::request);
    ASSERT_TRUE(reload(*runner, compiled_, pointwiseSignature(10), *device_, {}));
    EXPECT_EQ(serve(10)[3], 2 * ramp(10)[3]);
}

TEST_F(GpuRunner, LargeSharedMemory) {
    Json plan = pointwisePlan();
    plan["steps"][0]["shared"] = 90000;
    compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    extern __shared__ float tile[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[22000 + threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n)
        out[i] = 2.0f * tile[22000 + threadIdx.x];
}
)cu");
    signature_ = pointwiseSignature(100);
    ASSERT_TRUE(start()) << problem_.message;
    const auto in = ramp(100);
    CallBuffers buffers;
    buffers.inputs = {lendFloats(in, {100})};
    buffers.outputs = {lendFloats(std::vector<float>(100), {100})};
    ASSERT_EQ(callOnce(buffers), "");
    EXPECT_EQ(contents(buffers.outputs[0], 100)[42], 2 * in[42]);
}

TEST_F(GpuRunner, Clusters) {
    if (!hasClusters())
        GTEST_SKIP() << "clusters need sm_90";
    for (const int size : {2, 16}) {
        Json plan = pointwisePlan();
        plan["steps"][0]["cluster"] = {size};
        compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned blocks;
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
    if (i < n)
        out[i] = in[i] + (float)blocks;
}
)cu");
        signature_ = pointwiseSignature(64 * 32);
        ASSERT_TRUE(start()) << problem_.message;
        const auto in = ramp(64 * 32);
        CallBuffers buffers;
        buffers.inputs = {lendFloats(in, {64 * 32})};
        buffers.outputs = {lendFloats(in, {64 * 32})};
        ASSERT_EQ(callOnce(buffers), "");
        EXPECT_EQ(contents(buffers.outputs[0], 100)[9], in[9] + static_cast<float>(size));
    }
}

} // namespace
} // namespace cuda_agent::plan
