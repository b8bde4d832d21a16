// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// Elementwise operators, types, library steps and what cannot be done: each as the expression that
// PyTorch's definition of the operator says.

namespace cuda_agent::policy::graphs {
namespace {

TensorType f64(Shape shape) {
    return contiguousType(DType::float64, std::move(shape));
}
TensorType i32(Shape shape) {
    return contiguousType(DType::int32, std::move(shape));
}
TensorType bf16(Shape shape) {
    return contiguousType(DType::bfloat16, std::move(shape));
}

/// What the last store of a task writes.
std::string written(const task::Description &task) {
    const Program program = lowered(task);
    if (program.stores.empty())
        return {};
    const std::string text = textOf(program, program.stores.back());
    return text.substr(text.find(" = ") + 3);
}

/// An operator of tensors of these types, and numbers.
std::string written(const std::string &op, const TensorType &out,
                    const std::vector<TensorType> &inputs, std::vector<Json> more = {},
                    Json kwargs = Json::object()) {
    GraphWriter g;
    Json args = Json::array();
    for (const TensorType &type : inputs)
        args.push_back(g.input(type));
    for (Json &item : more)
        args.push_back(std::move(item));
    return written(g.returning({g.node("aten." + op, {out}, std::move(args), std::move(kwargs))}));
}

std::string problem(const std::string &op, const TensorType &out,
                    const std::vector<TensorType> &inputs, std::vector<Json> more = {}) {
    GraphWriter g;
    Json args = Json::array();
    for (const TensorType &type : inputs)
        args.push_back(g.input(type));
    for (Json &item : more)
        args.push_back(std::move(item));
    return problemOf(g.returning({g.node("aten." + op, {out}, std::move(args), Json::object())}));
}

const TensorType floats = f32({8}), doubles = f64({8}), halves = f16({8}), longs = i64({8}),
                 ints = i32({8}), truths = truth({8});

TEST(LoweringPointwise, ArithmeticOfTwoTensors) {
    EXPECT_EQ(written("add.Tensor", floats, {floats, floats}), "add(in0[i], in1[i])");
    EXPECT_EQ(written("add.Tensor", floats, {floats, floats}, {}, {{"alpha", 2}}),
              "add(in0[i], mul(in1[i], 2))");
    EXPECT_EQ(written("sub.Tensor", floats, {floats, floats}, {}, {{"alpha", -0.5}}),
              "sub(in0[i], mul(in1[i], -0.5))");
    EXPECT_EQ(written("rsub.Scalar", floats, {floats}, {1}), "sub(1, in0[i])");
    EXPECT_EQ(written("mul.Tensor", floats, {floats}, {2.5}), "mul(in0[i], 2.5)");
    EXPECT_EQ(written("add.Tensor", truths, {truths, truths}), "or(in0[i], in1[i])");
    EXPECT_EQ(written("maximum.default", longs, {longs, longs}), "imaximum(in0[i], in1[i])");
}

TEST(LoweringPointwise, DivisionRoundsAsAsked) {
    EXPECT_EQ(written("div.Tensor", floats, {floats, floats}), "div(in0[i], in1[i])");
    EXPECT_EQ(written("div.Tensor_mode", floats, {floats}, {3}, {{"rounding_mode", "floor"}}),
              "floordiv(in0[i], 3)");
    EXPECT_EQ(written("div.Tensor_mode", floats, {floats}, {3}, {{"rounding_mode", "trunc"}}),
              "truncdiv(in0[i], 3)");
    EXPECT_EQ(written("div.Tensor", floats, {longs, longs}),
              "div(float32(in0[i]), float32(in1[i]))");
}

TEST(LoweringPointwise, OperandsAreBroadcastByWhatTheyAreIndexedWith) {
    EXPECT_EQ(written("add.Tensor", f32({4, 5}), {f32({4, 5}), f32({5})}),
              "add(in0[i, j], in1[j])");
    EXPECT_EQ(written("mul.Tensor", f32({4, 5}), {f32({4, 1}), f32({1, 5})}),
              "mul(in0[i, 0], in1[0, j])");
    EXPECT_EQ(written("mul.Tensor", f32({4, 5}), {f32({5}), f32({4, 5})}),
              "mul(in0[j], in1[i, j])");
    EXPECT_EQ(written("mul.Tensor", f32({4, 5}), {f32({4, 5}), f32({})}), "mul(in0[i, j], in1[])");
}

TEST(LoweringPointwise, PairsOfNumbers) {
    EXPECT_EQ(written("hypot.default", floats, {floats, floats}), "hypot(in0[i], in1[i])");
    EXPECT_EQ(written("copysign.Tensor", floats, {floats, floats}), "copysign(in0[i], in1[i])");
    EXPECT_EQ(written("copysign.Scalar", floats, {longs}, {-2}), "copysign(float32(in0[i]), -2)");
    EXPECT_EQ(written("fmax.default", floats, {floats, floats}), "fmax(in0[i], in1[i])");
    EXPECT_EQ(written("fmin.default", longs, {longs, longs}), "iminimum(in0[i], in1[i])");
    EXPECT_EQ(written("exp2.default", floats, {longs}), "exp2(float32(in0[i]))");
    EXPECT_EQ(written("softshrink_backward.default", floats, {floats, floats}, {0.25}),
              "where(and(ge(in1[i], -0.25), le(in1[i], 0.25)), 0, in0[i])");
    EXPECT_EQ(written("special_modified_bessel_i0.default", floats, {floats}), "bessel_i0(in0[i])");
}

TEST(LoweringPointwise, PowersOfSmallExponentsAreProducts) {
    const auto power = [](const Json &exponent) {
        return written("pow.Tensor_Scalar", floats, {floats}, {exponent});
    };
    EXPECT_EQ(power(1), "in0[i]");
    EXPECT_EQ(power(2), "mul(in0[i], in0[i])");
    EXPECT_EQ(power(3), "mul(mul(in0[i], in0[i]), in0[i])");
    EXPECT_EQ(power(4), "mul(mul(in0[i], in0[i]), mul(in0[i], in0[i]))");
    EXPECT_EQ(power(-1), "reciprocal(in0[i])");
    EXPECT_EQ(power(-2), "reciprocal(mul(in0[i], in0[i]))");
    EXPECT_EQ(power(0.5), "sqrt(in0[i])");
    EXPECT_EQ(power(-0.5), "rsqrt(in0[i])");
    EXPECT_EQ(power(2.5), "pow(in0[i], 2.5)");
    EXPECT_EQ(power(5), "pow(in0[i], 5)");
    GraphWriter g;
    const Json x = g.input(floats);
    EXPECT_EQ(written(g.returning({g.op("pow.Scalar", floats, 2, x)})), "exp2(in0[i])");
    EXPECT_EQ(written(g.returning({g.op("pow.Scalar", floats, 3, x)})), "pow(3, in0[i])");
}

TEST(LoweringPointwise, APowerOfZeroIsOneEverywhere) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5}));
    const Program program = lowered(g.returning({g.op("pow.Tensor_Scalar", f32({4, 5}), x, 0)}));
    EXPECT_EQ(textOf(program), "out0[i, j] = 1\n");
}

TEST(LoweringPointwise, ClampsTakeTheBoundsThatAreGiven) {
    EXPECT_EQ(written("clamp.default", floats, {floats}, {-1, 1}),
              "clampmax(clampmin(in0[i], -1), 1)");
    EXPECT_EQ(written("clamp.default", floats, {floats}, {0}), "clampmin(in0[i], 0)");
    EXPECT_EQ(written("clamp.default", floats, {floats}, {nullptr, 6}), "clampmax(in0[i], 6)");
    EXPECT_EQ(written("clamp.default", floats, {floats}, {}, {{"max", 6}}), "clampmax(in0[i], 6)");
    EXPECT_EQ(written("clamp_max.default", floats, {floats}, {6}), "clampmax(in0[i], 6)");
    EXPECT_EQ(written("hardtanh.default", floats, {floats}), "clampmax(clampmin(in0[i], -1), 1)");
    // An element that is NaN wins over a bound; a bound that is NaN wins over an element.
    EXPECT_EQ(written("clamp.Tensor", floats, {floats, floats, floats}),
              "minimum(maximum(in0[i], in1[i]), in2[i])");
    EXPECT_EQ(written("clamp.default", floats, {longs}, {0.5}), "clampmin(float32(in0[i]), 0.5)");
}

TEST(LoweringPointwise, WhereTakesScalarsAndBroadcasts) {
    GraphWriter g;
    const Json x = g.input(f32({4, 5})), mask = g.input(truth({5}));
    const Json low = g.op("scalar_tensor.default", f32({}), -1e9);
    EXPECT_EQ(written(g.returning({g.op("where.self", f32({4, 5}), mask, low, x)})),
              "where(in1[j], -1e+09, in0[i, j])");
    const Json above = g.op("gt.Scalar", truth({4, 5}), x, 0);
    EXPECT_EQ(written(g.returning({g.op("where.self", f32({4, 5}), above, x, low)})),
              "where(gt(in0[i, j], 0), in0[i, j], -1e+09)");
    const Json infinite = g.op("full_like.default", f32({4, 5}), x, Json{{"float", "-inf"}});
    EXPECT_EQ(written(g.returning({g.op("where.self", f32({4, 5}), above, x, infinite)})),
              "where(gt(in0[i, j], 0), in0[i, j], -inf)");
}

TEST(LoweringPointwise, ComparisonsMeetInTheTypeThatPyTorchPromotesTo) {
    EXPECT_EQ(written("lt.Scalar", truths, {longs}, {2}), "lt(in0[i], 2)");
    EXPECT_EQ(written("lt.Scalar", truths, {longs}, {0.5}), "lt(float32(in0[i]), 0.5)");
    EXPECT_EQ(written("eq.Scalar", truths, {truths}, {2}), "eq(int64(in0[i]), 2)")
        << "true is not 2";
    EXPECT_EQ(written("lt.Tensor", truths, {ints, longs}), "lt(int64(in0[i]), in1[i])");
    EXPECT_EQ(written("lt.Scalar", truths, {ints}, {7}), "lt(in0[i], 7)");
    EXPECT_EQ(written("ge.Tensor", truths, {floats, doubles}), "ge(float64(in0[i]), in1[i])");
    EXPECT_EQ(written("ge.Tensor", truths, {floats, f64({})}), "ge(in0[i], float32(in1[]))");
    EXPECT_EQ(written("ge.Tensor", truths, {halves, floats}), "ge(in0[i], in1[i])");
    EXPECT_EQ(written("ne.Tensor", truths, {longs, halves}), "ne(float32(in0[i]), in1[i])");
}

TEST(LoweringPointwise, LogicIsOfTruthsAndBitsAreOfIntegers) {
    EXPECT_EQ(written("logical_and.default", truths, {floats, truths}),
              "and(bool(in0[i]), in1[i])");
    EXPECT_EQ(written("bitwise_and.Tensor", longs, {longs, longs}), "iand(in0[i], in1[i])");
    EXPECT_EQ(written("bitwise_not.default", truths, {truths}), "not(in0[i])");
    EXPECT_EQ(written("bitwise_not.default", longs, {longs}), "inot(in0[i])");
    EXPECT_EQ(written("logical_not.default", truths, {longs}), "not(bool(in0[i]))");
    EXPECT_EQ(written("isnan.default", truths, {longs}), "ne(in0[i], in0[i])")
        << "an integer is a number";
    EXPECT_EQ(written("relu.default", longs, {longs}), "imaximum(in0[i], 0)")
        << "not by way of float, which holds 24 bits";
}

TEST(LoweringPointwise, FormulasOfOneTensor) {
    EXPECT_EQ(written("gelu.default", floats, {floats}),
              "mul(mul(in0[i], 0.5), add(erf(mul(in0[i], 0.707107)), 1))");
    EXPECT_EQ(written("gelu.default", floats, {floats}, {}, {{"approximate", "tanh"}}),
              "mul(mul(in0[i], 0.5), add(tanh(mul(add(in0[i], "
              "mul(mul(mul(in0[i], in0[i]), in0[i]), 0.044715)), 0.797885)), 1))");
    EXPECT_EQ(written("leaky_relu.default", floats, {floats}, {0.2}),
              "where(gt(in0[i], 0), in0[i], mul(in0[i], 0.2))");
    EXPECT_EQ(written("elu.default", floats, {floats}, {1.5}),
              "where(le(in0[i], 0), mul(expm1(in0[i]), 1.5), in0[i])");
    EXPECT_EQ(written("softplus.default", floats, {floats}, {2, 10}),
              "where(gt(mul(in0[i], 2), 10), in0[i], mul(log1p(exp(mul(in0[i], 2))), 0.5))");
    EXPECT_EQ(written("hardswish.default", floats, {floats}),
              "mul(mul(in0[i], clampmax(clampmin(add(in0[i], 3), 0), 6)), 0.166667)");
    EXPECT_EQ(written("hardsigmoid.default", floats, {floats}),
              "mul(clampmax(clampmin(add(in0[i], 3), 0), 6), 0.166667)");
    EXPECT_EQ(written("log_sigmoid_forward.default", floats, {floats}),
              "sub(clampmax(in0[i], 0), log1p(exp(neg(abs(in0[i])))))");
}

TEST(LoweringTypes, HalvesComputeInFloatAndAreRoundedOnce) {
    EXPECT_EQ(written("mul.Tensor", halves, {halves}, {2}), "float16(mul(in0[i], 2))");
    EXPECT_EQ(written("mul.Tensor", floats, {halves, floats}), "mul(in0[i], in1[i])");
    EXPECT_EQ(written("exp.default", bf16({8}), {bf16({8})}), "bfloat16(exp(in0[i]))");
    GraphWriter g;
    const Json x = g.input(halves);
    const Json chain = g.op("exp.default", halves, g.op("neg.default", halves, x));
    EXPECT_EQ(written(g.returning({chain})), "float16(exp(neg(in0[i])))");
}

TEST(LoweringTypes, CopiesToATypeAreCasts) {
    const auto cast = [](const TensorType &to, const TensorType &from) {
        return written("_to_copy.default", to, {from});
    };
    EXPECT_EQ(cast(halves, floats), "float16(in0[i])");
    EXPECT_EQ(cast(floats, halves), "float32(in0[i])");
    EXPECT_EQ(cast(bf16({8}), floats), "bfloat16(in0[i])");
    EXPECT_EQ(cast(longs, floats), "int64(in0[i])");
    EXPECT_EQ(cast(truths, longs), "bool(in0[i])");
    EXPECT_EQ(cast(doubles, ints), "float64(in0[i])");
    EXPECT_EQ(cast(floats, floats), "in0[i]");
}

TEST(LoweringTypes, ConstantsAndPositionsHaveTheTypeOfTheResult) {
    GraphWriter g;
    const Json a =
        g.node("aten.arange.start_step", {f32({5})}, Json::array({2, 4.5, 0.5}), Json::object());
    EXPECT_EQ(written(g.returning({a})), "add(mul(float32(at(i)), 0.5), 2)");
    const Json plain = g.op("arange.default", i64({5}), 5);
    EXPECT_EQ(written(g.returning({plain})), "at(i)");
    EXPECT_EQ(written(g.returning({g.op("full.default", f32({2, 3}), Json{2, 3}, 7)})), "7");
    EXPECT_EQ(written(g.returning({g.op("arange.default", i64({1}), 1)})), "0");
    const Json x = g.input(floats), factor = g.scalar(3);
    EXPECT_EQ(written(g.returning({g.op("mul.Tensor", floats, x, factor)})), "mul(in0[i], 3)");
}

TEST(LoweringTypes, ParametersAreNamedAfterTheirKeys) {
    GraphWriter g;
    const Json x = g.input(floats), w = g.parameter("layers.0.weight", floats);
    const Program program = lowered(g.returning({g.op("mul.Tensor", floats, x, w)}));
    EXPECT_EQ(textOf(program), "out0[i] = mul(in0[i], p_layers_0_weight[i])\n");
    EXPECT_EQ(program.buffers[0].expressions, std::vector<std::string>{"in0.shape[0]"});
    EXPECT_EQ(program.buffers[1].expressions, std::vector<std::string>{"8"});
    EXPECT_EQ(program.buffers[2].expressions, std::vector<std::string>{"in0.shape[0]"})
        << "the output is as long as the input, whatever that is";
}

// --- library steps -------------------------------------------------------------------------------

TEST(LoweringLibrary, AProductIsAStepBetweenBuffers) {
    GraphWriter g;
    const Json a = g.input(f32({4, 6})), b = g.input(f32({6, 5}));
    const Program program = lowered(g.returning({g.op("mm.default", f32({4, 5}), a, b)}));
    ASSERT_EQ(program.library.size(), 1u);
    EXPECT_EQ(program.library[0].step, (Json{{"kind", "gemm"},
                                             {"a", "in0"},
                                             {"b", "in1"},
                                             {"c", "out0"},
                                             {"m", "in0.shape[0]"},
                                             {"n", "in1.shape[1]"},
                                             {"k", "in0.shape[1]"}}));
    EXPECT_TRUE(program.stores.empty()) << "the product is the output, nothing is copied";
    EXPECT_EQ(program.buffers[2].role, BufferRole::output);
}

TEST(LoweringLibrary, ATransposedOperandIsReadAsItLies) {
    GraphWriter g;
    const Json a = g.input(f32({4, 6})), b = g.input(f32({5, 6}));
    const Json t = g.op("permute.default", f32({6, 5}), b, Json{1, 0});
    const Program program = lowered(g.returning({g.op("mm.default", f32({4, 5}), a, t)}));
    ASSERT_EQ(program.library.size(), 1u);
    EXPECT_TRUE(program.library[0].step.value("transpose_b", false));
    EXPECT_FALSE(program.library[0].step.value("transpose_a", false));
    EXPECT_EQ(program.library[0].step.at("b"), "in1");
    EXPECT_EQ(program.library[0].step.at("n"), "in1.shape[0]");
}

TEST(LoweringLibrary, AComputedOperandIsWrittenFirstAndTheEpilogueReadsTheProduct) {
    GraphWriter g;
    const Json a = g.input(f32({4, 6})), w = g.parameter("w", f32({5, 6}));
    const Json bias = g.parameter("b", f32({5}));
    const Json e = g.op("neg.default", f32({4, 6}), a);
    const Json y = g.op("linear.default", f32({4, 5}), e, w, bias);
    const Program program = lowered(g.returning({g.op("relu.default", f32({4, 5}), y)}));
    EXPECT_EQ(textOf(program), "tmp0[i, j] = neg(in0[i, j])\n"
                               "out0[i, j] = relu(add(tmp1[i, j], p_b[j]))\n");
    EXPECT_EQ(program.library.at(0).step.at("a"), "tmp0");
    EXPECT_EQ(program.library.at(0).step.at("c"), "tmp1");
}

TEST(LoweringLibrary, AddmmScalesTheProductInTheStepAndTheRestAfterwards) {
    GraphWriter g;
    const Json c = g.input(f32({5})), a = g.input(f32({4, 6})), b = g.input(f32({6, 5}));
    const Json y = g.node("aten.addmm.default", {f32({4, 5})}, Json::array({c, a, b}),
                          {{"beta", 0.5}, {"alpha", 2}});
    EXPECT_EQ(written(g.returning({y})), "add(tmp0[i, j], mul(in0[j], 0.5))");
    EXPECT_EQ(lowered(g.returning({y})).library.at(0).step.at("alpha"), 2);
}

TEST(LoweringLibrary, AConvolutionAddsItsBiasByChannel) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3, 8, 8})), w = g.parameter("w", f32({4, 3, 3, 3}));
    const Json b = g.parameter("b", f32({4}));
    const Json y = g.op("convolution.default", f32({2, 4, 4, 4}), x, w, b, Json{2, 2}, Json{1, 1},
                        Json{1, 1}, false, Json{0, 0}, 1);
    const Program program = lowered(g.returning({y}));
    EXPECT_EQ(textOf(program), "out0[i, j, k, l] = add(tmp0[i, j, k, l], p_b[j])\n");
    const Json &step = program.library.at(0).step;
    EXPECT_EQ(step.at("kind"), "convolution");
    EXPECT_EQ(step.at("stride"), (Json{2, 2}));
    EXPECT_EQ(step.at("padding"), (Json{1, 1}));
    EXPECT_EQ(step.at("groups"), 1);
    EXPECT_FALSE(step.contains("transposed"));
}

TEST(LoweringLibrary, OneNumberOfAConvolutionGoesForAllDimensions) {
    GraphWriter g;
    const Json x = g.input(f32({2, 3, 8, 8})), w = g.parameter("w", f32({4, 3, 3, 3}));
    const Json y = g.op("convolution.default", f32({2, 4, 4, 4}), x, w, nullptr, Json{2}, Json{1},
                        Json{1}, false, Json{0}, 1);
    const Program program = lowered(g.returning({y}));
    const Json &step = program.library.at(0).step;
    EXPECT_EQ(step.at("stride"), (Json{2, 2}));
    EXPECT_EQ(step.at("padding"), (Json{1, 1}));
    EXPECT_EQ(step.at("dilation"), (Json{1, 1}));
}

// --- what cannot be done -------------------------------------------------------------------------

TEST(LoweringErrors, EveryUnknownOperatorIsNamedOnceAndItsUsersAreNotBlamed) {
    GraphWriter g;
    const Json x = g.input(floats);
    const Json a = g.op("digamma.default", floats, x);
    const Json b = g.op("exp.default", floats, a);
    const Json c = g.op("special_zeta.default", floats, b, 2);
    const Json d = g.op("digamma.default", floats, x);
    const Json e = g.op("add.Tensor", floats, c, d);
    EXPECT_EQ(problemOf(g.returning({e})),
              "the planner cannot do: aten.digamma.default, aten.special_zeta.default");
}

TEST(LoweringErrors, NodesThatNoOutputNeedsAreNoProblem) {
    GraphWriter g;
    const Json x = g.input(floats);
    g.op("digamma.default", floats, x);
    EXPECT_EQ(written(g.returning({g.op("exp.default", floats, x)})), "exp(in0[i])");
}

TEST(LoweringErrors, AnOperatorThatIsKnownSaysWhichFormOfItIsNot) {
    EXPECT_EQ(problem("exp.default", longs, {longs}),
              "the planner cannot do: aten.exp.default (of int64)");
    EXPECT_EQ(problem("mm.default", i64({4, 4}), {i64({4, 4}), i64({4, 4})}),
              "the planner cannot do: aten.mm.default (of int64)");
    EXPECT_EQ(
        problem("max_pool2d_with_indices.default", i64({1, 2, 2}), {i64({1, 4, 4})}, {Json{2, 2}}),
        "the planner cannot do: aten.max_pool2d_with_indices.default (of int64)");
    EXPECT_EQ(
        problem("adaptive_max_pool2d.default", f32({1, 2, 2}), {f32({1, 5, 4})}, {Json{2, 2}}),
        "the planner cannot do: aten.adaptive_max_pool2d.default (from 5 to 2 elements, "
        "whose windows differ in size)");
    EXPECT_EQ(problem("scatter.value", f32({4, 5}), {f32({4, 5})}, {1, Json{{"node", "n0"}}, 2}),
              "the planner cannot do: aten.scatter.value (with an index of more than one element "
              "along the dimension)");
    EXPECT_EQ(problem("exp.default", f32({0, 4}), {f32({0, 4})}),
              "the planner cannot do: aten.exp.default (of an empty tensor)");
}

/// x @ weight^T of halves, or of what `type` makes.
task::Description productOf(std::int64_t rows, std::int64_t depth, std::int64_t columns,
                            TensorType (*type)(Shape) = f16) {
    GraphWriter g;
    const Json x = g.input(type({rows, depth})), weight = g.input(type({columns, depth}));
    const Json turned = g.op("permute.default", type({depth, columns}), weight, Json{1, 0});
    return g.returning({g.op("mm.default", type({rows, columns}), x, turned)});
}

TEST(LoweringProducts, ADepthThatIsNoWholeVectorsGetsZerosBehindIt) {
    const auto task = productOf(300, 37, 256);
    const auto deeper = lower(task, {.deepen = true});
    ASSERT_TRUE(deeper) << deeper.error().message;
    ASSERT_EQ(deeper->library.size(), 1u);
    EXPECT_EQ(deeper->library[0].product->k, 40);
    EXPECT_EQ(deeper->library[0].product->a.pitch, 40);
    EXPECT_EQ(deeper->library[0].product->b.pitch, 40);
    const Memory memory{{"in0", scattered(300 * 37)}, {"in1", scattered(256 * 37)}};
    const Numbers plain = evaluate(fuse(lowered(task), {}), memory).at("out0");
    const Numbers same = evaluate(fuse(*deeper, {}), memory).at("out0");
    ASSERT_EQ(plain.size(), same.size());
    for (std::size_t i = 0; i < plain.size(); ++i)
        ASSERT_DOUBLE_EQ(plain[i], same[i]) << i;
}

TEST(LoweringProducts, OthersAreReadWhereTheyLie) {
    const auto depth = [](const task::Description &task, LoweringOptions options) {
        const auto program = lower(task, options);
        return program && program->library.size() == 1 ? program->library[0].product->k : 0;
    };
    const LoweringOptions deepen{.deepen = true};
    EXPECT_EQ(depth(productOf(300, 37, 256), {}), 37);
    EXPECT_EQ(depth(productOf(300, 48, 256), deepen), 48);
    EXPECT_EQ(depth(productOf(300, 37, 20), deepen), 37) << "copies would take longer";
    EXPECT_EQ(depth(productOf(300, 37, 256, f32), deepen), 37) << "no tensor cores";
    EXPECT_EQ(depth(productOf(600, 37, 2048, f32), {.tf32Gemm = true, .deepen = true}), 40);
}

TEST(LoweringProducts, LinesOfAResultThatAreNoWholeVectorsGetZerosBehindThem) {
    const auto task = productOf(300, 320, 37);
    const auto wider = lower(task, {.deepen = true, .widen = true});
    ASSERT_TRUE(wider) << wider.error().message;
    ASSERT_EQ(wider->library.size(), 1u);
    EXPECT_EQ(wider->library[0].product->n, 40);
    EXPECT_TRUE(wider->widened);
    const Memory memory{{"in0", scattered(300 * 320)}, {"in1", scattered(37 * 320)}};
    const Numbers plain = evaluate(fuse(lowered(task), {}), memory).at("out0");
    const Numbers same = evaluate(fuse(*wider, {}), memory).at("out0");
    ASSERT_EQ(plain.size(), 300u * 37);
    EXPECT_EQ(plain, same);
    const auto width = [](const task::Description &other) {
        const auto program = lower(other, {.widen = true});
        return program && program->library.size() == 1 ? program->library[0].product->n : 0;
    };
    EXPECT_EQ(width(productOf(300, 320, 48)), 48);
    EXPECT_EQ(width(productOf(300, 64, 37)), 37) << "copies would take longer";
    EXPECT_EQ(width(productOf(300, 320, 37, f32)), 37) << "no tensor cores";
}

TEST(LoweringErrors, AResultOfAnotherShapeThanTheGraphSaysIsRefused) {
    EXPECT_EQ(problem("exp.default", f32({4}), {f32({5})}),
              "the planner cannot do: aten.exp.default (gives shape [5] for [4])");
}

TEST(LoweringErrors, ATaskWithoutAGraphSaysWhy) {
    task::Description task;
    task.graphProblem = "data-dependent control flow";
    EXPECT_EQ(problemOf(task), "the planner cannot do this task: it has no operator graph "
                               "(data-dependent control flow)");
}

} // namespace
} // namespace cuda_agent::policy::graphs
