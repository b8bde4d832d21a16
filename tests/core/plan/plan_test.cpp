// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/plan/plan_fixture.h"

#include <cmath>

namespace cuda_agent::plan {
namespace {

TEST(Plan, ReadsEveryField) {
    const auto plan = planFromJson(examplePlan());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->name, "row softmax");
    ASSERT_EQ(plan->buffers.size(), 4u);
    EXPECT_EQ(plan->buffers[0].role, Role::input);
    EXPECT_EQ(plan->buffers[1].key, "ln.weight");
    EXPECT_EQ(plan->buffers[2].shape[1].text(), "N");
    ASSERT_EQ(plan->steps.size(), 3u);
    const auto &kernel = std::get<KernelStep>(plan->steps[1]);
    EXPECT_EQ(kernel.entry, "softmax_rows");
    EXPECT_EQ(kernel.shared.text(), "N*4");
    ASSERT_EQ(kernel.arguments.size(), 7u);
    EXPECT_EQ(kernel.arguments[4].kind, Argument::Kind::int64);
    EXPECT_DOUBLE_EQ(kernel.arguments[5].number, 1e-5);
    EXPECT_EQ(kernel.arguments[6].scalar, "in1");
    EXPECT_EQ(std::get<GemmStep>(plan->steps[2]).b, "w");
    EXPECT_EQ(plan->defines.at("VEC"), "4");
    EXPECT_EQ(plan->sources(), std::vector<std::string>{"kernels/softmax.cu"});
    EXPECT_EQ(plan->find("nothing"), nullptr);
}

TEST(Plan, SymbolsAreSortedByUse) {
    const auto plan = planFromJson(examplePlan());
    ASSERT_TRUE(plan);
    std::vector<std::string> order;
    for (const auto &symbol : plan->symbols)
        order.push_back(symbol.first);
    const auto at = [&](const char *name) {
        return std::find(order.begin(), order.end(), name) - order.begin();
    };
    EXPECT_EQ(order.size(), 4u);
    EXPECT_GT(at("BLOCKS"), at("R"));
    EXPECT_GT(at("BLOCKS"), at("ROWS"));
}

TEST(Plan, WritesWhatItReads) {
    const auto plan = planFromJson(examplePlan());
    ASSERT_TRUE(plan);
    const Json written = toJson(*plan);
    const auto again = planFromJson(written);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(toJson(*again), written);
    EXPECT_EQ(written["buffers"], examplePlan()["buffers"]);
    EXPECT_EQ(written["steps"][1]["args"], examplePlan()["steps"][1]["args"]);
    EXPECT_EQ(written["steps"][2]["lda"], "(N)");
}

TEST(Plan, NonFiniteNumbersHaveNames) {
    auto json = examplePlan();
    json["steps"][0]["value"] = "-inf";
    json["steps"][1]["args"][5] = {{"float32", "nan"}};
    const auto plan = planFromJson(json);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(std::get<FillStep>(plan->steps[0]).value, -INFINITY);
    EXPECT_TRUE(std::isnan(std::get<KernelStep>(plan->steps[1]).arguments[5].number));
    EXPECT_EQ(toJson(*plan)["steps"][0]["value"], "-inf");
}

struct BadPlan {
    const char *label;
    const char *pointer; ///< the place that is replaced
    const char *value;   ///< JSON; empty: the place is removed
    const char *message; ///< that must occur in the error
};

class BadPlans : public testing::TestWithParam<BadPlan> {};

TEST_P(BadPlans, AreRefusedByField) {
    auto json = examplePlan();
    const Json::json_pointer place(GetParam().pointer);
    if (*GetParam().value == '\0')
        json[place.parent_pointer()].erase(place.back());
    else
        json[place] = Json::parse(GetParam().value);
    EXPECT_MENTIONS(parseProblem(json), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Plan, BadPlans,
    testing::Values(
        BadPlan{"Version", "/version", "2", "version: this program reads plans of version 1"},
        BadPlan{"NoVersion", "/version", "", "version: missing"},
        BadPlan{"UnknownField", "/grid", "1", "plan: the field 'grid' is not known here"},
        BadPlan{"UnknownStepField", "/steps/1/threads", "256",
                "steps[1]: the field 'threads' is not known here; known are kind, source"},
        BadPlan{"UnknownArgumentField", "/steps/1/args/0/offset", "4", "steps[1].args[0]"},
        BadPlan{"UnknownBufferField", "/buffers/0/stride", "4", "buffers[0]: the field 'stride'"},
        BadPlan{"UnknownBuffer", "/steps/1/args/1/buffer", "\"tmp2\"",
                "steps[1].args[1].buffer: no buffer is called 'tmp2'; the plan has in0, w, out0, "
                "part"},
        BadPlan{"DuplicateName", "/buffers/3/name", "\"in0\"",
                "buffers[3].name: 'in0' is already buffers[0]"},
        BadPlan{"DuplicateIndex", "/buffers/1", R"({"name": "x", "role": "input", "index": 0})",
                "buffers[1].index: 0 is already the index of 'in0'"},
        BadPlan{"BadRole", "/buffers/3/role", "\"temp\"",
                "buffers[3].role: 'temp' must be one of input, parameter, output, scratch"},
        BadPlan{"BadDtype", "/buffers/2/dtype", "\"float8\"", "buffers[2].dtype: 'float8'"},
        BadPlan{"NoDtype", "/buffers/3/dtype", "", "buffers[3].dtype: missing"},
        BadPlan{"NoShape", "/buffers/3/shape", "", "buffers[3].shape: missing"},
        BadPlan{"NoIndex", "/buffers/0/index", "", "buffers[0].index: missing"},
        BadPlan{"NoKey", "/buffers/1/key", "", "buffers[1].key: missing"},
        BadPlan{"BadName", "/buffers/0/name", "\"a b\"", "buffers[0].name: 'a b'"},
        BadPlan{"BadAlignment", "/buffers/0/alignment", "12", "buffers[0].alignment: 12"},
        BadPlan{"BadOrder", "/buffers/0/order", "[0, 2]",
                "buffers[0].order: must name each dimension of the tensor once"},
        BadPlan{"OrderOfAParameter", "/buffers/1/order", "[1, 0]",
                "buffers[1].order: only inputs and outputs have an order"},
        BadPlan{"BadEntry", "/steps/1/entry", "\"a;b\"", "steps[1].entry: 'a;b' must be a name"},
        BadPlan{"SourceOutside", "/steps/1/source", "\"kernels/../../x.cu\"",
                "must stay inside the candidate's folder"},
        BadPlan{"SourceAbsolute", "/steps/1/source", "\"/etc/x.cu\"", "must be relative"},
        BadPlan{"SourceNoKernel", "/steps/1/source", "\"plan.json\"", "must be a .cu file"},
        BadPlan{"SourceCharacters", "/steps/1/source", "\"a b.cu\"", "steps[1].source"},
        BadPlan{"UnknownSymbol", "/steps/1/grid/0", "\"cdiv(M, 2)\"",
                "steps[1].grid[0]: there is no symbol 'M'; the plan has"},
        BadPlan{"ScratchShapeInExpression", "/steps/1/grid/0", "\"part.numel\"",
                "only inputs and parameters have a shape"},
        BadPlan{"UnknownShape", "/symbols/R", "\"in7.shape[0]\"",
                "symbols.R: 'in7.shape[0]' reads a buffer that does not exist"},
        BadPlan{"BadExpression", "/symbols/R", "\"in0.shape[0] +\"", "symbols.R: 'in0.shape[0] +'"},
        BadPlan{"Fraction", "/steps/1/block/0", "2.5", "steps[1].block[0]: 2.5 must be a whole"},
        BadPlan{"Circle", "/symbols/ROWS", "\"BLOCKS\"",
                "symbols: BLOCKS, ROWS depend on each other in a circle"},
        BadPlan{"SymbolName", "/symbols/min", "1", "symbols: 'min' cannot be a name"},
        BadPlan{"BigCluster", "/steps/1/cluster", "[8, 4, 1]", "a cluster of 32 blocks"},
        BadPlan{"ClusterEntry", "/steps/1/cluster", "[17, 1, 1]", "steps[1].cluster[0]: 17"},
        BadPlan{"FourGrid", "/steps/1/grid", "[1, 1, 1, 1]", "steps[1].grid: has 4 entries"},
        BadPlan{"NoGrid", "/steps/1/grid", "", "steps[1].grid: missing"},
        BadPlan{"StepKind", "/steps/0/kind", "\"softmax\"",
                "steps[0].kind: must be one of kernel, gemm, convolution, fill"},
        BadPlan{"BadLayout", "/steps/2",
                R"({"kind": "convolution", "input": "in0", "weight": "w", "output": "out0",
                    "layout": "NHWC"})",
                "steps[2].layout: must be \"channels_first\" or \"channels_last\""},
        BadPlan{"NoSteps", "/steps", "[]", "steps: a plan needs at least one step"},
        BadPlan{"TwoArgumentKinds", "/steps/1/args/3", R"({"int32": 1, "int64": 1})",
                "give exactly one of"},
        BadPlan{"WrittenInput", "/steps/0/buffer", "\"in0\"",
                "steps[0].buffer: 'in0' is written here"},
        BadPlan{"GemmInPlace", "/steps/2/a", "\"out0\"", "steps[2].c: 'out0' is also read"},
        BadPlan{"GemmCompute", "/steps/2/compute", "\"fp8\"", "steps[2].compute: 'fp8'"},
        BadPlan{"DefineName", "/defines/A-B", "\"1\"", "defines: 'A-B' cannot be a macro name"},
        BadPlan{"DefineText", "/defines/A", "\"1\\n2\"", "defines.A: must be at most"}),
    [](const auto &each) { return std::string(each.param.label); });

TEST(Plan, EveryOutputMustBeWritten) {
    auto json = examplePlan();
    json["steps"].erase(2);
    json["steps"][1]["args"].erase(1);
    EXPECT_MENTIONS(parseProblem(json), "buffers[2]: no step writes the output 'out0'");
}

TEST(Plan, AnythingButAnObjectIsRefused) {
    EXPECT_MENTIONS(parseProblem(Json::array()), "plan: [] must be an object");
    EXPECT_MENTIONS(parseProblem(nullptr), "must be an object");
    auto json = examplePlan();
    json["steps"][0] = 5;
    EXPECT_MENTIONS(parseProblem(json), "steps[0]: must be an object");
}

TEST(Plan, HugePlansAreRefused) {
    auto json = examplePlan();
    for (int i = 0; i < 2100; ++i)
        json["steps"].push_back(json["steps"][0]);
    EXPECT_MENTIONS(parseProblem(json), "steps: has 2103 entries; at most 2048 are allowed");
}

} // namespace
} // namespace cuda_agent::plan
