// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/reducers.h"
#include "tests/core/policy/planner_graphs.h"

#include <gtest/gtest.h>

// What goes into one unit (kernel), what starts a new one, what crosses between them and in which
// order they run. Every fused program is also evaluated unit after unit: it must give what the
// program gives that was never split.

namespace cuda_agent::policy::graphs {
namespace {

/// "max sum -> out0 tmp0": the reductions of a unit and the buffers that it writes.
std::vector<std::string> unitsOf(const Fused &fused) {
    std::vector<std::string> result;
    for (const Unit &unit : fused.units) {
        std::vector<std::string> words;
        if (unit.group) {
            for (const int id : unit.group->reduces)
                words.push_back(fused.program.values[id].op);
            words.push_back("->");
            for (const Store &store : unit.group->stores)
                words.push_back(fused.program.buffers[store.buffer].name);
        } else {
            const LibraryStep &step = fused.program.library.at(unit.library);
            words = {step.step.at("kind"), "->", fused.program.buffers[step.writes].name};
        }
        result.push_back(fmt::format("{}", fmt::join(words, " ")));
    }
    return result;
}

/// What one unit writes, as text.
std::string unitText(const Fused &fused, std::size_t unit) {
    std::string text;
    for (const Store &store : fused.units.at(unit).group->stores)
        text += textOf(fused.program, store) + "\n";
    return text;
}

/// Fuses a task and compares its evaluation with that of the program before.
Fused fusedOf(const task::Description &task, const FusionOptions &options = {}) {
    const Program program = lowered(task);
    Memory memory;
    for (const BufferInfo &buffer : program.buffers) {
        if (buffer.role == BufferRole::input || buffer.role == BufferRole::parameter)
            memory[buffer.name] = scattered(
                static_cast<std::size_t>(contiguousType(buffer.dtype, buffer.shape).elements()));
    }
    const Memory expected = evaluate(program, memory);
    Fused fused = fuse(program, options);
    const Memory got = evaluate(fused, memory);
    for (const BufferInfo &buffer : program.buffers) {
        if (buffer.role == BufferRole::output) {
            EXPECT_EQ(got.at(buffer.name), expected.at(buffer.name)) << buffer.name;
        }
    }
    return fused;
}

using Units = std::vector<std::string>;

const TensorType matrix = f32({4, 5}), square = f32({4, 4});
const FusionOptions shortRows{3}; ///< rows of more than three elements are not swept again

TEST(Fusion, AChainOfElementwiseOperatorsIsOneUnit) {
    GraphWriter g;
    const Json x = g.input(matrix), b = g.input(f32({5}));
    const Json y = g.op("add.Tensor", matrix, g.op("exp.default", matrix, x), b);
    const Fused fused = fusedOf(g.returning({g.op("relu.default", matrix, y)}));
    EXPECT_EQ(unitsOf(fused), Units{"-> out0"});
    EXPECT_EQ(unitText(fused, 0), "out0[i, j] = relu(add(exp(in0[i, j]), in1[j]))\n");
    EXPECT_TRUE(fused.units[0].group->reduced.empty());
    EXPECT_EQ(fused.units[0].group->rows.size(), 2u);
}

TEST(Fusion, ResultsOverTheSameElementsShareAUnitAndOthersDoNot) {
    GraphWriter g;
    const Json x = g.input(matrix), y = g.input(f32({7}));
    const Json a = g.op("exp.default", matrix, x), b = g.op("neg.default", matrix, x);
    const Json c = g.op("neg.default", f32({7}), y);
    EXPECT_EQ(unitsOf(fusedOf(g.returning({a, b, c}))), (Units{"-> out0 out1", "-> out2"}));
}

TEST(Fusion, AValueOfSeveralUsesIsComputedWhereItIsUsed) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json e = g.op("exp.default", matrix, x);
    const Json total = g.op("sum.dim_IntList", f32({4}), e, Json{1});
    const Fused fused = fusedOf(g.returning({g.op("neg.default", matrix, e), total}));
    // The negation came first, as a unit without reductions; the sum reads the input again rather
    // than waiting for memory that the first unit would have to write.
    EXPECT_EQ(unitsOf(fused), (Units{"-> out0", "sum -> out1"}));
    EXPECT_EQ(unitText(fused, 1), "out1[i] = sum[j](exp(in0[i, j]))\n");
    // A sum that came first takes the negation along in its sweep.
    const Fused along = fusedOf(g.returning({total, g.op("neg.default", matrix, e)}));
    EXPECT_EQ(unitsOf(along), Units{"sum -> out0 out1"});
}

// --- reductions ----------------------------------------------------------------------------------

TEST(FusionReductions, SoftmaxIsOneUnit) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Fused fused = fusedOf(g.returning({g.op("_softmax.default", matrix, x, 1, false)}));
    EXPECT_EQ(unitsOf(fused), Units{"max sum -> out0"});
    EXPECT_EQ(fused.units[0].group->rows.size(), 1u);
    EXPECT_EQ(fused.units[0].group->reduced.size(), 1u);
}

TEST(FusionReductions, AChainAlongTheSameRowsStaysInOneUnit) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json once = g.op("_softmax.default", matrix, x, 1, false);
    const Json twice = g.op("_softmax.default", matrix, once, 1, false);
    EXPECT_EQ(unitsOf(fusedOf(g.returning({twice}))), Units{"max sum max sum -> out0"});
}

TEST(FusionReductions, ReductionsOfOneTensorShareASweep) {
    GraphWriter g;
    const Json x = g.input(matrix), y = g.input(matrix);
    const Json sum = g.op("sum.dim_IntList", f32({4}), x, Json{1});
    const Json max = g.op("amax.default", f32({4}), x, Json{1});
    const Json other = g.op("sum.dim_IntList", f32({4}), y, Json{1});
    EXPECT_EQ(unitsOf(fusedOf(g.returning({sum, max, other}))),
              (Units{"sum max -> out0 out1", "sum -> out2"}))
        << "nothing says that x and y are swept together";
}

TEST(FusionReductions, WhatIsComputedFromARowsResultIsWrittenByItsUnit) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json norm = g.op("linalg_vector_norm.default", f32({4, 1}), x, 2, Json{1}, true);
    const Json log = g.op("log.default", f32({4, 1}), norm);
    const Fused fused = fusedOf(g.returning({g.op("div.Tensor", matrix, x, norm), log}));
    EXPECT_EQ(unitsOf(fused), Units{"sum -> out0 out1"});
}

TEST(FusionReductions, RowsOfAnotherDimensionStartAUnitAndRowResultsCross) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json s = g.op("_softmax.default", matrix, x, 1, false);
    const Json columns = g.op("sum.dim_IntList", f32({5}), s, Json{0});
    const Fused fused = fusedOf(g.returning({columns}));
    EXPECT_EQ(unitsOf(fused), (Units{"max sum -> tmp0 tmp1", "sum -> out0"}));
    EXPECT_EQ(unitText(fused, 0), "tmp0[i] = max[j](in0[i, j])\n"
                                  "tmp1[i] = sum[j](exp(sub(in0[i, j], max[j](in0[i, j]))))\n");
    EXPECT_EQ(unitText(fused, 1), "out0[i] = sum[j](div(exp(sub(in0[j, i], tmp0[j])), tmp1[j]))\n");
}

TEST(FusionReductions, ARowResultCrossesReadyMade) {
    // y * mean(x): the unit of the sum writes the mean, so that nobody divides per element.
    GraphWriter g;
    const Json x = g.input(matrix), y = g.input(f32({4, 7}));
    const Json m = g.op("mean.dim", f32({4, 1}), x, Json{1}, true);
    const Fused fused = fusedOf(g.returning({g.op("mul.Tensor", f32({4, 7}), y, m)}));
    EXPECT_EQ(unitsOf(fused), (Units{"sum -> tmp0", "-> out0"}));
    EXPECT_EQ(unitText(fused, 0), "tmp0[i] = div(sum[j](in0[i, j]), count(j))\n");
    EXPECT_EQ(unitText(fused, 1), "out0[i, j] = mul(in1[i, j], tmp0[i])\n");
}

TEST(FusionReductions, ALossIsOneUnitPerLevelOfReduction) {
    GraphWriter g;
    const Json x = g.input(matrix), y = g.input(matrix);
    const Json d = g.op("sub.Tensor", matrix, x, y);
    const Json all = g.op("mean.default", f32({}), g.op("mul.Tensor", matrix, d, d));
    EXPECT_EQ(unitsOf(fusedOf(g.returning({all}))), Units{"sum -> out0"});

    const Json logs = g.op("_log_softmax.default", matrix, x, 1, false);
    const Json index = g.input(i64({4, 1}));
    const Json hit = g.op("gather.default", f32({4, 1}), logs, 1, index);
    const Json loss = g.op("mean.default", f32({}), g.op("neg.default", f32({4, 1}), hit));
    EXPECT_EQ(unitsOf(fusedOf(g.returning({loss}))), (Units{"max sum sum -> tmp0", "sum -> out0"}));
}

TEST(FusionReductions, AWholeTensorIsOneRowAndIsSweptAgainForItsElements) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json m = g.op("mean.default", f32({}), x);
    const auto task = g.returning({g.op("sub.Tensor", matrix, x, m)});
    const Fused one = fusedOf(task);
    EXPECT_EQ(unitsOf(one), Units{"sum -> out0"});
    EXPECT_TRUE(one.units[0].group->rows.empty());

    const Fused two = fusedOf(task, shortRows);
    EXPECT_EQ(unitsOf(two), (Units{"sum -> tmp0", "-> out0"}));
    EXPECT_EQ(unitText(two, 0), "tmp0[] = div(sum[(i j)](in0[i, j]), count((i j)))\n");
    EXPECT_EQ(unitText(two, 1), "out0[i, j] = sub(in0[i, j], tmp0[])\n");
}

TEST(FusionReductions, LongRowsKeepOnlyReductionsThatNeedOneSweep) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const auto softmax = g.returning({g.op("_softmax.default", matrix, x, 1, false)});
    EXPECT_EQ(unitsOf(fusedOf(softmax, shortRows)), (Units{"max sum -> tmp0 tmp1", "-> out0"}));

    const auto variance = g.returning({g.op("var.correction", f32({4}), x, Json{1})});
    EXPECT_EQ(unitsOf(fusedOf(variance, shortRows)), Units{"sum sum -> out0"})
        << "mean and squares are one running result";

    const Json top = g.op("amax.default", f32({4, 1}), x, Json{1}, true);
    const Json below = g.op("sub.Tensor", matrix, x, top);
    const auto chain = g.returning({g.op("sum.dim_IntList", f32({4}), below, Json{1})});
    EXPECT_EQ(unitsOf(fusedOf(chain)), Units{"max sum -> out0"});
    EXPECT_EQ(unitsOf(fusedOf(chain, shortRows)), (Units{"max -> tmp0", "sum -> out0"}))
        << "the sum can only begin when the maximum is known";
    EXPECT_EQ(unitsOf(fusedOf(chain, {5})), Units{"max sum -> out0"}) << "5 is not longer than 5";
}

// --- memory between units ------------------------------------------------------------------------

TEST(FusionMemory, NoUnitReadsWhatItWrites) {
    // softmax(x) + softmax(x).T: the transposed half reads memory that the softmax wrote, over the
    // same loops, but at other places.
    GraphWriter g;
    const Json x = g.input(square);
    const Json s = g.op("_softmax.default", square, x, 1, false);
    const Json t = g.op("permute.default", square, s, Json{1, 0});
    const Fused fused = fusedOf(g.returning({g.op("add.Tensor", square, s, t)}));
    ASSERT_EQ(fused.units.size(), 2u);
    EXPECT_EQ(unitsOf(fused)[1], "-> out0");
    EXPECT_EQ(unitsOf(fused)[0].substr(0, 15), "max sum -> tmp0");
}

TEST(FusionMemory, PartsOfABufferAreWrittenByUnitsOfTheirOwnBeforeItIsRead) {
    GraphWriter g;
    const Json x = g.input(matrix), y = g.input(f32({4, 3}));
    const Json e = g.op("exp.default", matrix, x);
    const auto sumOf = [&](const Json &parts, std::int64_t length) {
        const Json c = g.op("cat.default", f32({4, length}), parts, 1);
        return unitsOf(fusedOf(g.returning({g.op("sum.dim_IntList", f32({4}), c, Json{1})})));
    };
    EXPECT_EQ(sumOf({e, y, y, e, y}, 19),
              (Units{"-> tmp0 tmp0", "-> tmp0 tmp0 tmp0", "sum -> out0"}));
    EXPECT_EQ(sumOf({e, y}, 8), Units{"sum -> out0"}) << "of few parts each element knows its own";
}

TEST(FusionMemory, APartFusesWithTheReductionThatComputesIt) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const Json s = g.op("_softmax.default", matrix, x, 1, false);
    const Json c = g.op("cat.default", f32({4, 10}), Json::array({s, x}), 1);
    EXPECT_EQ(unitsOf(fusedOf(g.returning({c}))), Units{"max sum -> out0 out0"})
        << "both halves are over the loops of the softmax";
}

// --- library steps -------------------------------------------------------------------------------

TEST(FusionLibrary, EpiloguesFollowTheirProductAndProloguesComeBefore) {
    GraphWriter g;
    const Json x = g.input(f32({4, 6})), w = g.parameter("w", f32({5, 6}));
    const Json b = g.parameter("b", f32({5}));
    const Json y = g.op("linear.default", matrix, g.op("neg.default", f32({4, 6}), x), w, b);
    const Fused fused = fusedOf(g.returning({g.op("relu.default", matrix, y)}));
    EXPECT_EQ(unitsOf(fused), (Units{"-> tmp0", "gemm -> tmp1", "-> out0"}));
    EXPECT_EQ(unitText(fused, 2), "out0[i, j] = relu(add(tmp1[i, j], p_b[j]))\n");
}

TEST(FusionLibrary, AReductionIsAnEpilogueToo) {
    GraphWriter g;
    const Json x = g.input(f32({4, 6})), w = g.input(f32({6, 5}));
    const Json y = g.op("mm.default", matrix, x, w);
    EXPECT_EQ(unitsOf(fusedOf(g.returning({g.op("_softmax.default", matrix, y, 1, false)}))),
              (Units{"gemm -> tmp0", "max sum -> out0"}));
}

TEST(FusionLibrary, ChainedProductsAlternateWithTheirEpilogues) {
    GraphWriter g;
    const Json x = g.input(square), w = g.parameter("w", square);
    const Json y = g.op("exp.default", square, g.op("mm.default", square, x, w));
    const Json z = g.op("mm.default", square, y, w);
    EXPECT_EQ(unitsOf(fusedOf(g.returning({g.op("neg.default", square, z)}))),
              (Units{"gemm -> tmp0", "-> tmp1", "gemm -> tmp2", "-> out0"}));
}

TEST(FusionLibrary, ScratchMemoryIsNumberedAsItIsWritten) {
    // What the second product reads is there before fusion, what crosses between units is not.
    GraphWriter g;
    const Json x = g.input(square), w = g.parameter("w", square);
    const Json rows = g.op("_softmax.default", square, g.op("mm.default", square, x, w), 1, false);
    const Fused fused = fusedOf(g.returning({g.op("mm.default", square, rows, w)}), shortRows);
    EXPECT_EQ(unitsOf(fused),
              (Units{"gemm -> tmp0", "max sum -> tmp1 tmp2", "-> tmp3", "gemm -> out0"}));
    EXPECT_EQ(fused.program.library[0].step.at("c"), "tmp0");
    EXPECT_EQ(fused.program.library[1].step.at("a"), "tmp3");
}

TEST(FusionLibrary, WhatTwoProductsReadIsStoredOnce) {
    GraphWriter g;
    const Json x = g.input(square), w = g.parameter("w", square);
    // Two operators that are the same: of equal values one stands for both.
    const Json one = g.op("mm.default", square, g.op("neg.default", square, x), w);
    const Json other = g.op("mm.default", square, w, g.op("neg.default", square, x));
    const Fused fused = fusedOf(g.returning({one, other}));
    EXPECT_EQ(unitsOf(fused), (Units{"-> tmp0", "gemm -> out0", "gemm -> out1"}));
    EXPECT_EQ(fused.program.library[0].step.at("a"), "tmp0");
    EXPECT_EQ(fused.program.library[1].step.at("b"), "tmp0");
}

TEST(FusionLibrary, WhatNeedsAProductDoesNotJoinTheUnitThatFeedsIt) {
    // -x + (-x) @ w over the same elements: joining both would make a circle.
    GraphWriter g;
    const Json x = g.input(square), w = g.parameter("w", square);
    const Json n = g.op("neg.default", square, x);
    const Json sum = g.op("add.Tensor", square, n, g.op("mm.default", square, n, w));
    EXPECT_EQ(unitsOf(fusedOf(g.returning({sum}))), (Units{"-> tmp0", "gemm -> tmp1", "-> out0"}));
}

TEST(FusionLibrary, AResultThatDoesNotNeedTheProductJoinsTheUnitThatFeedsIt) {
    GraphWriter g;
    const Json x = g.input(square), w = g.parameter("w", square);
    const Json n = g.op("neg.default", square, x);
    const Json y = g.op("mm.default", square, n, w);
    EXPECT_EQ(unitsOf(fusedOf(g.returning({y, g.op("exp.default", square, n)}))),
              (Units{"-> tmp0 out1", "gemm -> out0"}));
}

// --- the pieces ----------------------------------------------------------------------------------

/// A program of one matrix and what is summed over its rows.
struct Rows {
    Program program;
    Axes i{program.axes.add(4)}, j{program.axes.add(5)};
    int x = -1;
    Rows() {
        BufferInfo buffer;
        buffer.name = "in0";
        buffer.role = BufferRole::input;
        buffer.shape = {4, 5};
        buffer.expressions = {"4", "5"};
        x = program.load(program.addBuffer(buffer), {i, j});
    }
    int apply(const std::string &op, std::vector<int> args) {
        return program.pointwise(op, std::move(args), DType::float32);
    }
    int reduce(const std::string &op, int value) {
        return program.reduce(op, value, j, DType::float32);
    }
    int count(const Axes &axes) {
        Value value;
        value.kind = Kind::count;
        value.axes = axes;
        return program.add(value);
    }
};

TEST(FusionPieces, MomentsAreTheSumAndTheSquaredDistancesFromItsMean) {
    Rows r;
    const int sum = r.reduce("sum", r.x);
    const int mean = r.apply("div", {sum, r.count(r.j)});
    const int distance = r.apply("sub", {r.x, mean});
    const int squares = r.reduce("sum", r.apply("mul", {distance, distance}));
    EXPECT_TRUE(areMoments(r.program, sum, squares));
    EXPECT_FALSE(areMoments(r.program, squares, sum));

    const int wrongMean = r.apply("div", {sum, r.count(r.i)});
    const int wrong = r.apply("sub", {r.x, wrongMean});
    EXPECT_FALSE(areMoments(r.program, sum, r.reduce("sum", r.apply("mul", {wrong, wrong}))))
        << "the sum is divided by the number of rows, not of elements";
    EXPECT_FALSE(areMoments(r.program, sum, r.reduce("sum", r.apply("mul", {r.x, r.x}))));
    EXPECT_FALSE(areMoments(r.program, sum, r.reduce("sum", r.apply("mul", {distance, r.x}))));
    EXPECT_FALSE(areMoments(r.program, sum, r.reduce("max", r.apply("mul", {distance, distance}))));
}

TEST(FusionPieces, ExponentialsPairWithTheMaximumThatTheyAreRelativeTo) {
    Rows r;
    const int max = r.reduce("max", r.x);
    const int power = r.apply("exp", {r.apply("sub", {r.x, max})});
    EXPECT_TRUE(areMaxAndSumOfExp(r.program, max, r.reduce("sum", power)));
    EXPECT_FALSE(areMaxAndSumOfExp(r.program, max, r.reduce("sum", r.apply("exp", {r.x}))));
    const int twice = r.apply("mul", {r.x, r.x});
    const int other = r.apply("exp", {r.apply("sub", {twice, max})});
    EXPECT_FALSE(areMaxAndSumOfExp(r.program, max, r.reduce("sum", other)))
        << "the maximum is of something else";
    EXPECT_FALSE(areMaxAndSumOfExp(r.program, r.reduce("min", r.x), r.reduce("sum", power)));
}

TEST(FusionPieces, PairsShareASweepAndDependentReductionsFollow) {
    GraphWriter g;
    const Json x = g.input(matrix);
    const auto passes = [&](const Json &result) {
        const Fused fused = fusedOf(g.returning({result}));
        std::vector<std::size_t> reducers;
        for (const Pass &pass : makePasses(fused.program, *fused.units.at(0).group))
            reducers.push_back(pass.reducers.size());
        return reducers;
    };
    using Passes = std::vector<std::size_t>;
    const Json softmax = g.op("_softmax.default", matrix, x, 1, false);
    EXPECT_EQ(passes(softmax), Passes{1});
    EXPECT_EQ(passes(g.op("var.correction", f32({4}), x, Json{1})), Passes{1});
    EXPECT_EQ(passes(g.op("_softmax.default", matrix, softmax, 1, false)), (Passes{1, 1}));
    const Json top = g.op("amax.default", f32({4, 1}), x, Json{1}, true);
    const Json below = g.op("sub.Tensor", matrix, x, top);
    EXPECT_EQ(passes(g.op("sum.dim_IntList", f32({4}), below, Json{1})), (Passes{1, 1}));
    const Json sum = g.op("sum.dim_IntList", f32({4, 1}), x, Json{1}, true);
    EXPECT_EQ(passes(g.op("mul.Tensor", f32({4, 1}), sum, top)), Passes{2})
        << "neither waits for the other";
}

TEST(FusionPieces, ValuesAreReachedOnceAndAfterTheirArguments) {
    Rows r;
    const int e = r.apply("exp", {r.x});
    const int unused = r.apply("neg", {r.x});
    const int sum = r.reduce("sum", e);
    const int result = r.apply("div", {e, sum});
    EXPECT_EQ(reachableFrom(r.program, {result, e}), (std::vector<int>{r.x, e, sum, result}));
    EXPECT_EQ(reachableFrom(r.program, {unused}), (std::vector<int>{r.x, unused}));
    EXPECT_TRUE(reachableFrom(r.program, {}).empty());
}

TEST(FusionPieces, LoopsFollowTheAccessThatMovesMost) {
    // in0 [4, 5] is read as it lies, in1 [5] along j; the store of [5, 4] moves as much as in0
    // does, and what is written comes first.
    Rows r;
    BufferInfo small;
    small.name = "in1";
    small.shape = {5};
    const int b = r.program.load(r.program.addBuffer(small), {r.j});
    const int sum = r.apply("add", {r.x, b});
    const std::set<Axis> all{r.i[0], r.j[0]};
    EXPECT_EQ(memoryOrder(r.program, all, {r.x, b, sum}, {}), (Axes{r.i[0], r.j[0]}));
    BufferInfo target;
    target.name = "out0";
    target.shape = {5, 4};
    const Store transposed{sum, {r.j, r.i}, r.program.addBuffer(target)};
    EXPECT_EQ(memoryOrder(r.program, all, {r.x, b, sum}, {transposed}), (Axes{r.j[0], r.i[0]}));
    // Halves move half as much: the load of floats leads.
    r.program.buffers[static_cast<std::size_t>(transposed.buffer)].dtype = DType::float16;
    EXPECT_EQ(memoryOrder(r.program, all, {r.x, b, sum}, {transposed}), (Axes{r.i[0], r.j[0]}));
}

TEST(FusionPieces, AnAxisThatNothingInMemoryHasGoesOutside) {
    Rows r;
    const Axis extra = r.program.axes.add(3);
    EXPECT_EQ(memoryOrder(r.program, {r.i[0], r.j[0], extra}, {r.x}, {}),
              (Axes{extra, r.i[0], r.j[0]}));
    EXPECT_EQ(memoryOrder(r.program, {r.j[0]}, {r.x}, {}), r.j) << "only what is asked for";
}

TEST(Fusion, ResultsInAnotherOrderThanTheReadsAreWrittenByAUnitOfTheirOwn) {
    GraphWriter g;
    const TensorType last = f32({2, 10, 12}), first = f32({2, 12, 10});
    const Json x = g.input(last);
    const Json t = g.op("transpose.int", first, x, 1, 2);
    const Json total = g.op("sum.dim_IntList", f32({2, 12, 1}), t, Json{2}, true);
    const auto task = g.returning({g.op("div.Tensor", first, t, total)});
    EXPECT_EQ(unitsOf(fusedOf(task)), Units{"sum -> out0"});
    FusionOptions options;
    options.leastReordered = 960;
    EXPECT_EQ(unitsOf(fusedOf(task, options)), (Units{"sum -> tmp0", "-> out0"}));
    options.leastReordered = 961;
    EXPECT_EQ(unitsOf(fusedOf(task, options)), Units{"sum -> out0"}) << "too few bytes";
}

TEST(Fusion, ResultsInTheOrderOfTheReadsStayWithTheReduction) {
    GraphWriter g;
    const TensorType type = f32({12, 10});
    const Json x = g.input(type);
    const Json total = g.op("sum.dim_IntList", f32({12, 1}), x, Json{1}, true);
    FusionOptions options;
    options.leastReordered = 1;
    EXPECT_EQ(unitsOf(fusedOf(g.returning({g.op("div.Tensor", type, x, total)}), options)),
              Units{"sum -> out0"});
}

} // namespace
} // namespace cuda_agent::policy::graphs
