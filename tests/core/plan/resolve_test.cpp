// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/linked_candidate.h"
#include "tests/core/plan/plan_fixture.h"

namespace cuda_agent::plan {
namespace {

TEST(Resolve, GivesAllNumbers) {
    const auto plan = planFromJson(examplePlan());
    ASSERT_TRUE(plan);
    const auto resolved = resolve(*plan, exampleSignature(20, 64));
    ASSERT_TRUE(resolved) << resolved.error().message;
    EXPECT_EQ(resolved->symbols.at("BLOCKS"), 3);
    EXPECT_EQ(resolved->buffers[2].type, contiguousType(DType::float32, {20, 64}));
    EXPECT_EQ(resolved->buffers[3].type.shape, Shape{3});
    EXPECT_EQ(resolved->scratchBytes, 12u);
    ASSERT_EQ(resolved->kernels.size(), 1u);
    const ResolvedKernel &kernel = resolved->kernels[0];
    EXPECT_EQ(kernel.grid[0], 3u);
    EXPECT_EQ(kernel.block[0], 256u);
    EXPECT_EQ(kernel.sharedBytes, 256u);
    EXPECT_EQ(kernel.integers[3], 64);
    EXPECT_EQ(kernel.integers[4], 20);
    EXPECT_DOUBLE_EQ(kernel.numbers[5], 1e-5);
    EXPECT_DOUBLE_EQ(kernel.numbers[6], 0.5);
    ASSERT_EQ(resolved->gemms.size(), 1u);
    EXPECT_EQ(resolved->gemms[0].m, 20);
    EXPECT_EQ(resolved->gemms[0].lda, 64);
    EXPECT_EQ(resolved->gemms[0].batch, 1);
}

TEST(Resolve, OnePlanServesManyShapes) {
    const auto plan = planFromJson(examplePlan());
    ASSERT_TRUE(plan);
    for (const std::int64_t rows : {1, 8, 9, 1000}) {
        const auto resolved = resolve(*plan, exampleSignature(rows, 128));
        ASSERT_TRUE(resolved) << resolved.error().message;
        EXPECT_EQ(resolved->kernels[0].grid[0], (rows + 7) / 8);
    }
}

TEST(Resolve, UnmetRequirementSaysForWhat) {
    EXPECT_EQ(resolveProblem(examplePlan(), exampleSignature(8, 7)),
              "requires: N % 4 == 0 does not hold for N = 7");
}

TEST(Resolve, StridesOfInputsDoNotMatter) {
    auto signature = exampleSignature();
    signature.inputs[0].strides = {1, 20};
    EXPECT_EQ(resolveProblem(examplePlan(), signature), "");
}

TEST(Resolve, AnInputHasItsOwnOrderForTheSteps) {
    auto json = examplePlan();
    json["buffers"][0]["order"] = {1, 0};
    const auto plan = planFromJson(json);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto resolved = resolve(*plan, exampleSignature());
    ASSERT_TRUE(resolved) << resolved.error().message;
    EXPECT_EQ(resolved->buffers[0].type.shape, (Shape{64, 20}));
    EXPECT_EQ(resolved->buffers[2].type.shape, (Shape{20, 64})) << "sizes are the task's";
    EXPECT_EQ(toJson(*plan)["buffers"][0]["order"], (Json{1, 0}));
    json["buffers"][0]["order"] = {1, 0, 2};
    EXPECT_EQ(resolveProblem(json, exampleSignature()),
              "buffers[0].order: names 3 dimension(s), the task's 'in0' has 2");
}

TEST(Resolve, SoHasAnOutput) {
    auto json = examplePlan();
    json["buffers"][2]["order"] = {1, 0};
    const auto plan = planFromJson(json);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto resolved = resolve(*plan, exampleSignature());
    ASSERT_TRUE(resolved) << resolved.error().message;
    EXPECT_EQ(resolved->buffers[2].type, contiguousType(DType::float32, {64, 20}));
    const auto types = outputTypes(exampleSignature(), slotsOf(*plan));
    ASSERT_EQ(types.size(), 1u);
    EXPECT_EQ(types[0], denseType(DType::float32, {20, 64}, {1, 0})) << "as who calls sees it";
    json["buffers"][2]["order"] = {0};
    EXPECT_EQ(resolveProblem(json, exampleSignature()),
              "buffers[2].order: names 1 dimension(s), the task's 'out0' has 2");
}

struct BadSize {
    const char *label;
    const char *pointer;
    const char *value;
    const char *message;
};

class BadSizes : public testing::TestWithParam<BadSize> {};

TEST_P(BadSizes, AreRefusedByField) {
    auto json = examplePlan();
    json[Json::json_pointer(GetParam().pointer)] = Json::parse(GetParam().value);
    EXPECT_MENTIONS(resolveProblem(json, exampleSignature()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Resolve, BadSizes,
    testing::Values(
        BadSize{"NegativeShape", "/buffers/3/shape/0", "\"R - 100\"",
                "buffers[3].shape[0]: 'R - 100' is -80; it must be at least 1"},
        BadSize{"ZeroShape", "/buffers/3/shape/0", "0", "buffers[3].shape[0]: 0; it must be at"},
        BadSize{"Overflow", "/buffers/3/shape/0", "\"N*9223372036854775807\"", "overflows"},
        BadSize{"HugeShape", "/buffers/3/shape", "[4294967296, 4294967296, 4294967296]",
                "buffers[3].shape: part has too many elements"},
        BadSize{"HugeScratch", "/buffers/3/shape", "[1099511627776]",
                "buffers[3]: scratch needs 4398046511104 bytes"},
        BadSize{"GridX", "/steps/1/grid/0", "2147483648",
                "steps[1].grid[0]: 2147483648; it must be at most 2147483647"},
        BadSize{"GridY", "/steps/1/grid/1", "65536", "steps[1].grid[1]: 65536"},
        BadSize{"GridZ", "/steps/1/grid/2", "\"R*65536\"", "steps[1].grid[2]: 'R*65536' is"},
        BadSize{"GridZero", "/steps/1/grid/0", "\"R/100\"", "steps[1].grid[0]: 'R/100' is 0"},
        BadSize{"BlockTooLarge", "/steps/1/block", "[64, 32, 1]",
                "steps[1].block: 2048 threads; at most 1024"},
        BadSize{"BlockZ", "/steps/1/block", "[1, 1, 65]", "steps[1].block[2]: 65"},
        BadSize{"Shared", "/steps/1/shared", "\"N*4096\"", "steps[1].shared: 'N*4096' is 262144"},
        BadSize{"NegativeShared", "/steps/1/shared", "-1", "steps[1].shared: -1"},
        BadSize{"ClusterDivides", "/steps/1/cluster", "[2, 1, 1]",
                "steps[1].cluster[0]: the grid of 3 blocks cannot be divided by 2"},
        BadSize{"Int32", "/steps/1/args/3", R"({"int32": "N*100000000"})",
                "steps[1].args[3]: 'N*100000000' is 6400000000"},
        BadSize{"ScalarPosition", "/steps/1/args/6", R"({"float32": {"input": 2}})",
                "steps[1].args[6]: get_inputs() has no number at position 2"},
        BadSize{"ScalarNotWhole", "/steps/1/args/6", R"({"int32": {"input": 1}})",
                "which is no int32"},
        BadSize{"OutputShape", "/buffers/2/shape", "[\"N\", \"R\"]",
                "buffers[2].shape: [64, 20] must be [20, 64], as the task's output 0"},
        BadSize{"OutputDtype", "/buffers/2/dtype", "\"float16\"",
                "buffers[2].dtype: float16 must be float32"},
        BadSize{"OutputIndex", "/buffers/2/index", "1",
                "buffers[2].index: the task has 1 output(s), so 1 is out of range"},
        BadSize{"InputIndex", "/buffers/0/index", "3",
                "buffers[0].index: the task has 1 tensor input(s), so 3 is out of range"},
        BadSize{"ParameterKey", "/buffers/1/key", "\"ln.bias\"",
                "buffers[1].key: the task has no parameter 'ln.bias'; it has ln.weight"},
        BadSize{"InputDtype", "/buffers/0/dtype", "\"float16\"",
                "buffers[0].dtype: the plan is for float16, the task's 'in0' is float32"},
        BadSize{"InputShape", "/buffers/0/shape", "[\"R\", 32]",
                "buffers[0].shape: the plan is for [20, 32]"},
        BadSize{"MissingDimension", "/symbols/R", "\"in0.shape[2]\"",
                "symbols.R: 'in0.shape[2]': 'in0.shape[2]' is not known"},
        BadSize{"SymbolDividesByZero", "/symbols/BLOCKS", "\"R / (ROWS - 8)\"",
                "symbols.BLOCKS: 'R / (ROWS - 8)' divides by zero"},
        BadSize{"GemmReach", "/steps/2/k", "65", "steps[2].a: the step reaches past the end"},
        BadSize{"GemmLead", "/steps/2/lda", "3", "steps[2].lda: 3; it must be at least 64"},
        BadSize{"GemmZero", "/steps/2/m", "0", "steps[2].m: 0"},
        BadSize{"GemmDtype", "/steps/2/b", "\"part\"", "steps[2].b: the step reaches past"}),
    [](const auto &each) { return std::string(each.param.label); });

TEST(Resolve, MissingOutputIsNamed) {
    auto signature = exampleSignature();
    signature.outputs.push_back(contiguousType(DType::float32, {1}));
    EXPECT_MENTIONS(resolveProblem(examplePlan(), signature),
                    "buffers: the task has 2 output(s); none has the role output and index 1");
}

TEST(Resolve, DeviceWithoutClusters) {
    auto json = examplePlan();
    json["steps"][1]["cluster"] = {3, 1, 1};
    LaunchLimits limits;
    EXPECT_EQ(resolveProblem(json, exampleSignature(), limits), "");
    limits.maxClusterBlocks = 1;
    EXPECT_MENTIONS(resolveProblem(json, exampleSignature(), limits),
                    "has no thread block clusters");
}

TEST(Resolve, BatchItemsOfAProductMustNotOverlap) {
    auto json = examplePlan();
    json["steps"][2].update({{"batch", 2}, {"m", 10}, {"stride_c", 8}, {"stride_b", 0}});
    EXPECT_MENTIONS(resolveProblem(json, exampleSignature()), "steps[2].stride_c: the batch items");
    json["steps"][2].erase("stride_c");
    EXPECT_EQ(resolveProblem(json, exampleSignature()), "");
}

// --- convolution ---------------------------------------------------------------------------

Json convolutionPlan(const Json &fields, const Shape &output) {
    Json step{{"kind", "convolution"}, {"input", "x"}, {"weight", "w"}, {"output", "y"}};
    if (fields.is_object())
        step.update(fields);
    return {{"version", 1},
            {"buffers",
             {{{"name", "x"}, {"role", "input"}, {"index", 0}},
              {{"name", "w"}, {"role", "parameter"}, {"key", "weight"}},
              {{"name", "y"},
               {"role", "output"},
               {"index", 0},
               {"dtype", "float32"},
               {"shape", output}}}},
            {"steps", {step}}};
}

std::string convolutionProblem(const Json &fields, const Shape &input, const Shape &weight,
                               const Shape &output) {
    Signature signature;
    signature.inputs = {contiguousType(DType::float32, input)};
    signature.parameters = {{"weight", contiguousType(DType::float32, weight)}};
    signature.outputs = {contiguousType(DType::float32, output)};
    return resolveProblem(convolutionPlan(fields, output), signature);
}

TEST(Resolve, ConvolutionShapesAreTorchs) {
    // Output sizes taken from torch.nn.functional.conv1d, conv2d, conv3d and their transposes.
    EXPECT_EQ(convolutionProblem({}, {2, 3, 10}, {4, 3, 3}, {2, 4, 8}), "");
    EXPECT_EQ(convolutionProblem({{"stride", {2, 1}}, {"padding", {1, 2}}, {"dilation", {1, 2}}},
                                 {2, 4, 9, 10}, {6, 4, 3, 3}, {2, 6, 5, 10}),
              "");
    EXPECT_EQ(convolutionProblem({{"groups", 4}}, {1, 4, 5, 5}, {8, 1, 3, 3}, {1, 8, 3, 3}), "");
    EXPECT_EQ(convolutionProblem({}, {1, 2, 4, 4, 4}, {3, 2, 2, 2, 2}, {1, 3, 3, 3, 3}), "");
    EXPECT_EQ(convolutionProblem({{"transposed", true},
                                  {"stride", {2, 2}},
                                  {"padding", {1, 1}},
                                  {"output_padding", {1, 1}}},
                                 {2, 3, 5, 5}, {3, 4, 3, 3}, {2, 4, 10, 10}),
              "");
}

TEST(Resolve, ConvolutionShapesMayHaveTheirChannelsLast) {
    const Json last = {{"layout", "channels_last"}};
    EXPECT_EQ(convolutionProblem(last, {2, 9, 10, 3}, {4, 3, 3, 3}, {2, 7, 8, 4}), "");
    EXPECT_EQ(convolutionProblem({{"layout", "channels_last"}, {"transposed", true}, {"groups", 2}},
                                 {1, 5, 6}, {6, 3, 4}, {1, 7, 8}),
              "");
    EXPECT_MENTIONS(convolutionProblem(last, {2, 9, 10, 3}, {4, 3, 3, 3}, {2, 4, 7, 8}),
                    "'y' is [2, 4, 7, 8], but this convolution gives [2, 7, 8, 4]");
    EXPECT_MENTIONS(convolutionProblem(last, {2, 3, 9, 10}, {4, 3, 3, 3}, {2, 4, 7, 8}),
                    "steps[0].weight");
}

TEST(Resolve, ConvolutionMistakesAreNamed) {
    EXPECT_MENTIONS(convolutionProblem({}, {2, 3, 10}, {4, 3, 3}, {2, 4, 9}),
                    "steps[0].output: 'y' is [2, 4, 9], but this convolution gives [2, 4, 8]");
    EXPECT_MENTIONS(convolutionProblem({}, {2, 3, 10}, {4, 2, 3}, {2, 4, 8}),
                    "steps[0].weight: 'w' [4, 2, 3] does not go with the input's 3 channels");
    EXPECT_MENTIONS(convolutionProblem({{"stride", {1, 1}}}, {2, 3, 10}, {4, 3, 3}, {2, 4, 8}),
                    "steps[0].stride: has 2 entries; 'x' has 1 spatial dimension(s)");
    EXPECT_MENTIONS(convolutionProblem({}, {2, 3, 2}, {4, 3, 3}, {2, 4, 1}),
                    "the window of 3 is larger than the padded input");
    EXPECT_MENTIONS(convolutionProblem({{"output_padding", {1}}}, {2, 3, 10}, {4, 3, 3}, {2, 4, 8}),
                    "only a transposed convolution has one");
    EXPECT_MENTIONS(convolutionProblem({}, {2, 3}, {4, 3}, {2, 4}), "steps[0].input");
}

} // namespace
} // namespace cuda_agent::plan
