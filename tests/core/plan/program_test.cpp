// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/make_program.h"
#include "core/plan/scalar_bits.h"
#include "tests/core/plan/plan_fixture.h"

#include <limits>

namespace cuda_agent::plan {
namespace {

TEST(ScalarBits, RoundsToNearestEven) {
    // Values from numpy.float16 and torch.bfloat16.
    EXPECT_EQ(float16Bits(1.0f), 0x3c00);
    EXPECT_EQ(float16Bits(-2.5f), 0xc100);
    EXPECT_EQ(float16Bits(65504.0f), 0x7bff);
    EXPECT_EQ(float16Bits(65519.9f), 0x7bff);
    EXPECT_EQ(float16Bits(65520.0f), 0x7c00);
    EXPECT_EQ(float16Bits(1.00048828125f), 0x3c00) << "halfway goes to the even one below";
    EXPECT_EQ(float16Bits(1.00146484375f), 0x3c02) << "halfway goes to the even one above";
    EXPECT_EQ(float16Bits(6e-8f), 0x0001);
    EXPECT_EQ(float16Bits(6.1e-5f), 0x03ff);
    EXPECT_EQ(float16Bits(std::numeric_limits<float>::quiet_NaN()) & 0x7e00, 0x7e00);
    EXPECT_EQ(bfloat16Bits(1.0f), 0x3f80);
    EXPECT_EQ(bfloat16Bits(1.00390625f), 0x3f80);
    EXPECT_EQ(bfloat16Bits(1.01171875f), 0x3f82);
    EXPECT_EQ(bfloat16Bits(-std::numeric_limits<float>::infinity()), 0xff80);
}

TEST(ScalarBits, IntegersSaturate) {
    EXPECT_EQ(elementBits(DType::int8, -1).bits, 0xffu);
    EXPECT_EQ(elementBits(DType::int8, 1000).bits, 127u);
    EXPECT_EQ(elementBits(DType::uint8, -5).bits, 0u);
    EXPECT_EQ(elementBits(DType::int32, -2).bits, 0xfffffffeu);
    EXPECT_EQ(elementBits(DType::int64, -2).bits, ~std::uint64_t{1});
    EXPECT_EQ(elementBits(DType::int64, 1e30).bits, std::uint64_t{INT64_MAX});
    EXPECT_EQ(elementBits(DType::boolean, 3).bits, 1u);
    EXPECT_EQ(elementBits(DType::float64, 1.0).bits, 0x3ff0000000000000u);
    EXPECT_EQ(elementBits(DType::float64, 1.0).bytes, 8u);
}

TEST(Program, SurvivesTheWire) {
    const auto plan = planFromJson(examplePlan());
    ASSERT_TRUE(plan);
    const auto resolved = resolve(*plan, exampleSignature());
    ASSERT_TRUE(resolved);
    device::Info info;
    info.cacheBytes = 32u << 20;
    const Program program = makeProgram(*plan, *resolved, info);
    EXPECT_EQ(program.device, "cpu");
    ASSERT_EQ(program.steps.size(), 3u);
    EXPECT_EQ(program.steps[1].label, "kernels/softmax.cu:softmax_rows (step 1)");
    const Json wire = toJson(program);
    const auto again = programFromJson(Json::parse(wire.dump()));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(toJson(*again), wire);
    const auto &kernel = std::get<ProgramKernel>(again->steps[1].work);
    EXPECT_EQ(kernel.arguments[1].buffer, 2);
    EXPECT_EQ(kernel.arguments[3].scalar.bits, 64u);
    EXPECT_EQ(kernel.arguments[4].scalar.bytes, 8u);
}

TEST(Program, RefusesAnotherProtocol) {
    const auto program = programFromJson({{"device", "cpu"}});
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().kind, ErrorKind::machine);
}

TEST(Program, LimitsComeFromTheDevice) {
    device::Info info;
    info.kind = device::Kind::cuda;
    info.architecture = "sm_86";
    info.sharedBytesPerBlock = 99u << 10;
    info.memoryBytes = 8ull << 30;
    EXPECT_EQ(limitsOf(info).maxSharedBytes, 99u << 10);
    EXPECT_EQ(limitsOf(info).maxScratchBytes, 4ull << 30);
    EXPECT_EQ(limitsOf(info).maxClusterBlocks, 1);
    info.architecture = "sm_90a";
    EXPECT_EQ(limitsOf(info).maxClusterBlocks, 16);
}

} // namespace
} // namespace cuda_agent::plan
