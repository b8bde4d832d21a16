// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/folding.h"

#include "core/policy/planner/search.h"
#include "tests/core/policy/planner_graphs.h"

#include <cmath>
#include <gtest/gtest.h>

// What positions decide is not asked in kernels: tensors that are written over and taken apart
// again, borders that nothing read lies at, and products that share a matrix.

namespace cuda_agent::policy::graphs {
namespace {

Memory filled(const task::Description &task) {
    Memory memory;
    for (const task::Port &port : task.inputs)
        memory[port.name] = scattered(static_cast<std::size_t>(port.type.elements()));
    return memory;
}

std::string sourceOf(const task::Description &task) {
    device::Info info;
    info.kind = device::Kind::cuda;
    info.architecture = "sm_90";
    info.multiprocessors = 132;
    info.cacheBytes = 50ull << 20;
    const auto space =
        SearchSpace::make(task, info, device::Ceilings{4.2e12}, task::Numerics::standard);
    if (!space) {
        ADD_FAILURE() << space.error().message;
        return {};
    }
    const auto files = space->write(space->allSingleChanges().front(), {});
    return files ? files->files.at("kernels/planner.cu") : files.error().message;
}

std::size_t count(const std::string &text, const std::string &part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// Gates of a cell as PyTorch decomposes it: each is computed from its slice and written over it.
struct Gates {
    GraphWriter g;
    const TensorType whole = f32({4, 6}), part = f32({4, 2});
    Json gates;
    Json over(const char *op, int number) {
        const Json piece = slice(number);
        gates = g.op("slice_scatter.default", whole, gates, g.op(op, part, piece), 1, 2 * number,
                     2 * number + 2);
        return gates;
    }
    Json slice(int number) {
        return g.op("slice.Tensor", part, gates, 1, 2 * number, 2 * number + 2);
    }
};

TEST(Folding, WhatIsWrittenOverSlicesIsReadFromThem) {
    Gates cell;
    cell.gates = cell.g.input(cell.whole);
    cell.over("exp.default", 0);
    cell.over("neg.default", 1);
    cell.over("sin.default", 2);
    const Json product = cell.g.op("mul.Tensor", cell.part, cell.slice(0), cell.slice(1));
    const auto task =
        cell.g.returning({cell.g.op("add.Tensor", cell.part, product, cell.slice(2))});
    const Program program = lowered(task);
    EXPECT_EQ(textOf(program), "out0[i, j] = add(mul(exp(in0[i, j]), neg(in0[i, j+2])), "
                               "sin(in0[i, j+4]))\n");
    Memory memory = filled(task);
    const Numbers x = memory["in0"];
    const Numbers out = evaluate(program, memory)["out0"];
    ASSERT_EQ(out.size(), 8u);
    for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t k = 0; k < 2; ++k) {
            const double *line = &x[row * 6];
            EXPECT_NEAR(out[row * 2 + k], std::exp(line[k]) * -line[2 + k] + std::sin(line[4 + k]),
                        1e-12);
        }
}

TEST(Folding, EverySecondElementOfWhatWasWrittenToEverySecond) {
    GraphWriter g;
    const Json x = g.input(f32({3, 8})), y = g.input(f32({3, 4}));
    const Json mixed = g.op("slice_scatter.default", f32({3, 8}), x,
                            g.op("exp.default", f32({3, 4}), y), 1, 1, 8, 2);
    const auto odd = g.op("slice.Tensor", f32({3, 4}), mixed, 1, 1, 8, 2);
    const auto even = g.op("slice.Tensor", f32({3, 4}), mixed, 1, 0, 8, 2);
    const auto task = g.returning({odd, even, mixed});
    const Program program = lowered(task);
    EXPECT_EQ(textOf(program, program.stores[0]), "out0[i, j] = exp(in1[i, j])");
    Memory memory = filled(task);
    const Numbers a = memory["in0"], b = memory["in1"];
    memory = evaluate(program, memory);
    for (std::size_t i = 0; i < 12; ++i)
        EXPECT_EQ(memory["out1"][i], a[2 * i]);
    for (std::size_t i = 0; i < 24; ++i)
        EXPECT_DOUBLE_EQ(memory["out2"][i], i % 2 == 1 ? std::exp(b[i / 8 * 4 + i % 8 / 2]) : a[i]);
}

TEST(Folding, ABorderIsGoneWhereNothingLiesAtIt) {
    GraphWriter g;
    const Json x = g.input(f32({3, 10}));
    const Json padded = g.op("constant_pad_nd.default", f32({3, 14}), x, Json::array({2, 2}), 0.0);
    const auto task = g.returning({g.op("slice.Tensor", f32({3, 8}), padded, 1, 3, 11),
                                   g.op("slice.Tensor", f32({3, 2}), padded, 1, 0, 2),
                                   g.op("slice.Tensor", f32({3, 4}), padded, 1, 0, 4)});
    const Program program = lowered(task);
    Memory memory = filled(task);
    const Numbers a = memory["in0"];
    memory = evaluate(program, memory);
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t k = 0; k < 8; ++k)
            EXPECT_EQ(memory["out0"][row * 8 + k], a[row * 10 + k + 1]);
        for (std::size_t k = 0; k < 2; ++k)
            EXPECT_EQ(memory["out1"][row * 2 + k], 0);
        for (std::size_t k = 0; k < 4; ++k)
            EXPECT_EQ(memory["out2"][row * 4 + k], k < 2 ? 0 : a[row * 10 + k - 2]);
    }
    EXPECT_EQ(textOf(program, program.stores[0]), "out0[i, j] = in0[i, j+1]");
    EXPECT_EQ(textOf(program, program.stores[1]).find("in0"), std::string::npos);
    EXPECT_NE(textOf(program, program.stores[2]).find("ge"), std::string::npos)
        << textOf(program, program.stores[2]);
}

TEST(Folding, WholeNumbersKeepTheirMeaning) {
    GraphWriter g;
    const TensorType type = i64({12});
    const Json place = g.op("arange.default", type, 12);
    const Json five = g.op("mul.Tensor", type, g.op("add.Tensor", type, place, 3), 5);
    const Json more = g.op("sub.Tensor", type, five, 2);
    const auto task = g.returning(
        {more, g.op("clamp.default", type, more, 0, 100), g.op("clamp.default", type, more, 20, 40),
         g.op("lt.Scalar", truth({12}), more, 13), g.op("ge.Scalar", truth({12}), more, 14)});
    const Program program = lowered(task);
    const Memory memory = evaluate(program, {});
    for (std::size_t i = 0; i < 12; ++i) {
        const double x = (static_cast<double>(i) + 3) * 5 - 2;
        EXPECT_EQ(memory.at("out0")[i], x);
        EXPECT_EQ(memory.at("out1")[i], x);
        EXPECT_EQ(memory.at("out2")[i], std::clamp(x, 20.0, 40.0));
        EXPECT_EQ(memory.at("out3")[i], 0);
        EXPECT_EQ(memory.at("out4")[i], x >= 14 ? 1 : 0);
    }
    EXPECT_EQ(textOf(program, program.stores[0]),
              textOf(program, program.stores[1]).replace(3, 1, "0"))
        << "it lies within 0 and 100 by itself";
}

TEST(Folding, NumbersThatMemoryHoldsAreComputedAsTheTaskSays) {
    GraphWriter g;
    const TensorType type = i64({12});
    const Json x = g.input(type);
    const Json more = g.op("add.Tensor", type, g.op("add.Tensor", type, x, 1), 2);
    const Json huge = g.op("mul.Tensor", type, g.op("arange.default", type, 12), 1ll << 62);
    const auto task = g.returning({more, g.op("mul.Tensor", type, huge, 8)});
    EXPECT_EQ(textOf(lowered(task)), "out0[i] = add(add(in0[i], 1), 2)\n"
                                     "out1[i] = mul(mul(at(i), 4.61169e+18), 8)\n");
}

TEST(Folding, WhatSeveralReadIsWrittenOnceWhereItIsLongToCompute) {
    const auto program = [](int readers, int operations) {
        GraphWriter g;
        const Json x = g.input(f32({32, 40})), y = g.input(f32({32, 40}));
        Json left = x;
        for (int i = 0; i < operations; ++i)
            left = g.op("sin.default", f32({32, 40}), left);
        const Json all = g.op("cat.default", f32({32, 80}), Json::array({left, y}), 1);
        std::vector<Json> results;
        for (int i = 0; i < readers; ++i)
            results.push_back(g.op("sum.dim_IntList", f32({i == 0 ? 32 : 80}), all,
                                   Json::array({i == 0 ? 1 : 0})));
        return lowered(g.returning(results));
    };
    EXPECT_EQ(program(2, 6).stores.size(), 4u);
    EXPECT_EQ(program(1, 6).stores.size(), 1u);
    EXPECT_EQ(program(2, 1).stores.size(), 2u);
}

TEST(Folding, AMatrixThatAllProductsShareIsOne) {
    GraphWriter g;
    const Json x = g.input(f32({5, 6, 7})), w = g.input(f32({7, 8})), v = g.input(f32({9, 6}));
    const Json shared = g.op("expand.default", f32({5, 7, 8}), w, Json::array({5, 7, 8}));
    const Json own = g.op("expand.default", f32({5, 9, 6}), g.op("sin.default", f32({9, 6}), v),
                          Json::array({5, 9, 6}));
    const Json right = g.op("bmm.default", f32({5, 6, 8}), x, shared);
    const auto task = g.returning({right, g.op("bmm.default", f32({5, 9, 8}), own, right)});
    const Program program = lowered(task);
    ASSERT_EQ(program.library.size(), 2u);
    EXPECT_FALSE(program.library[0].step.contains("batch")) << program.library[0].step.dump();
    EXPECT_EQ(program.library[1].step.at("stride_a"), 0) << program.library[1].step.dump();
    EXPECT_EQ(program.buffers[program.library[1].reads[0]].shape, (Shape{9, 6}));
    Memory memory = filled(task);
    const Numbers a = memory["in0"], b = memory["in1"], c = memory["in2"];
    memory = evaluate(program, memory);
    for (std::size_t n = 0; n < 5; ++n)
        for (std::size_t column = 0; column < 8; ++column) {
            Numbers line(6);
            for (std::size_t row = 0; row < 6; ++row) {
                for (std::size_t k = 0; k < 7; ++k)
                    line[row] += a[(n * 6 + row) * 7 + k] * b[k * 8 + column];
                EXPECT_NEAR(memory["out0"][(n * 6 + row) * 8 + column], line[row], 1e-9);
            }
            for (std::size_t row = 0; row < 9; ++row) {
                double sum = 0;
                for (std::size_t k = 0; k < 6; ++k)
                    sum += std::sin(c[row * 6 + k]) * line[k];
                EXPECT_NEAR(memory["out1"][(n * 9 + row) * 8 + column], sum, 1e-9);
            }
        }
}

TEST(Folding, KernelsThatKeepTheSameShareItsStruct) {
    GraphWriter g;
    const TensorType type = f32({64, 4096});
    const Json x = g.input(type), y = g.input(f32({64, 512}));
    const auto task = g.returning({g.op("sum.dim_IntList", f32({64}), x, Json::array({1})),
                                   g.op("sum.dim_IntList", f32({64}), y, Json::array({1})),
                                   g.op("amax.default", f32({64}), y, Json::array({1}))});
    const std::string source = sourceOf(task);
    EXPECT_EQ(count(source, "__global__"), 2u) << source;
    EXPECT_EQ(count(source, "struct SumState {"), 1u) << source;
    EXPECT_EQ(count(source, "struct SumMaxState {"), 1u) << source;
}

} // namespace
} // namespace cuda_agent::policy::graphs
