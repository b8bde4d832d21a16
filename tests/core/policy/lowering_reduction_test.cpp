// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

#include <cmath>

// Reductions, softmax and normalisations: the sums they become, and over which axes.

namespace cuda_agent::policy::graphs {
namespace {

/// What the first store of a task writes.
std::string written(const task::Description &task) {
    const std::string text = textOf(lowered(task));
    return text.substr(0, text.find('\n'));
}

std::string reduced(const std::string &op, const TensorType &out, const TensorType &in,
                    std::vector<Json> more = {}, Json kwargs = Json::object()) {
    GraphWriter g;
    Json args = Json::array({g.input(in)});
    for (Json &item : more)
        args.push_back(std::move(item));
    return written(g.returning({g.node("aten." + op, {out}, std::move(args), std::move(kwargs))}));
}

const TensorType matrix = f32({4, 5}), cube = f32({2, 3, 4});

TEST(LoweringReduction, SumsGoOverTheNamedDimensions) {
    EXPECT_EQ(reduced("sum.default", f32({}), matrix), "out0[] = sum[(i j)](in0[i, j])");
    EXPECT_EQ(reduced("sum.dim_IntList", f32({4}), matrix, {Json{-1}}),
              "out0[i] = sum[j](in0[i, j])");
    EXPECT_EQ(reduced("sum.dim_IntList", f32({1, 5}), matrix, {Json{0}, true}),
              "out0[0, i] = sum[j](in0[j, i])");
    EXPECT_EQ(reduced("sum.dim_IntList", f32({3}), cube, {Json{2, 0}}),
              "out0[i] = sum[(j k)](in0[j, i, k])");
    EXPECT_EQ(reduced("sum.dim_IntList", f32({}), matrix, {Json::array()}),
              "out0[] = sum[(i j)](in0[i, j])")
        << "an empty list of dimensions is all of them";
}

TEST(LoweringReduction, IntegersAddUpAsInt64AndHalvesAsFloat) {
    EXPECT_EQ(reduced("sum.default", i64({}), truth({8})), "out0[] = sum[i](int64(in0[i]))");
    EXPECT_EQ(reduced("sum.default", f16({}), f16({8})), "out0[] = float16(sum[i](in0[i]))");
    EXPECT_EQ(reduced("sum.default", f32({}), i64({8}), {}, {{"dtype", {{"dtype", "float32"}}}}),
              "out0[] = sum[i](float32(in0[i]))");
}

TEST(LoweringReduction, AMeanDividesByTheNumberOfElements) {
    EXPECT_EQ(reduced("mean.dim", f32({4, 1}), matrix, {Json{1}, true}),
              "out0[i, 0] = div(sum[j](in0[i, j]), count(j))");
    EXPECT_EQ(reduced("mean.default", f32({}), matrix),
              "out0[] = div(sum[(i j)](in0[i, j]), count((i j)))");
    EXPECT_EQ(reduced("mean.dim", f16({4}), f16({4, 5}), {Json{1}}),
              "out0[i] = float16(div(sum[j](in0[i, j]), count(j)))");
}

TEST(LoweringReduction, SizesThatTheGraphHasAsNumbersAreRequired) {
    const auto required = [](const std::string &op, const Json &number) {
        GraphWriter g;
        const Json x = g.input(f32({32, 5}));
        const Json sum = g.op("sum.dim_IntList", f32({5}), x, Json{0});
        return lowered(g.returning({g.op(op, f32({5}), sum, number)})).requirements;
    };
    using Strings = std::vector<std::string>;
    EXPECT_EQ(required("div.Tensor", 32), Strings{"in0.shape[0] == 32"}); // sum / x.size(0)
    EXPECT_EQ(required("mul.Tensor", 1.0 / 32), Strings{"in0.shape[0] == 32"});
    EXPECT_EQ(required("mul.Tensor", 1 / std::sqrt(32.0)), Strings{"in0.shape[0] == 32"});
    EXPECT_EQ(required("add.Tensor", 160), (Strings{"in0.shape[0] == 32", "in0.shape[1] == 5"}))
        << "x.numel()";
    EXPECT_EQ(required("div.Tensor", 31), Strings{});
    EXPECT_EQ(required("mul.Tensor", 0.2), Strings{}) << "one over 5 is often met by chance";
}

TEST(LoweringReduction, ExtremesAndTheirPlaces) {
    EXPECT_EQ(reduced("amax.default", f32({5}), matrix, {Json{0}}), "out0[i] = max[j](in0[j, i])");
    EXPECT_EQ(reduced("amin.default", f32({}), matrix), "out0[] = min[(i j)](in0[i, j])");
    EXPECT_EQ(reduced("argmax.default", i64({}), matrix), "out0[] = argmax[(i j)](in0[i, j])")
        << "the place in the flattened tensor";
    EXPECT_EQ(reduced("argmin.default", i64({4}), matrix, {-1}), "out0[i] = argmin[j](in0[i, j])");
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json pair =
        g.node("aten.max.dim", {f32({4}), i64({4})}, Json::array({x, 1}), Json::object());
    const auto task = g.returning({g.item(pair, 0, f32({4})), g.item(pair, 1, i64({4}))});
    EXPECT_EQ(textOf(lowered(task)), "out0[i] = max[j](in0[i, j])\n"
                                     "out1[i] = argmax[j](in0[i, j])\n");
}

TEST(LoweringReduction, ADimensionOfOneElementIsThatElement) {
    EXPECT_EQ(reduced("sum.dim_IntList", f32({4}), f32({4, 1}), {Json{1}}), "out0[i] = in0[i, 0]");
    EXPECT_EQ(reduced("mean.dim", f32({4}), f32({4, 1}), {Json{1}}),
              "out0[i] = div(in0[i, 0], count())");
    EXPECT_EQ(reduced("argmax.default", i64({4}), f32({4, 1}), {1}), "out0[i] = 0");
    EXPECT_EQ(reduced("any.dim", truth({4}), f32({4, 1}), {1}), "out0[i] = bool(in0[i, 0])");
}

TEST(LoweringReduction, TruthOfNumbers) {
    EXPECT_EQ(reduced("any.dim", truth({4}), matrix, {1}), "out0[i] = any[j](bool(in0[i, j]))");
    EXPECT_EQ(reduced("all.default", truth({}), truth({8})), "out0[] = all[i](in0[i])");
}

TEST(LoweringReduction, VarianceIsTheSumOfSquaredDistances) {
    const std::string distance = "sub(in0[i, j], div(sum[j](in0[i, j]), count(j)))";
    const std::string squares = "sum[j](mul(" + distance + ", " + distance + "))";
    EXPECT_EQ(reduced("var.correction", f32({4}), matrix, {Json{1}}),
              "out0[i] = div(" + squares + ", sub(count(j), 1))");
    EXPECT_EQ(reduced("var.correction", f32({4, 1}), matrix, {Json{1}},
                      {{"correction", 0}, {"keepdim", true}}),
              "out0[i, 0] = div(" + squares + ", count(j))");
    EXPECT_EQ(reduced("std.correction", f32({4}), matrix, {Json{1}}, {{"correction", 2}}),
              "out0[i] = sqrt(div(" + squares + ", sub(count(j), 2)))");
    EXPECT_EQ(reduced("var.dim", f32({4}), matrix, {Json{1}, false}),
              "out0[i] = div(" + squares + ", count(j))");
}

TEST(LoweringReduction, NormsOfEveryOrder) {
    const auto norm = [](const Json &order) {
        return reduced("linalg_vector_norm.default", f32({4}), matrix, {order, Json{1}});
    };
    EXPECT_EQ(norm(2), "out0[i] = sqrt(sum[j](mul(in0[i, j], in0[i, j])))");
    EXPECT_EQ(norm(1), "out0[i] = sum[j](abs(in0[i, j]))");
    EXPECT_EQ(norm(Json{{"float", "inf"}}), "out0[i] = max[j](abs(in0[i, j]))");
    EXPECT_EQ(norm(Json{{"float", "-inf"}}), "out0[i] = min[j](abs(in0[i, j]))");
    EXPECT_EQ(norm(0), "out0[i] = sum[j](float32(ne(in0[i, j], 0)))");
    EXPECT_EQ(norm(3), "out0[i] = pow(sum[j](mul(mul(abs(in0[i, j]), abs(in0[i, j])), "
                       "abs(in0[i, j]))), 0.333333)");
    EXPECT_EQ(norm(5), "out0[i] = pow(sum[j](pow(abs(in0[i, j]), 5)), 0.2)");
}

TEST(LoweringReduction, GatherOfOneElementOfAReducedRowIsASum) {
    GraphWriter g;
    const Json x = g.input(matrix), at = g.input(i64({4, 1}));
    const Json largest = g.op("amax.default", f32({4, 1}), x, Json{1}, true);
    const Json below = g.op("sub.Tensor", matrix, x, largest);
    const auto task = g.returning({g.op("gather.default", f32({4, 1}), below, 1, at)});
    EXPECT_EQ(textOf(lowered(task)),
              "out0[i, 0] = sum[j](where(eq(at(j), in1[i, 0]), sub(in0[i, j], max[j](in0[i, j])), "
              "0))\n");
    Memory memory = evaluate(lowered(task), {{"in0", positions(20)}, {"in1", {4, 0, 2, 3}}});
    EXPECT_EQ(memory["out0"], (Numbers{0, -4, -2, -1}));
}

TEST(LoweringReduction, GatherOfHalvesAddsAsFloat) {
    GraphWriter g;
    const Json x = g.input(f16({4, 5})), at = g.input(i64({4, 1}));
    const Json sums = g.op("sum.dim_IntList", f16({4, 1}), x, Json{1}, true);
    const Json below = g.op("sub.Tensor", f16({4, 5}), x, sums);
    const Program program =
        lowered(g.returning({g.op("gather.default", f16({4, 1}), below, 1, at)}));
    for (const Value &value : program.values) {
        if (value.kind == Kind::reduce) {
            EXPECT_EQ(value.dtype, DType::float32);
        }
    }
}

// --- softmax -------------------------------------------------------------------------------------

TEST(LoweringSoftmax, RowsAreShiftedByTheirMaximum) {
    const std::string shifted = "sub(in0[i, j], max[j](in0[i, j]))";
    EXPECT_EQ(reduced("_softmax.default", matrix, matrix, {1, false}),
              "out0[i, j] = div(exp(" + shifted + "), sum[j](exp(" + shifted + ")))");
    EXPECT_EQ(reduced("_log_softmax.default", matrix, matrix, {-1, false}),
              "out0[i, j] = sub(" + shifted + ", log(sum[j](exp(" + shifted + "))))");
}

TEST(LoweringSoftmax, AMiddleDimensionIsTheOneThatIsReduced) {
    const std::string power = "exp(sub(in0[i, j, k], max[j](in0[i, j, k])))";
    EXPECT_EQ(reduced("_softmax.default", cube, cube, {1, false}),
              "out0[i, j, k] = div(" + power + ", sum[j](" + power + "))");
}

TEST(LoweringSoftmax, HalvesBecomeFloatInside) {
    const std::string power = "exp(sub(in0[i, j], max[j](in0[i, j])))";
    const std::string all = "div(" + power + ", sum[j](" + power + "))";
    EXPECT_EQ(reduced("_softmax.default", f16({4, 5}), f16({4, 5}), {1, false}),
              "out0[i, j] = float16(" + all + ")");
    EXPECT_EQ(reduced("_softmax.default", matrix, f16({4, 5}), {1, true}), "out0[i, j] = " + all);
}

TEST(LoweringSoftmax, OfOneNumberAndOfOneElement) {
    EXPECT_EQ(reduced("_softmax.default", f32({}), f32({}), {-1, false}), "out0[] = 1");
    EXPECT_EQ(reduced("_log_softmax.default", f32({}), f32({}), {-1, false}), "out0[] = 0");
    EXPECT_EQ(reduced("_softmax.default", f32({4, 1}), f32({4, 1}), {1, false}),
              "out0[i, 0] = div(exp(sub(in0[i, 0], in0[i, 0])), exp(sub(in0[i, 0], in0[i, 0])))");
}

TEST(LoweringSoftmax, LogSumExpOfAnInfiniteRowIsThatInfinity) {
    const std::string largest = "max[j](in0[i, j])";
    EXPECT_EQ(reduced("logsumexp.default", f32({4}), matrix, {Json{1}}),
              "out0[i] = where(isinf(" + largest + "), " + largest +
                  ", add(log(sum[j](exp(sub("
                  "in0[i, j], " +
                  largest + ")))), " + largest + "))");
    GraphWriter g;
    const Json x = g.input(f32({3, 2}));
    const auto task = g.returning({g.op("logsumexp.default", f32({3}), x, Json{1})});
    Memory memory = evaluate(lowered(task), {{"in0", {-INFINITY, -INFINITY, INFINITY, 1, 0, 0}}});
    EXPECT_EQ(memory["out0"], (Numbers{-INFINITY, INFINITY, std::log(2.0)}));
}

// --- normalisations ------------------------------------------------------------------------------

TEST(LoweringNormalisation, LayerNormScalesByTheRowAndThenByElement) {
    const std::string distance = "sub(in0[i, j], div(sum[j](in0[i, j]), count(j)))";
    const std::string scale =
        "rsqrt(add(div(sum[j](mul(" + distance + ", " + distance + ")), count(j)), 1e-05))";
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json w = g.parameter("w", f32({5})), b = g.parameter("b", f32({5}));
    const auto normalise = [&](const Json &weight, const Json &bias) {
        return g.node("aten.native_layer_norm.default", {matrix, f32({4, 1}), f32({4, 1})},
                      Json::array({x, Json{5}, weight, bias, 1e-5}), Json::object());
    };
    const Json affine = g.item(normalise(w, b), 0, matrix);
    EXPECT_EQ(written(g.returning({affine})),
              "out0[i, j] = add(mul(mul(" + distance + ", " + scale + "), p_w[j]), p_b[j])");
    const Json plain = normalise(nullptr, nullptr);
    const auto task = g.returning(
        {g.item(plain, 0, matrix), g.item(plain, 1, f32({4, 1})), g.item(plain, 2, f32({4, 1}))});
    EXPECT_EQ(textOf(lowered(task)), "out0[i, j] = mul(" + distance + ", " + scale + ")\n" +
                                         "out1[i, 0] = div(sum[j](in0[i, j]), count(j))\n" +
                                         "out2[i, 0] = " + scale + "\n");
}

TEST(LoweringNormalisation, LayerNormOverTwoDimensions) {
    GraphWriter g;
    const Json x = g.input(cube), w = g.parameter("w", f32({3, 4}));
    const Json n = g.node("aten.native_layer_norm.default", {cube, f32({2, 1, 1}), f32({2, 1, 1})},
                          Json::array({x, Json{3, 4}, w, nullptr, 1e-5}), Json::object());
    const std::string text = written(g.returning({g.item(n, 0, cube)}));
    EXPECT_NE(text.find("sum[(j k)](in0[i, j, k])"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with(", p_w[j, k])")) << text;
}

TEST(LoweringNormalisation, GroupNormReducesOverTheChannelsOfAGroup) {
    const TensorType type = f32({2, 6, 3});
    GraphWriter g;
    const Json x = g.input(type), w = g.parameter("w", f32({6})), b = g.parameter("b", f32({6}));
    const Json n = g.node("aten.native_group_norm.default", {type, f32({2, 2}), f32({2, 2})},
                          Json::array({x, w, b, 2, 6, 3, 2, 1e-5}), Json::object());
    const std::string load = "in0[i, (j k), l]";
    const std::string distance = "sub(" + load + ", div(sum[(k l)](" + load + "), count((k l))))";
    const std::string scale =
        "rsqrt(add(div(sum[(k l)](mul(" + distance + ", " + distance + ")), count((k l))), 1e-05))";
    EXPECT_EQ(written(g.returning({g.item(n, 0, type)})), "out0[i, (j k), l] = add(mul(mul(" +
                                                              distance + ", " + scale +
                                                              "), p_w[(j k)]), p_b[(j k)])");
    EXPECT_EQ(written(g.returning({g.item(n, 1, f32({2, 2}))})),
              "out0[i, j] = div(sum[(k l)](" + load + "), count((k l)))");
}

TEST(LoweringNormalisation, BatchNormWithGivenStatisticsIsElementwise) {
    GraphWriter g;
    const Json x = g.input(cube);
    const Json w = g.parameter("w", f32({3})), b = g.parameter("b", f32({3}));
    const Json m = g.parameter("m", f32({3})), v = g.parameter("v", f32({3}));
    const Json n =
        g.node("aten._native_batch_norm_legit_no_training.default", {cube, f32({0}), f32({0})},
               Json::array({x, w, b, m, v, 0.1, 1e-3}), Json::object());
    EXPECT_EQ(written(g.returning({g.item(n, 0, cube)})),
              "out0[i, j, k] = add(mul(mul(sub(in0[i, j, k], p_m[j]), rsqrt(add(p_v[j], 0.001))), "
              "p_w[j]), p_b[j])");
    const Json training = g.node("aten.native_batch_norm.default", {cube, f32({3}), f32({3})},
                                 Json::array({x, w, b, m, v, true, 0.1, 1e-3}), Json::object());
    EXPECT_EQ(problemOf(g.returning({g.item(training, 0, cube)})),
              "the planner cannot do: aten.native_batch_norm.default (in training mode, which "
              "changes the running statistics)");
}

TEST(LoweringNormalisation, StatisticsOfTheBatchGoOverAllButTheChannels) {
    GraphWriter g;
    const Json x = g.input(cube);
    const Json n = g.node("aten._native_batch_norm_legit.no_stats", {cube, f32({3}), f32({3})},
                          Json::array({x, nullptr, nullptr, true, 0.1, 1e-5}), Json::object());
    EXPECT_EQ(written(g.returning({g.item(n, 1, f32({3}))})),
              "out0[i] = div(sum[(j k)](in0[j, i, k]), count((j k)))");
}

TEST(LoweringNormalisation, RmsNormDividesByTheRootOfTheMeanSquare) {
    GraphWriter g;
    const Json x = g.input(matrix), w = g.parameter("w", f32({5}));
    const Json n = g.op("rms_norm.default", matrix, x, Json{5}, w, 1e-6);
    const std::string square = "mul(in0[i, j], in0[i, j])";
    EXPECT_EQ(written(g.returning({n})), "out0[i, j] = mul(mul(in0[i, j], rsqrt(add(div(sum[j](" +
                                             square + "), count(j)), 1e-06))), p_w[j])");
}

TEST(LoweringNormalisation, ResultsThatAnOperatorDoesNotMakeAreNamed) {
    GraphWriter g;
    const Json x = g.input(cube), m = g.parameter("m", f32({3})), v = g.parameter("v", f32({3}));
    const Json n =
        g.node("aten._native_batch_norm_legit_no_training.default", {cube, f32({3}), f32({3})},
               Json::array({x, nullptr, nullptr, m, v, 0.1, 1e-3}), Json::object());
    EXPECT_EQ(problemOf(g.returning({g.item(n, 1, f32({3}))})),
              "the planner cannot do: result 1 of n3");
}

} // namespace
} // namespace cuda_agent::policy::graphs
