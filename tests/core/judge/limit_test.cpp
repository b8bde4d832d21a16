// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/judge.h"

#include <gtest/gtest.h>

namespace cuda_agent::judge {
namespace {

const device::Ceilings ceilings{4e12, 50e12, 350e12};

task::Description product(DType dtype) {
    task::Description task;
    task.countedBytes = 4'000'000;
    task.matmulFlops = 1e12;
    task::Node node;
    node.op = "aten.mm.default";
    node.outputs.emplace_back();
    node.outputs[0].dtype = dtype;
    node.outputs[0].shape = {1000, 1000};
    task.graph.nodes.push_back(node);
    return task;
}

TEST(Limit, IsTheLongerOfMemoryAndOperations) {
    task::Description copy;
    copy.countedBytes = 4'000'000'000;
    const auto memory = limitOf(copy, ceilings, task::Numerics::standard);
    EXPECT_DOUBLE_EQ(memory.seconds, 1e-3);
    EXPECT_EQ(memory.by, "memory");
    const auto compute = limitOf(product(DType::float32), ceilings, task::Numerics::standard);
    EXPECT_DOUBLE_EQ(compute.seconds, 1e12 / 50e12);
    EXPECT_EQ(compute.by, "compute");
}

TEST(Limit, CountsALaunch) {
    auto launched = ceilings;
    launched.launchSeconds = 5e-6;
    task::Description copy;
    copy.countedBytes = 4'000'000;
    const auto limit = limitOf(copy, launched, task::Numerics::standard);
    EXPECT_DOUBLE_EQ(limit.seconds, 6e-6);
    EXPECT_DOUBLE_EQ(limit.launchSeconds, 5e-6);
    EXPECT_DOUBLE_EQ(limit.workSeconds(), 1e-6);
    EXPECT_EQ(limit.by, "memory");
    EXPECT_DOUBLE_EQ(limitOf(product(DType::float32), launched, task::Numerics::standard).seconds,
                     1e12 / 50e12 + 5e-6);
}

TEST(Limit, KnowsWhatTensorCoresGive) {
    EXPECT_DOUBLE_EQ(limitOf(product(DType::float32), ceilings, task::Numerics::tf32).seconds,
                     1e12 / 350e12);
    EXPECT_DOUBLE_EQ(limitOf(product(DType::float16), ceilings, task::Numerics::standard).seconds,
                     1e12 / 700e12);
    auto measured = ceilings;
    measured.halfFlopsPerSecond = 650e12;
    EXPECT_DOUBLE_EQ(limitOf(product(DType::bfloat16), measured, task::Numerics::standard).seconds,
                     1e12 / 650e12);
    // Turing has fast 16-bit products and no TF32.
    measured.tf32FlopsPerSecond = 0;
    EXPECT_DOUBLE_EQ(limitOf(product(DType::float16), measured, task::Numerics::standard).seconds,
                     1e12 / 650e12);
    measured.halfFlopsPerSecond = 0;
    EXPECT_DOUBLE_EQ(limitOf(product(DType::float16), measured, task::Numerics::standard).seconds,
                     1e12 / 50e12);
    auto mixed = product(DType::bfloat16);
    mixed.graph.nodes.push_back(product(DType::float32).graph.nodes[0]);
    EXPECT_DOUBLE_EQ(limitOf(mixed, ceilings, task::Numerics::standard).seconds, 1e12 / 50e12);
    auto convolution = product(DType::float32);
    convolution.graph.nodes[0].op = "aten.convolution.default";
    convolution.matmulFlops = 0;
    convolution.convolutionFlops = 1e12;
    EXPECT_DOUBLE_EQ(limitOf(convolution, ceilings, task::Numerics::standard).seconds,
                     1e12 / 350e12);
}

} // namespace
} // namespace cuda_agent::judge
