// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/nvrtc_worker/ptx_lines.h"

#include "core/toolchain/compiler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <unistd.h>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;

namespace {

// Lines are counted from 1. Two functions inlined into one another, one of them in a header.
const std::string ptx = R"(.version 9.0
.target sm_75
.extern .func missing_before_SM_90
.visible .entry k(
	.param .u64 k_param_0
)
{
	ld.param.u64 	%rd2, [k_param_0];
	.loc	1 7 0
	mov.u32 	%r2, %tid.x;
	.loc	1 9 5
	.loc	1 3 5, function_name $L__info_string0, inlined_at 1 9 5
	.loc	2 120 7, function_name $L__info_string1, inlined_at 1 3 5
	cp.async.cg.shared.global [%r1], [%rd1], 16;
	.loc	1 10 5
	cp.async.wait_all;
	{
	.loc	1 11 3
	call.uni
	missing_before_SM_90,
	(
	);
	}
}
	.file	1 "/tmp/kernels/a.cu"
	.file	2 "/worker/include/async.h"
)";

std::string at(int line, const std::string &what = "no such thing") {
    return fmt::format("ptxas application ptx input, line {}; error   : {}\n", line, what);
}

std::string mapped(const std::string &log) {
    return withSourceLines(log, ptx, "kernels/a.cu");
}

} // namespace

TEST(PtxLines, AreThoseOfTheSource) {
    EXPECT_EQ(mapped(at(10)), "kernels/a.cu:7:0: error: no such thing\n");
    EXPECT_EQ(mapped(at(16)), "kernels/a.cu:10:5: error: no such thing\n");
}

TEST(PtxLines, OfAHeaderAreWhereItWasInlined) {
    EXPECT_EQ(mapped(at(14)), "kernels/a.cu:3:5: error: no such thing (in async.h:120)\n");
    // Nothing of it was made from the header itself when that is the source.
    EXPECT_EQ(withSourceLines(at(14), ptx, "async.h"), "async.h:120:7: error: no such thing\n");
}

TEST(PtxLines, AnUnresolvedFunctionIsAtItsCall) {
    EXPECT_EQ(mapped("ptxas fatal   : Unresolved extern function 'missing_before_SM_90'\n"),
              "kernels/a.cu:11:3: error: Unresolved extern function 'missing_before_SM_90'\n");
    const std::string other = "ptxas fatal   : Unresolved extern function 'missing_before'\n";
    EXPECT_EQ(mapped(other), other);
}

TEST(PtxLines, TheRestStays) {
    EXPECT_EQ(mapped("a.cu(3): warning #1-D: x\n" + at(10) +
                     "ptxas fatal   : Ptx assembly aborted due to errors\n"),
              "a.cu(3): warning #1-D: x\nkernels/a.cu:7:0: error: no such thing\n");
    // Before the first .loc, and behind the end.
    for (const int line : {8, 1000}) {
        const auto log = at(line) + "ptxas fatal   : Ptx assembly aborted due to errors\n";
        EXPECT_EQ(mapped(log), log);
    }
    // A source of another name than any file.
    EXPECT_EQ(withSourceLines(at(10), ptx, "a.c"), at(10));
    EXPECT_EQ(withSourceLines(at(10), ptx, ""), at(10));
    EXPECT_EQ(withSourceLines("", ptx, "kernels/a.cu"), "");
}

TEST(PtxLines, TwiceTheSameIsSaidOnce) {
    EXPECT_EQ(mapped(at(10) + at(10) + at(10, "other") + at(10)),
              "kernels/a.cu:7:0: error: no such thing\nkernels/a.cu:7:0: error: other\n");
}

TEST(PtxLines, CirclesAndNonsenseEnd) {
    const std::string circle = "\t.loc 1 1 1, function_name a, inlined_at 1 2 2\n"
                               "\t.loc 1 2 2, function_name a, inlined_at 1 1 1\n\tret;\n"
                               "\t.file 1 \"/other\"\n";
    EXPECT_EQ(withSourceLines(at(3), circle, "kernels/a.cu"), at(3));
    std::mt19937 random(7);
    const std::string log =
        at(14) + at(16) + "ptxas fatal   : Unresolved extern function 'missing_before_SM_90'\n";
    int same = 0;
    for (int round = 0; round < 3000; ++round) {
        auto damagedPtx = ptx;
        auto damagedLog = log;
        for (int i = 0; i < 8; ++i) {
            damagedPtx[random() % damagedPtx.size()] = static_cast<char>(random());
            damagedLog[random() % damagedLog.size()] = static_cast<char>(random());
        }
        damagedPtx.resize(random() % (ptx.size() + 1));
        same += withSourceLines(damagedLog, damagedPtx, "kernels/a.cu") == mapped(log);
    }
    EXPECT_LT(same, 3000);
}

/// Instructions that a card lacks, compiled for it.
class LackingInstructions : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = std::filesystem::temp_directory_path() /
                  ("cuda-agent-ptx-lines-" + std::to_string(getpid()));
        setenv("CUDA_AGENT_CACHE", folder_.c_str(), 1);
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

    static Outcome compile(const std::string &text, const std::string &architecture) {
        auto compiler = makeCudaCompiler(architecture);
        EXPECT_TRUE(compiler) << compiler.error().message;
        auto outcome = (*compiler)->compile({"kernels/a.cu", text, {"k"}, {}});
        EXPECT_TRUE(outcome) << outcome.error().message;
        return std::move(*outcome);
    }
    /// The first error for `older`; for `newer` the text compiles.
    static Diagnostic lacking(const std::string &text, const std::string &older,
                              const std::string &newer) {
        const auto good = compile(text, newer);
        if (const auto *refused = std::get_if<Rejection>(&good))
            ADD_FAILURE() << newer << ": " << refused->log;
        const auto bad = compile(text, older);
        const auto *refused = std::get_if<Rejection>(&bad);
        if (!refused) {
            ADD_FAILURE() << "compiles for " << older;
            return {};
        }
        EXPECT_EQ(refused->diagnostics[0].file, "kernels/a.cu") << refused->log;
        EXPECT_TRUE(refused->summary.starts_with("kernels/a.cu:")) << refused->summary;
        return refused->diagnostics[0];
    }

    static inline std::filesystem::path folder_;
};

TEST_F(LackingInstructions, AsynchronousCopies) {
    const auto found = lacking(
        "__device__ __forceinline__ void copy(void *s, const void *g) {\n"
        "    unsigned a = (unsigned)__cvta_generic_to_shared(s);\n"
        "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\"r\"(a), \"l\"(g));\n"
        "}\n"
        "extern \"C\" __global__ void k(const float4 *x, float4 *y) {\n"
        "    __shared__ float4 t[128];\n"
        "    copy(t + threadIdx.x, x + threadIdx.x);\n"
        "    __syncthreads();\n"
        "    y[threadIdx.x] = t[threadIdx.x ^ 1];\n}\n",
        "sm_75", "sm_80");
    EXPECT_EQ(found.line, 3);
    EXPECT_GT(found.column, 0);
    EXPECT_EQ(found.message, "Feature 'cp.async' requires .target sm_80 or higher");
}

TEST_F(LackingInstructions, TensorCoresOnBfloat16) {
    const std::string text =
        "extern \"C\" __global__ void k(float *y, unsigned d) {\n"
        "    asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 \"\n"
        "        \"{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};\"\n"
        "        : \"+f\"(y[0]), \"+f\"(y[1]), \"+f\"(y[2]), \"+f\"(y[3]) : \"r\"(d));\n}\n";
    const auto found = lacking(text, "sm_75", "sm_80");
    EXPECT_GE(found.line, 2);
    EXPECT_LE(found.line, 4);
    EXPECT_NE(found.message.find(".bf16"), std::string::npos) << found.message;
    const auto fragments =
        lacking("#include <mma.h>\nusing namespace nvcuda;\n"
                "extern \"C\" __global__ void k(const __nv_bfloat16 *x, float *y) {\n"
                "    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16,\n"
                "                   wmma::row_major> a;\n"
                "    wmma::load_matrix_sync(a, x, 16);\n"
                "    y[0] = (float)a.x[0];\n}\n",
                "sm_75", "sm_80");
    EXPECT_EQ(fragments.line, 5);
    EXPECT_NE(fragments.message.find("fragment"), std::string::npos) << fragments.message;
}

TEST_F(LackingInstructions, WarpGroupProducts) {
    const std::string text = "extern \"C\" __global__ void k(float *y) {\n"
                             "    y[1] = 2;\n"
                             "    asm volatile(\"wgmma.fence.sync.aligned;\");\n"
                             "    y[0] = 1;\n}\n";
    // Of Hopper alone: neither older nor newer cards have it.
    for (const char *other : {"sm_89", "sm_100", "sm_120"}) {
        const auto found = lacking(text, other, "sm_90");
        EXPECT_EQ(found.line, 3) << other;
        EXPECT_NE(found.message.find("wgmma.fence"), std::string::npos) << found.message;
    }
}

TEST_F(LackingInstructions, BulkCopiesOfAHeader) {
    const auto found = lacking(
        "#include <cuda/ptx>\n"
        "extern \"C\" __global__ void k(const float *x, float *y) {\n"
        "    __shared__ alignas(128) float t[256];\n"
        "    __shared__ unsigned long long bar;\n"
        "    cuda::ptx::cp_async_bulk(cuda::ptx::space_shared, cuda::ptx::space_global, t,\n"
        "                             x, 1024, &bar);\n"
        "    y[0] = t[0];\n}\n",
        "sm_80", "sm_90");
    EXPECT_EQ(found.line, 5);
    EXPECT_NE(found.message.find("cp_async_bulk_is_not_supported_before_SM_90"), std::string::npos)
        << found.message;
}
