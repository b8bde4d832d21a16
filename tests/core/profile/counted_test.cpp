// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/counted.h"

#include <gtest/gtest.h>

namespace cuda_agent::profile {

namespace {

plan::ProgramBuffer buffer(DType dtype, Shape shape) {
    plan::ProgramBuffer made;
    made.type = contiguousType(dtype, std::move(shape));
    return made;
}

plan::ProgramArgument pointer(int index) {
    plan::ProgramArgument argument;
    argument.buffer = index;
    return argument;
}

} // namespace

TEST(Counted, AKernelMovesEachOfItsBuffersOnce) {
    plan::Program program;
    program.buffers = {buffer(DType::float32, {10, 10}), buffer(DType::float16, {50}),
                       buffer(DType::float32, {1000})};
    plan::ProgramKernel kernel;
    kernel.arguments = {pointer(0), pointer(1), pointer(0), plan::ProgramArgument{}};
    program.steps = {{"k", kernel}, {"fill", plan::ProgramFill{2, {}}}};
    const auto counted = countedSteps(program);
    ASSERT_EQ(counted.size(), 2u);
    EXPECT_EQ(counted[0].bytes, 400u + 100u);
    EXPECT_EQ(counted[0].operations, 0);
    EXPECT_EQ(counted[1].bytes, 4000u);
}

TEST(Counted, ProductsAndConvolutions) {
    plan::Program program;
    // 2 products of 3 x 5 by 5 x 7, with a bias of 7.
    program.buffers = {buffer(DType::float32, {2, 3, 5}), buffer(DType::float32, {2, 5, 7}),
                       buffer(DType::float32, {2, 3, 7}), buffer(DType::float32, {7}),
                       // A 3 x 3 window over 8 x 8, 4 channels to 6 in 2 groups, no padding.
                       buffer(DType::float32, {1, 4, 8, 8}), buffer(DType::float32, {6, 2, 3, 3}),
                       buffer(DType::float32, {1, 6, 6, 6})};
    plan::ProgramGemm gemm;
    gemm.a = 0;
    gemm.b = 1;
    gemm.c = 2;
    gemm.bias = 3;
    gemm.m = 3;
    gemm.n = 7;
    gemm.k = 5;
    gemm.batch = 2;
    plan::ProgramConvolution convolution;
    convolution.input = 4;
    convolution.weight = 5;
    convolution.output = 6;
    convolution.groups = 2;
    program.steps = {{"gemm", gemm}, {"convolution", convolution}};
    const auto counted = countedSteps(program);
    EXPECT_EQ(counted[0].bytes, 4u * (30 + 70 + 42 + 7));
    EXPECT_EQ(counted[0].operations, 2.0 * 3 * 7 * 5 * 2);
    // 6 x 6 x 6 outputs, each of 2 channels x 9 places.
    EXPECT_EQ(counted[1].operations, 2.0 * 216 * 18);

    // Transposed, back from 6 x 6 to 8 x 8: each of 6 x 6 x 6 inputs goes to 2 channels x 9 places.
    convolution.transposed = true;
    std::swap(convolution.input, convolution.output);
    program.steps = {{"convolution", convolution}};
    EXPECT_EQ(countedSteps(program)[0].operations, 2.0 * 216 * 18);

    // The same with the channels last.
    program.buffers[4] = buffer(DType::float32, {1, 8, 8, 4});
    program.buffers[6] = buffer(DType::float32, {1, 6, 6, 6});
    convolution.channelsLast = true;
    program.steps = {{"convolution", convolution}};
    EXPECT_EQ(countedSteps(program)[0].operations, 2.0 * 216 * 18);
}

} // namespace cuda_agent::profile
