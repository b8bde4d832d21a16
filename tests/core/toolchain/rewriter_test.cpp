// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/lexer.h"
#include "core/toolchain/host/rewriter.h"

#include <gtest/gtest.h>

using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::host;

namespace {

Source sourceOf(std::string text) {
    return {"kernels/k.cu", std::move(text), {}, {}};
}

/// The rewritten text without the entries at its end.
std::string rewritten(std::string text) {
    auto result = rewrite(sourceOf(std::move(text)));
    if (auto *problems = std::get_if<std::vector<Diagnostic>>(&result))
        return "rejected: " + problems->front().message;
    const auto &all = std::get<Rewritten>(result).text;
    return all.substr(0, all.find("#line 1 \"kernel entries\""));
}

std::vector<HostKernel> kernelsOf(std::string text) {
    auto result = rewrite(sourceOf(std::move(text)));
    if (auto *problems = std::get_if<std::vector<Diagnostic>>(&result)) {
        ADD_FAILURE() << problems->front().message;
        return {};
    }
    return std::get<Rewritten>(result).kernels;
}

std::vector<Diagnostic> problemsOf(Source source) {
    auto result = rewrite(source);
    auto *problems = std::get_if<std::vector<Diagnostic>>(&result);
    return problems ? *problems : std::vector<Diagnostic>{};
}

Engine engineOf(std::string text) {
    const auto kernels = kernelsOf(std::move(text));
    EXPECT_EQ(kernels.size(), 1u);
    return kernels.empty() ? Engine::loops : kernels[0].engine;
}

} // namespace

TEST(Lexer, TextsCommentsAndDirectives) {
    const auto tokens = lex("a/*b*/\"c//d\" // e\n"
                            "R\"x(__shared__ )\" )x\" 'q' 1.5e-3f 0x1p+3 L\"w\"\n"
                            "#define F(x) \\\n  __global__ x /* no\n end */ y\n"
                            "k<<<1, 2>>>(a->b);");
    std::string all;
    for (const auto &token : tokens)
        all += std::string(token.text) + "|";
    EXPECT_EQ(all, "a|\"c//d\"|R\"x(__shared__ )\" )x\"|'q'|1.5e-3f|0x1p+3|L\"w\"|"
                   "#define F(x) \\\n  __global__ x /* no\n end */ y|"
                   "k|<<<|1|,|2|>|>|>|(|a|->|b|)|;|");
    const Place place = placeOf("ab\ncd\n", 4);
    EXPECT_EQ(place.line, 2);
    EXPECT_EQ(place.column, 2);
}

TEST(Lexer, NeverFails) {
    for (const char *text : {"\"open", "R\"(open", "/* open", "'", "#", "\\", "#define \\", "1e+",
                             "R\"", "\xff\xfe", "{([", "])}"})
        EXPECT_NO_THROW({
            lex(text);
            (void)rewrite(sourceOf(text));
        }) << text;
}

TEST(Rewriter, KernelBecomesLoopsAndLinesStay) {
    EXPECT_EQ(rewritten("// a comment\n"
                        "extern \"C\" __global__ void\nadd(const float *a, int n) {\n"
                        "    if (n) return;\n}\n"
                        "extern \"C\" __global__ void none(void) {}\n"
                        "static __global__ void other() { }\n"),
              "// a comment\n"
              "           static     void\nadd(const CudaAgentHostChunk &__cah_chunk, "
              "const float *a, int n) { __CAH_LOOPS \n"
              "    if (n) return;\n__CAH_END }\n"
              "           static     void none(const CudaAgentHostChunk &__cah_chunk) { "
              "__CAH_LOOPS __CAH_END }\n"
              "static            void other(const CudaAgentHostChunk &__cah_chunk) { "
              "__CAH_LOOPS  __CAH_END }\n");
}

TEST(Rewriter, SharedMemory) {
    EXPECT_EQ(
        rewritten("extern \"C\" __global__ void k() {\n"
                  "    extern __shared__ __align__(16) float4 part[];\n"
                  "    __shared__ float a[32], b;\n"
                  "    static __shared__ int c;\n"
                  "    extern __shared__ double rows[][8];\n"
                  "}\n"
                  "extern __shared__ unsigned char pool[];\n"),
        "           static     void k(const CudaAgentHostChunk &__cah_chunk) { __CAH_LOOPS \n"
        "                                    float4 *const part   = __cah_t.cah_dynamicShared();\n"
        "    __shared__ float a[32], b;\n"
        "           __shared__ int c;\n"
        "                      double (*const rows) [8] = __cah_t.cah_dynamicShared();\n"
        "__CAH_END }\n"
        "                  static const __cah_shared_view<unsigned char > pool{};\n");
}

TEST(Rewriter, EntriesAndTheirNamespaces) {
    const auto kernels =
        kernelsOf("namespace a { namespace b { extern \"C\" __global__ void x() {} } }\n"
                  "namespace c::d { extern \"C\" { __global__ void y() {} } }\n"
                  "template <int N> __global__ void t() {}\n"
                  "__global__ void mangled() {}\n"
                  "extern \"C\" __global__ void z();\n"
                  "extern \"C\" __global__ __launch_bounds__(128, 2) void z() {}\n");
    ASSERT_EQ(kernels.size(), 3u);
    EXPECT_EQ(kernels[0].qualified, "a::b::x");
    EXPECT_EQ(kernels[1].qualified, "c::d::y");
    EXPECT_EQ(kernels[2].qualified, "z");
}

TEST(Rewriter, EngineFollowsTheCallGraph) {
    const std::string kernel = "extern \"C\" __global__ void k(float *x) { ";
    EXPECT_EQ(engineOf(kernel + "x[threadIdx.x] = 1; }"), Engine::loops);
    EXPECT_EQ(engineOf(kernel + "__syncthreads(); }"), Engine::fibers);
    EXPECT_EQ(engineOf("__device__ float f(float v) { return __shfl_xor_sync(~0u, v, 1); }\n"
                       "__device__ float g(float v) { return f(v); }\n" +
                       kernel + "x[0] = g(x[0]); }"),
              Engine::fibers);
    EXPECT_EQ(engineOf("__device__ void f() { __syncthreads(); }\n" + kernel + "x[0] = 1; }"),
              Engine::loops)
        << "not reached";
    EXPECT_EQ(engineOf("#define SYNC __syncthreads()\n" + kernel + "SYNC; }"), Engine::fibers);
    EXPECT_EQ(
        engineOf(
            "struct R { __device__ float operator()(float v) { __syncwarp(); return v; } };\n" +
            kernel + "R r; x[0] = r(x[0]); }"),
        Engine::fibers);
    EXPECT_EQ(engineOf("template <class T = float, int N = (1 + 2)> __device__ T f(T v) "
                       "{ __syncthreads(); return v; }\n" +
                       kernel + "x[0] = f<float, 4>(x[0]); }"),
              Engine::fibers);
    EXPECT_EQ(engineOf("__device__ int f() { return threadIdx.x; }\n" + kernel + "x[f()] = 1; }"),
              Engine::contextualLoops);
    EXPECT_EQ(
        engineOf("#define I (blockIdx.x * blockDim.x + threadIdx.x)\n" + kernel + "x[I] = 1; }"),
        Engine::loops);
    EXPECT_EQ(engineOf("#define I threadIdx.x\n__device__ int f() { return I; }\n" + kernel +
                       "x[f()] = 1; }"),
              Engine::contextualLoops);
    EXPECT_EQ(
        engineOf(kernel + "x[0] = 1; /* __syncthreads() */ const char *s = \"__syncwarp\"; }"),
        Engine::loops);
    EXPECT_EQ(engineOf("#ifdef __CUDA_ARCH__\n__device__ void f() { __syncthreads(); }\n#else\n"
                       "__device__ void f() {}\n#endif\n" +
                       kernel + "f(); }"),
              Engine::loops);
}

TEST(Rewriter, ColumnsAreThoseOfTheSource) {
    const std::string text = "extern \"C\" __global__ void k(float *x, int n) { x[0] = n; }\n";
    auto result = rewrite(sourceOf(text));
    const auto &r = std::get<Rewritten>(result);
    const auto columnOf = [](const std::string &in, const char *what) {
        return static_cast<int>(in.find(what)) + 1;
    };
    for (const char *what : {"void k", "float *x", "int n", "x[0]", "= n"})
        EXPECT_EQ(r.sourceColumn(1, columnOf(r.text, what)), columnOf(text, what)) << what;
    EXPECT_EQ(r.sourceColumn(1, columnOf(r.text, "__cah_chunk")), columnOf(text, "float *x"));
    EXPECT_EQ(r.sourceColumn(2, 7), 7);
}

TEST(Rewriter, WhatCannotRunIsNamedWithItsPlace) {
    struct Case {
        const char *text;
        int line, column;
        const char *message;
    };
    const Case cases[] = {
        {"#include <mma.h>\n", 1, 1, "tensor-core"},
        {"\n  using namespace nvcuda;\n", 2, 19, "tensor-core"},
        {"void f() {\n  asm volatile(\"x\");\n}\n", 2, 3, "inline PTX"},
        {"#define A(x) asm(x)\n", 1, 14, "inline PTX"},
        {"void f() { __pipeline_commit(); }\n", 1, 12, "asynchronous copies"},
        {"#include <cuda/pipeline>\n", 1, 1, "template libraries"},
        {"#include <cooperative_groups.h>\n", 1, 1, "cooperative groups"},
        {"void f() { k<<<1, 1>>>(); }\n", 1, 13, "kernel launches"},
        {"float f(cudaTextureObject_t t);\n", 1, 9, "textures"},
        {"__cluster_dims__(2) void f();\n", 1, 1, "clusters"},
        {"#include <cub/cub.cuh>\n", 1, 1, "template libraries"},
        {"#  include \"/etc/passwd\"\n", 1, 1, "by path"},
        {"#include \"../../secret.h\"\n", 1, 1, "by path"},
        {"#define F \"x\"\n#include F\n", 2, 1, "not a macro"},
        {"int x[] = {\n#embed \"/etc/passwd\"\n};\n", 2, 1, "#embed"},
        {"#line 5 \"other\"\n", 1, 1, "#line"},
    };
    for (const auto &item : cases) {
        const auto problems = problemsOf(sourceOf(item.text));
        ASSERT_FALSE(problems.empty()) << item.text;
        EXPECT_EQ(problems[0].severity, "error");
        EXPECT_EQ(problems[0].file, "kernels/k.cu");
        EXPECT_EQ(problems[0].line, item.line) << item.text;
        EXPECT_EQ(problems[0].column, item.column) << item.text;
        EXPECT_NE(problems[0].message.find(item.message), std::string::npos) << problems[0].message;
    }
}

TEST(Rewriter, BothVersionsInOneFile) {
    const char *const conditions[] = {
        "#ifdef __CUDA_AGENT_HOST__\n#define OK 1\n#else\nvoid f() { asm(\"\"); }\n#endif\n",
        "#ifndef __CUDA_AGENT_HOST__\n#include <mma.h>\n#endif\n",
        "#if !defined(__CUDA_AGENT_HOST__) && X > 3\nvoid f() { asm(\"\"); }\n#endif\n",
        "#if defined __CUDA_AGENT_HOST__ || UNKNOWN\n#else\nvoid f() { asm(\"\"); }\n#endif\n",
        "#if __CUDA_ARCH__ >= 900\nvoid f() { asm(\"\"); }\n#elif defined(__CUDA_ARCH__)\n"
        "void f() { asm(\"\"); }\n#endif\n",
        "#define USE_PTX 0\n#if USE_PTX\nvoid f() { asm(\"\"); }\n#endif\n",
        "#if 0\n#if UNKNOWN\nvoid f() { asm(\"\"); }\n#endif\n#endif\n",
    };
    const std::string kernel = "extern \"C\" __global__ void k() {}\n";
    for (const char *condition : conditions)
        EXPECT_TRUE(problemsOf(sourceOf(condition + kernel)).empty()) << condition;
    EXPECT_FALSE(
        problemsOf(sourceOf("#if UNKNOWN\nvoid f() { asm(\"\"); }\n#endif\n" + kernel)).empty());
    Source defined = sourceOf("#if FAST == 1\nvoid f() { asm(\"\"); }\n#endif\n" + kernel);
    defined.defines["FAST"] = "0";
    EXPECT_TRUE(problemsOf(defined).empty());
    defined.defines["FAST"] = "1";
    EXPECT_FALSE(problemsOf(defined).empty());
}

TEST(Rewriter, WantedEntriesMustBeThere) {
    Source source = sourceOf("__global__ void a() {}\n"
                             "template <int N> __global__ void b() {}\n"
                             "extern \"C\" __global__ void c() {}\n");
    source.entries = {"a", "b", "c", "d"};
    const auto problems = problemsOf(source);
    ASSERT_EQ(problems.size(), 3u);
    EXPECT_EQ(problems[0].line, 1);
    EXPECT_EQ(problems[0].column, 17);
    EXPECT_EQ(problems[0].message, "kernel 'a' needs extern \"C\" and a body");
    EXPECT_NE(problems[1].message.find("is a template"), std::string::npos);
    EXPECT_NE(problems[2].message.find("void d(...)"), std::string::npos);
    EXPECT_FALSE(problemsOf(sourceOf("int x;\n")).empty()) << "no kernel at all";
}
