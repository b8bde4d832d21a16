// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/ptx.h"

#include <gtest/gtest.h>

#include <random>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;

namespace {

const std::string text = R"(.version 9.0
.target sm_90a
.address_size 64
.extern .func missing
(
	.param .b64 missing_param_0
)
;
.func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
{
	.reg .b32 	%r<3>;
	.loc	1 2 0
	ld.param.b32 	%r1, [helper_param_0];
	ret;
}
.visible .entry k(
	.param .u64 k_param_0
)
.maxntid 256
{
	.reg .b64 	%rd<11>;

	ld.param.u64 	%rd2, [k_param_0];
	.loc	1 9 5
	.loc	2 3 5, function_name $L__info_string0, inlined_at 1 9 5
	{ // callseq 0, 0
	mov.u32 	%r2, %tid.x;
	}
	.loc	1 10 5
$L__BB0_1:
	@%p1 bra 	$L__BB0_1;
	// begin inline asm
	cp.async.wait_all;
	// end inline asm
}
	.file	1 "/tmp/kernels/a.cu"
	.file	2 "/worker/include/h.h"
)";

} // namespace

TEST(Ptx, InstructionsHaveTheirPlaces) {
    const auto functions = parsePtx(text, "kernels/a.cu");
    ASSERT_EQ(functions.size(), 2u);
    EXPECT_EQ(functions[0].name, "helper");
    ASSERT_EQ(functions[0].instructions.size(), 2u);
    EXPECT_EQ(functions[0].instructions[0].lineIn("kernels/a.cu"), 2);
    EXPECT_EQ(functions[0].instructions[1].text, "ret;");
    EXPECT_EQ(functions[0].instructions[1].address, 16u); // its line in the text
    EXPECT_EQ(functions[1].name, "k");
    const auto &code = functions[1].instructions;
    ASSERT_EQ(code.size(), 4u);
    EXPECT_TRUE(code[0].places.empty()); // those of the function before are not its
    EXPECT_EQ(code[1].places,
              (std::vector<SourcePlace>{{"/worker/include/h.h", 3}, {"kernels/a.cu", 9}}));
    EXPECT_EQ(code[1].lineIn("kernels/a.cu"), 9);
    EXPECT_EQ(code[2].text, "@%p1 bra \t$L__BB0_1;");
    EXPECT_EQ(code[3].text, "cp.async.wait_all;");
    EXPECT_EQ(code[3].lineIn("kernels/a.cu"), 10);
}

TEST(Ptx, AnyTextIsSurvived) {
    EXPECT_TRUE(parsePtx("", "a.cu").empty());
    EXPECT_TRUE(parsePtx("}\n}\n{\n{\n", "a.cu").empty());
    std::mt19937 random(9);
    for (int round = 0; round < 2000; ++round) {
        auto damaged = text;
        for (int i = 0; i < 10; ++i)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        for (const auto &function : parsePtx(damaged, "kernels/a.cu"))
            EXPECT_FALSE(function.name.empty());
    }
}

TEST(Ptx, OfARealKernel) {
    const Source source{"kernels/a.cu",
                        "__device__ __noinline__ float twice(float x) {\n"
                        "    return x * FACTOR;\n}\n"
                        "extern \"C\" __global__ void k(const float *x, float *y) {\n"
                        "    __shared__ float t[128];\n"
                        "    t[threadIdx.x] = x[threadIdx.x];\n"
                        "    __syncthreads();\n"
                        "    y[threadIdx.x] = twice(t[threadIdx.x ^ 1]);\n}\n",
                        {"k"},
                        {{"FACTOR", "2.0f"}}};
    const auto made = translateToPtx(source, "sm_90");
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE(std::holds_alternative<std::string>(*made)) << std::get<Rejection>(*made).log;
    const auto &ptx = std::get<std::string>(*made);
    EXPECT_NE(ptx.find(".target sm_90a"), std::string::npos);
    const auto functions = parsePtx(ptx, "kernels/a.cu");
    ASSERT_EQ(functions.size(), 2u);
    std::map<std::string, std::vector<int>> lines;
    for (const auto &function : functions)
        for (const auto &instruction : function.instructions)
            lines[function.name + " " + instruction.text.substr(0, 9)].push_back(
                instruction.lineIn("kernels/a.cu"));
    EXPECT_EQ(lines["k ld.global"], std::vector{6});
    EXPECT_EQ(lines["k bar.sync "], std::vector{7});
    EXPECT_EQ(lines["k st.global"], std::vector{8});
    EXPECT_EQ(functions[0].name.find("twice") != std::string::npos, true) << functions[0].name;
}

TEST(Ptx, WhatDoesNotCompileIsRefused) {
    const auto refused = translateToPtx({"kernels/a.cu", "int x = ;\n", {}, {}}, "sm_80");
    ASSERT_TRUE(refused);
    ASSERT_TRUE(std::holds_alternative<Rejection>(*refused));
    EXPECT_TRUE(std::get<Rejection>(*refused).summary.starts_with("kernels/a.cu:1:"));
    // The assembler is not asked.
    EXPECT_TRUE(std::holds_alternative<std::string>(
        *translateToPtx({"kernels/a.cu",
                         "extern \"C\" __global__ void k() { asm volatile(\"no.such;\"); }\n",
                         {},
                         {}},
                        "sm_80")));
    EXPECT_EQ(translateToPtx({"kernels/a.cu", "", {}, {}}, "gfx90a").error().kind,
              ErrorKind::request);
}
