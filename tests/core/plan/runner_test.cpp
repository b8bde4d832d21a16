// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/scalar_bits.h"
#include "tests/core/plan/run_cases.h"
#include "tests/source_dir.h"

#include <thread>

// Plan candidates on the CPU device, in the sandbox.

namespace cuda_agent::plan {
namespace {

using Runner = RunCases<RunPlan>;

/// What keeps a wrong fixture from ending the whole program.
TEST_F(Runner, ACandidateThatDoesNotCompileEndsItsTest) {
    Json plan = pointwisePlan();
    plan["steps"][0] = Json::array();
    EXPECT_THROW(compileCandidate(plan, doubleKernel), std::runtime_error);
    EXPECT_THROW(compileCandidate(pointwisePlan(), "no kernel"), std::runtime_error);
    EXPECT_EQ(callOnce({}), "the runner did not start: ");
}

TEST_F(Runner, AddsTwoInputs) {
    twoInputs();
}
TEST_F(Runner, RunsStepsInOrderOverScratch) {
    twoStepsWithScratch();
}
TEST_F(Runner, PassesScalarsOfAllKinds) {
    scalarsOfAllKinds();
}
TEST_F(Runner, CopiesMisplacedViews) {
    misplacedViews();
}
TEST_F(Runner, ReadsInputsInTheirOrder) {
    orderedInput();
}
TEST_F(Runner, TimesCalls) {
    timingIsSane();
}

TEST_F(Runner, FillsWideElements) {
    fillsWideElements();
}
TEST_F(Runner, RunsManySteps) {
    graphReplaysManySteps();
}
TEST_F(Runner, GemmKnowsNoTf32) {
    gemmTf32OnlyWhenAsked();
}

TEST_F(Runner, GemmPlain) {
    gemm({});
}
TEST_F(Runner, GemmTransposed) {
    gemm({.transposeA = true, .transposeB = true});
}
TEST_F(Runner, GemmBatchedWithBiasAndScales) {
    gemm({.transposeB = true, .bias = true, .batch = 3, .alpha = 0.5, .beta = 2});
}

TEST_F(Runner, GemmOf16BitElements) {
    for (const DType type : {DType::float16, DType::bfloat16}) {
        const auto square = contiguousType(type, {2, 2});
        const auto bits = [&](std::vector<double> values) {
            std::vector<std::uint16_t> result;
            for (const double value : values)
                result.push_back(static_cast<std::uint16_t>(elementBits(type, value).bits));
            return result;
        };
        for (const DType wanted : {type, DType::float32}) {
            const Json plan = {{"version", 1},
                               {"buffers",
                                {{{"name", "a"}, {"role", "input"}, {"index", 0}},
                                 {{"name", "c"},
                                  {"role", "output"},
                                  {"index", 0},
                                  {"dtype", nameOf(wanted)},
                                  {"shape", {2, 2}}}}},
                               {"steps",
                                {{{"kind", "gemm"},
                                  {"a", "a"},
                                  {"b", "a"},
                                  {"c", "c"},
                                  {"m", 2},
                                  {"n", 2},
                                  {"k", 2},
                                  {"beta", 1}}}}};
            compileCandidate(plan, "");
            const auto result = contiguousType(wanted, {2, 2});
            signature_.inputs = {square};
            signature_.outputs = {result};
            ASSERT_TRUE(start()) << problem_.message;
            CallBuffers buffers;
            if (wanted == type) {
                buffers.inputs = {lend(bits({1, -2, 0.5, 3}), square)};
                buffers.outputs = {lend(bits({8, 8, 8, 8}), result)};
                ASSERT_EQ(callOnce(buffers), "");
                EXPECT_EQ(contents<std::uint16_t>(buffers.outputs[0], 4), bits({8, 0, 10, 16}));
                continue;
            }
            // 256 * 256 + 0.5 * 0.5 has no room in 16 bits.
            buffers.inputs = {lend(bits({256, 0.5, 0.5, 256}), square)};
            buffers.outputs = {lend(std::vector<float>{8, 8, 8, 8}, result)};
            ASSERT_EQ(callOnce(buffers), "");
            EXPECT_EQ(contents<float>(buffers.outputs[0], 4),
                      (std::vector<float>{65544.25F, 264, 264, 65544.25F}));
        }
    }
}

TEST_F(Runner, Convolution1d) {
    convolution({{2, 3, 17}, {4, 3, 5}, {2, 4, 8}, {2}, {1}, {1}, {}, 1, false, true});
}
TEST_F(Runner, Convolution2dDilatedInGroups) {
    convolution({{2, 4, 9, 10}, {6, 2, 3, 3}, {2, 6, 5, 10}, {2, 1}, {1, 2}, {1, 2}, {}, 2});
}
TEST_F(Runner, Convolution3d) {
    convolution(
        {{1, 2, 4, 5, 6}, {3, 2, 2, 3, 3}, {1, 3, 3, 5, 6}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}});
}
TEST_F(Runner, ConvolutionWithChannelsLast) {
    convolution({.input = {2, 3, 17},
                 .weight = {4, 3, 5},
                 .output = {2, 4, 8},
                 .stride = {2},
                 .padding = {1},
                 .dilation = {1},
                 .bias = true,
                 .channelsLast = true});
    convolution({.input = {2, 4, 9, 10},
                 .weight = {6, 2, 3, 3},
                 .output = {2, 6, 5, 10},
                 .stride = {2, 1},
                 .padding = {1, 2},
                 .dilation = {1, 2},
                 .groups = 2,
                 .channelsLast = true});
    convolution({.input = {1, 6, 5, 4, 3},
                 .weight = {6, 2, 3, 2, 2},
                 .output = {1, 4, 11, 8, 6},
                 .stride = {2, 2, 2},
                 .padding = {0, 0, 0},
                 .dilation = {1, 1, 1},
                 .outputPadding = {0, 0, 0},
                 .groups = 2,
                 .transposed = true,
                 .bias = true,
                 .channelsLast = true});
}
TEST_F(Runner, ConvolutionTransposed) {
    convolution(
        {{2, 4, 5, 6}, {4, 3, 3, 3}, {2, 6, 10, 6}, {2, 1}, {1, 1}, {1, 1}, {1, 0}, 2, true, true});
}

/// The fenced block of that language in the room's README.
std::string fromReadme(const std::string &language) {
    const auto text = readTextFile(sourceDir() / "core/plan/README.md");
    EXPECT_TRUE(text);
    const std::string fence = "```" + language + "\n";
    const auto begin = text->find(fence) + fence.size();
    return text->substr(begin, text->find("```", begin) - begin);
}

TEST_F(Runner, TheReadmesExampleIsASoftmax) {
    const auto plan = parseJson(fromReadme("json"), "README");
    ASSERT_TRUE(plan) << plan.error().message;
    std::ofstream(folder_ / "kernels/softmax.cu") << fromReadme("cuda");
    compileCandidate(*plan, "");
    constexpr std::size_t rows = 3, columns = 300;
    const auto type = contiguousType(DType::float32, {rows, columns});
    signature_.inputs = {type};
    signature_.outputs = {type};
    signature_.scalars = {{1, 0.25}};
    ASSERT_TRUE(start()) << problem_.message;
    const auto in = ramp(rows * columns);
    CallBuffers buffers;
    buffers.inputs = {lendFloats(in, {rows, columns})};
    buffers.outputs = {lendFloats(in, {rows, columns})};
    ASSERT_EQ(callOnce(buffers), "");
    const auto out = contents(buffers.outputs[0], rows * columns);
    for (std::size_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < columns; ++i)
            sum += std::exp(0.25 * in[row * columns + i]);
        for (std::size_t i = 0; i < columns; ++i)
            ASSERT_NEAR(out[row * columns + i], std::exp(0.25 * in[row * columns + i]) / sum, 1e-6);
    }
}

TEST_F(Runner, KillsAnEndlessKernel) {
    failsThenNextIsFine(R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    volatile float *spin = out;
    while (spin[0] != 12345.0f) { }
}
)cu",
                        "did not finish within 1 s", std::chrono::milliseconds(1000));
}

TEST_F(Runner, ReportsANullPointer) {
    failsThenNextIsFine(
        R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    float *nowhere = (float *)(out[0] * 0.0f == 1.0f ? out : (float *)8);
    nowhere[threadIdx.x] = 1.0f;
}
)cu",
        "SIGSEGV (an access to memory that is not there) in kernels/k.cu:k (step 0)");
}

TEST_F(Runner, ReportsAWriteFarOutOfBounds) {
    failsThenNextIsFine(R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    out[(long long)n * 100000 + threadIdx.x] = 1.0f;
}
)cu",
                        "SIGSEGV");
}

TEST_F(Runner, ReportsAnOverrunOfScratch) {
    Json plan = pointwisePlan({{{"buffer", "tmp"}}});
    plan["buffers"].push_back(
        {{"name", "tmp"}, {"role", "scratch"}, {"dtype", "float32"}, {"shape", {"N"}}});
    compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n, float *tmp) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tmp[i] = in[i % n];
    if (i < n)
        out[i] = tmp[i];
}
)cu");
    signature_ = pointwiseSignature(65);
    ASSERT_TRUE(start()) << problem_.message;
    CallBuffers buffers;
    buffers.inputs = {lendFloats(ramp(65), {65})};
    buffers.outputs = {lendFloats(ramp(65), {65})};
    EXPECT_MENTIONS(callOnce(buffers), "SIGSEGV");
    EXPECT_EQ(problem_.kind, ErrorKind::failed);
}

TEST_F(Runner, ScratchIsAlignedAsDeclared) {
    Json plan = pointwisePlan({{{"buffer", "tmp"}}});
    plan["buffers"].push_back({{"name", "tmp"},
                               {"role", "scratch"},
                               {"dtype", "float32"},
                               {"shape", {1}},
                               {"alignment", 256}});
    compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n, float *tmp) {
    out[threadIdx.x] = (float)((unsigned long long)tmp % 256);
}
)cu");
    signature_ = pointwiseSignature(64);
    ASSERT_TRUE(start()) << problem_.message;
    CallBuffers buffers;
    buffers.inputs = {lendFloats(ramp(64), {64})};
    buffers.outputs = {lendFloats(ramp(64), {64})};
    ASSERT_EQ(callOnce(buffers), "");
    EXPECT_EQ(contents(buffers.outputs[0], 1)[0], 0);
}

TEST_F(Runner, ScratchStartsPoisoned) {
    Json plan = pointwisePlan({{{"buffer", "tmp"}}});
    plan["buffers"].push_back(
        {{"name", "tmp"}, {"role", "scratch"}, {"dtype", "float32"}, {"shape", {"N"}}});
    compileCandidate(plan, R"cu(
extern "C" __global__ void k(const float *in, float *out, int n, float *tmp) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tmp[i];
}
)cu");
    signature_ = pointwiseSignature(10);
    ASSERT_TRUE(start()) << problem_.message;
    CallBuffers buffers;
    buffers.inputs = {lendFloats(ramp(10), {10})};
    buffers.outputs = {lendFloats(ramp(10), {10})};
    ASSERT_EQ(callOnce(buffers), "");
    EXPECT_EQ(contents<std::uint32_t>(buffers.outputs[0], 10),
              std::vector<std::uint32_t>(10, 0xCBCBCBCBu));
}

TEST_F(Runner, NeedsAsManyArgumentsAsTheKernel) {
    Json plan = pointwisePlan({{{"int32", 5}}});
    compileCandidate(plan, doubleKernel);
    signature_ = pointwiseSignature(10);
    CallBuffers buffers;
    buffers.inputs = {lendFloats(ramp(10), {10})};
    buffers.outputs = {lendFloats(ramp(10), {10})};
    if (start()) {
        EXPECT_NE(callOnce(buffers), "");
    }
    EXPECT_EQ(problem_.kind, ErrorKind::failed);
    EXPECT_MENTIONS(problem_.message, "argument");
}

TEST_F(Runner, UnresolvablePlanIsARequestError) {
    Json plan = pointwisePlan();
    plan["requires"] = {"N % 4 == 0"};
    compileCandidate(plan, doubleKernel);
    signature_ = pointwiseSignature(7);
    EXPECT_FALSE(start());
    EXPECT_EQ(problem_.kind, ErrorKind::request);
    EXPECT_EQ(problem_.message, "requires: N % 4 == 0 does not hold for N = 7");
}

TEST_F(Runner, ClustersNeedAGpu) {
    Json plan = pointwisePlan();
    plan["steps"][0]["cluster"] = {2};
    compileCandidate(plan, doubleKernel);
    signature_ = pointwiseSignature(128);
    EXPECT_FALSE(start());
    EXPECT_MENTIONS(problem_.message, "steps[0].cluster: this device has no thread block clusters");
}

TEST_F(Runner, LentMemoryMustFit) {
    compileCandidate(pointwisePlan(), doubleKernel);
    signature_ = pointwiseSignature(100);
    ASSERT_TRUE(start()) << problem_.message;
    CallBuffers buffers;
    buffers.inputs = {lendFloats(ramp(50), {100})};
    buffers.outputs = {lendFloats(ramp(100), {100})};
    EXPECT_MENTIONS(callOnce(buffers), "is too small");
    EXPECT_EQ(problem_.kind, ErrorKind::machine);
    buffers.inputs.clear();
    EXPECT_MENTIONS(callOnce(buffers), "no memory was lent for the buffer 'in0'");
}

TEST_F(Runner, StopsWhenAsked) {
    compileCandidate(pointwisePlan(), R"cu(
extern "C" __global__ void k(const float *in, float *out, int n) {
    volatile float *spin = out;
    while (spin[0] != 12345.0f) { }
}
)cu");
    signature_ = pointwiseSignature(64);
    std::stop_source source;
    auto process = startRunner(compiled_, signature_, *device_, {}, source.get_token());
    ASSERT_TRUE(process) << process.error().message;
    process_ = std::move(*process);
    CallBuffers buffers;
    buffers.inputs = {lendFloats(ramp(64), {64})};
    buffers.outputs = {lendFloats(ramp(64), {64})};
    ASSERT_TRUE(process_->bind(0, buffers));
    std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        source.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    const auto called = process_->call(0);
    ASSERT_FALSE(called);
    EXPECT_EQ(called.error().kind, ErrorKind::stopped);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

// Its kernels are code of the very process here: nobody is to come after it.
TEST_F(Runner, TakesOnePlanOnTheCpu) {
    compileCandidate(pointwisePlan(), doubleKernel);
    signature_ = pointwiseSignature(10);
    auto runner = orThrow(startLinkedRunner(compiled_, signature_, *device_, RunnerOptions{}));
    const auto done = unload(*runner);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::machine);
    EXPECT_NE(done.error().message.find("takes one plan"), std::string::npos);
}

} // namespace
} // namespace cuda_agent::plan
