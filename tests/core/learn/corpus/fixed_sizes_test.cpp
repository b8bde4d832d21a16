// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/fixed_sizes.h"

#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

plan::Signature signature() {
    plan::Signature result;
    result.inputs = {contiguousType(DType::float32, {963, 16, 32}),
                     contiguousType(DType::float32, {})};
    result.parameters["norm.weight"] = contiguousType(DType::float32, {32});
    result.outputs = {contiguousType(DType::float32, {963, 16})};
    return result;
}

Json general() {
    return parseJson(R"json({"version": 1,
        "buffers": [{"name": "in0", "role": "input", "index": 0},
                    {"name": "in1", "role": "input", "index": 1},
                    {"name": "p_w", "role": "parameter", "key": "norm.weight"},
                    {"name": "tmp0", "role": "scratch", "dtype": "float32",
                     "shape": ["in0.shape[0] * in0.shape[1]", 2, "(in0.shape[0] * 16 / 963)"]},
                    {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
                     "shape": ["in0.shape[0]", "in0.shape[-2]"]}],
        "requires": ["in0.shape[2] == 32", "p_w.shape[0] == 32"],
        "steps": [{"kind": "kernel", "source": "kernels/fused.cu", "entry": "map0",
                   "grid": ["(in0.shape[0] * in0.shape[1] / 2) * cdiv(in0.shape[2], 32)"],
                   "block": [128],
                   "args": [{"buffer": "in0"}, {"buffer": "in1"}, {"buffer": "p_w"},
                            {"buffer": "tmp0"}, {"buffer": "out0"},
                            {"int64": "in0.shape[0] * p_w.shape[0]"}]}]})json",
                     "plan")
        .value();
}

TEST(CorpusFixedSizes, NamesOfDimensionsAreTheTasksNumbers) {
    const auto plan = withFixedSizes(general(), signature());
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_FALSE(plan->contains("requires")) << "what inputs declare says it";
    const auto &buffers = plan->at("buffers");
    EXPECT_EQ(buffers[0]["shape"], Json({963, 16, 32}));
    EXPECT_EQ(buffers[1]["shape"], Json::array());
    EXPECT_FALSE(buffers[2].contains("shape")) << "a parameter has one shape anyway";
    EXPECT_EQ(buffers[3]["shape"], Json({15408, 2, 16}));
    EXPECT_EQ(buffers[4]["shape"], Json({963, 16}));
    const auto &step = plan->at("steps")[0];
    EXPECT_EQ(step["grid"], Json({"7704 * cdiv(32, 32)"}));
    EXPECT_EQ(step["block"], Json({128}));
    EXPECT_EQ(step["args"][5]["int64"], "963 * 32");
    EXPECT_EQ(step["entry"], "map0");
}

TEST(CorpusFixedSizes, IsAPlanForThatTaskAloneAndLaunchesTheSame) {
    const auto fixed = withFixedSizes(general(), signature()).value();
    const auto one = plan::planFromJson(general()).value(),
               other = plan::planFromJson(fixed).value();
    const auto before = plan::resolve(one, signature()), after = plan::resolve(other, signature());
    ASSERT_TRUE(before) << before.error().message;
    ASSERT_TRUE(after) << after.error().message;
    auto wider = signature();
    wider.inputs[0] = contiguousType(DType::float32, {964, 16, 32});
    wider.outputs[0] = contiguousType(DType::float32, {964, 16});
    EXPECT_TRUE(plan::resolve(one, wider));
    const auto refused = plan::resolve(other, wider);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("the plan is for"), std::string::npos);
}

TEST(CorpusFixedSizes, RefusesABufferThatTheTaskDoesNotHave) {
    auto plan = general();
    plan["buffers"][1]["index"] = 7;
    EXPECT_FALSE(withFixedSizes(plan, signature()));
    plan = general();
    plan["buffers"][2]["key"] = "norm.bias";
    EXPECT_FALSE(withFixedSizes(plan, signature()));
}

} // namespace
} // namespace cuda_agent::learn
