// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/sass.h"

#include "core/base/temporary_folder.h"
#include "core/toolchain/compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;

namespace {

// As nvdisasm prints it.
const std::string listing = "\t.target\tsm_90\n"
                            "//--------------------- .text.k                   ------------\n"
                            "\t.section\t.text.k,\"ax\",@progbits\n"
                            "        .global         k\n"
                            "k:\n.text.k:\n"
                            "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
                            "\t//## File \"/tmp/kernels/a.cu\", line 9\n"
                            "        /*0010*/                   S2R R2, SR_TID.X ;\n"
                            "\t//## File \"/worker/include/h.h\", line 3 inlined at "
                            "\"/tmp/kernels/a.cu\", line 12\n"
                            "\t//## File \"/tmp/kernels/a.cu\", line 12\n"
                            "        /*0020*/              @!P0 LDG.E R4, desc[UR6][R2.64] ;\n"
                            "        /*0030*/                   EXIT ;\n"
                            ".L_x_0:\n"
                            "        /*0040*/                   BRA `(.L_x_0);\n"
                            "\t.section\t.text.other,\"ax\",@progbits\n"
                            "        /*0000*/                   NOP ;\n";

std::vector<int> linesOf(const ListedFunction &function, std::string_view opcode) {
    std::vector<int> lines;
    for (const auto &instruction : function.instructions)
        if (instruction.text.find(opcode) != std::string::npos)
            lines.push_back(instruction.lineIn("kernels/a.cu"));
    return lines;
}

} // namespace

TEST(Sass, ListingsAreRead) {
    const auto functions = parseSass(listing, "kernels/a.cu");
    ASSERT_EQ(functions.size(), 2u);
    EXPECT_EQ(functions[0].name, "k");
    EXPECT_EQ(functions[1].name, "other");
    const auto &code = functions[0].instructions;
    ASSERT_EQ(code.size(), 5u);
    EXPECT_TRUE(code[0].places.empty());
    EXPECT_EQ(code[0].lineIn("kernels/a.cu"), 0);
    EXPECT_EQ(code[1].address, 0x10u);
    EXPECT_EQ(code[1].text, "S2R R2, SR_TID.X");
    EXPECT_EQ(code[1].places, (std::vector<SourcePlace>{{"kernels/a.cu", 9}}));
    EXPECT_EQ(code[2].text, "@!P0 LDG.E R4, desc[UR6][R2.64]");
    EXPECT_EQ(code[2].places,
              (std::vector<SourcePlace>{{"/worker/include/h.h", 3}, {"kernels/a.cu", 12}}));
    EXPECT_EQ(code[2].lineIn("kernels/a.cu"), 12);
    EXPECT_EQ(code[3].places, code[2].places); // nothing new is said
    EXPECT_EQ(code[4].text, "BRA `(.L_x_0)");
    EXPECT_TRUE(functions[1].instructions[0].places.empty()); // another function's are not its
}

TEST(Sass, AnyTextIsSurvived) {
    EXPECT_TRUE(parseSass("", "a.cu").empty());
    std::mt19937 random(5);
    for (int round = 0; round < 2000; ++round) {
        auto text = listing;
        for (int i = 0; i < 10; ++i)
            text[random() % text.size()] = static_cast<char>(random());
        for (const auto &function : parseSass(text, "kernels/a.cu"))
            for (const auto &instruction : function.instructions)
                EXPECT_FALSE(instruction.text.empty());
    }
}

TEST(Sass, InstructionsOfARealKernelHaveTheirLines) {
    if (const auto program = findDisassembler(); !program)
        GTEST_SKIP() << program.error().message;
    const auto cache = TemporaryFolder::make("sass").value();
    setenv("CUDA_AGENT_CACHE", cache.path().c_str(), 1);
    const std::string text = "__device__ __forceinline__ float load(const float *x, int i) {\n"
                             "    return __ldg(x + i);\n" // 2
                             "}\n"
                             "extern \"C\" __global__ void k(const float *x, float *y, int n) {\n"
                             "    __shared__ float t[256];\n"
                             "    int i = blockIdx.x * 256 + threadIdx.x;\n"
                             "    if (i >= n)\n"
                             "        return;\n"
                             "    t[threadIdx.x] = load(x, i);\n" // 9
                             "    __syncthreads();\n"             // 10
                             "    float a = t[threadIdx.x ^ 1];\n"
                             "    y[i] = a * 3.0f;\n" // 12
                             "}\n";
    for (const char *architecture : {"sm_75", "sm_80", "sm_90"}) {
        auto compiler = makeCudaCompiler(architecture);
        ASSERT_TRUE(compiler) << compiler.error().message;
        const auto outcome = (*compiler)->compile({"kernels/a.cu", text, {"k"}, {}});
        ASSERT_TRUE(outcome);
        const auto functions = disassemble(std::get<Binary>(*outcome).file, "kernels/a.cu");
        ASSERT_TRUE(functions) << functions.error().message;
        ASSERT_EQ(functions->size(), 1u) << architecture;
        const auto &kernel = functions->front();
        EXPECT_EQ(kernel.name, "k");
        EXPECT_EQ(linesOf(kernel, "LDG"), std::vector{2}) << architecture;
        EXPECT_EQ(linesOf(kernel, "BAR.SYNC"), std::vector{10}) << architecture;
        EXPECT_EQ(linesOf(kernel, "STG"), std::vector{12}) << architecture;
        for (const auto &instruction : kernel.instructions)
            if (instruction.text.find("LDG") != std::string::npos) {
                ASSERT_GE(instruction.places.size(), 2u); // inlined
                EXPECT_EQ(instruction.places[1], (SourcePlace{"kernels/a.cu", 9}));
            }
    }
    unsetenv("CUDA_AGENT_CACHE");
}

TEST(Sass, WhatIsNoCubinIsAnError) {
    if (const auto program = findDisassembler(); !program)
        GTEST_SKIP() << program.error().message;
    const auto folder = TemporaryFolder::make("sass").value();
    const auto file = folder.path() / "x.cubin";
    std::ofstream(file) << "no cubin";
    const auto none = disassemble(file, "kernels/a.cu");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::machine);
    EXPECT_NE(none.error().message.find("x.cubin"), std::string::npos) << none.error().message;
}
