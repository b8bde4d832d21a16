// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// How host functions that launch kernels are rewritten.

#include "core/toolchain/host/launches.h"
#include "core/toolchain/host/rewriter.h"

#include <gtest/gtest.h>

using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::host;

namespace {

constexpr const char *before = "__cah_launch(__FILE__, __LINE__, __CAH_KERNEL ";
constexpr const char *between = "(__cah_c, __cah_p...); }, __cah_shape(";

std::variant<RewrittenFiles, std::vector<Diagnostic>>
rewriteText(std::string text, std::map<std::string, std::string> headers = {}) {
    return rewriteObject({"kernels/k.cu", std::move(text), {}, {}, std::move(headers)});
}

std::string rewritten(std::string text, std::map<std::string, std::string> headers = {},
                      const std::string &file = "kernels/k.cu") {
    auto result = rewriteText(std::move(text), std::move(headers));
    if (auto *problems = std::get_if<std::vector<Diagnostic>>(&result))
        return "rejected: " + problems->front().message;
    auto &files = std::get<RewrittenFiles>(result);
    return files.contains(file) ? files[file].text : "not there";
}

/// One launch inside a function, with "[", "|" and "]" for what is put before, between and behind.
std::string launch(const std::string &statement) {
    const std::string head = "void f() { ";
    std::string text = rewritten(head + statement + " }\n");
    if (!text.starts_with(head))
        return text;
    text = text.substr(head.size(), text.size() - head.size() - 3);
    for (const auto &[long_, short_] : {std::pair(before, "["), std::pair(between, "|")})
        for (std::size_t at; (at = text.find(long_)) != text.npos;)
            text.replace(at, std::string(long_).size(), short_);
    return text;
}

std::vector<Diagnostic> problemsOf(std::string text,
                                   std::map<std::string, std::string> headers = {}) {
    auto result = rewriteText(std::move(text), std::move(headers));
    auto *problems = std::get_if<std::vector<Diagnostic>>(&result);
    return problems ? *problems : std::vector<Diagnostic>{};
}

} // namespace

TEST(ObjectRewriter, LaunchesOfEveryForm) {
    EXPECT_EQ(launch("k<<<1, 2>>>();"), "[k|1, 2))();");
    EXPECT_EQ(launch("k<<<g, b, s, st>>>(a, b);"), "[k|g, b, s, st))(a, b);");
    EXPECT_EQ(launch("k<float, 4><<<g, b>>>(a);"), "[k<float, 4>|g, b))(a);");
    EXPECT_EQ(launch("k<A<B<int>>><<<g, b>>>(a);"), "[k<A<B<int>>>|g, b))(a);");
    EXPECT_EQ(launch("k<(1 << 3), (2 > 1)><<<g, b>>>(a);"), "[k<(1 << 3), (2 > 1)>|g, b))(a);");
    EXPECT_EQ(launch("a::b<T>::k<U><<<g, b>>>(a);"), "[a::b<T>::k<U>|g, b))(a);");
    EXPECT_EQ(launch("return ::k<<<g, b>>>(a);"), "return [::k|g, b))(a);");
    EXPECT_EQ(launch("if (x) k<<<g, b>>>(a); else m<<<g, b>>>(a);"),
              "if (x) [k|g, b))(a); else [m|g, b))(a);");
    EXPECT_EQ(launch("(x ? k : m)<<<g, b>>>(a);"), "[(x ? k : m)|g, b))(a);");
    EXPECT_EQ(launch("if (x) (k)<<<g, b>>>(a);"), "if (x) [(k)|g, b))(a);");
    EXPECT_EQ(launch("table[i]<<<g, b>>>(a);"), "[table[i]|g, b))(a);");
    EXPECT_EQ(launch("pick(n, 3)<<<g, b>>>(a);"), "[pick(n, 3)|g, b))(a);");
    EXPECT_EQ(launch("x.fn<<<g, b>>>(a); y->fn<<<g, b>>>(a);"),
              "[x.fn|g, b))(a); [y->fn|g, b))(a);");
    EXPECT_EQ(launch("x ? k<<<g, b>>>(a) : m<<<g, b>>>(a);"), "x ? [k|g, b))(a) : [m|g, b))(a);");
}

TEST(ObjectRewriter, ShapesAndArgumentsWithCommasAndLambdas) {
    EXPECT_EQ(launch("k<<<dim3(a, b), f(c, d), n > 3 ? 1 : 2>>>(a);"),
              "[k|dim3(a, b), f(c, d), n > 3 ? 1 : 2))(a);");
    EXPECT_EQ(launch("k<<<g, b, V<W<int>>::size>>>(a);"), "[k|g, b, V<W<int>>::size))(a);");
    EXPECT_EQ(launch("k<<<g, b, (n >> 2)>>>([=](int i, int j) { return i < j; }, P<A, B>{1, 2});"),
              "[k|g, b, (n >> 2)))([=](int i, int j) { return i < j; }, P<A, B>{1, 2});");
    EXPECT_EQ(launch("k<<<g, b>>>(p<<<1, 2>>>(x), NULL, f(NULL));"),
              "[k|g, b))([p|1, 2))(x), nullptr, f(nullptr));");
    EXPECT_EQ(launch("k<<<{1, 2}, {3}>>>(a);"), "[k|{1, 2}, {3}))(a);");
}

TEST(ObjectRewriter, LinesAndColumnsStay) {
    const std::string text = "void f(int n) {\n"
                             "    k<float>\n"
                             "        <<<n,\n"
                             "           256>>>(\n"
                             "            wrong, n);\n"
                             "}\n";
    auto result = rewriteText(text);
    ASSERT_TRUE(std::holds_alternative<RewrittenFiles>(result));
    const auto &file = std::get<RewrittenFiles>(result).at("kernels/k.cu");
    EXPECT_EQ(std::ranges::count(file.text, '\n'), 6);
    EXPECT_EQ(file.sourceColumn(5, 13), 13);
    EXPECT_EQ(file.sourceColumn(2, 5 + static_cast<int>(std::string(before).size())), 5);
    EXPECT_EQ(file.sourceColumn(3, 9 + static_cast<int>(std::string(between).size())), 12);
    EXPECT_EQ(file.sourceColumn(2, 5), 5);
    EXPECT_EQ(file.sourceColumn(2, 20), 5) << "inside what was put there";
}

TEST(ObjectRewriter, LaunchesInMacros) {
    const std::string text = rewritten("#define RUN(T, ...) \\\n"
                                       "    k<T><<<grid, block>>>(__VA_ARGS__)\n"
                                       "#define QUIET __noinline__\n"
                                       "void f() { RUN(float, x, 1); }\n");
    EXPECT_EQ(text, "#define RUN(T, ...) \\\n    " + std::string(before) + "k<T>" + between +
                        "grid, block))(__VA_ARGS__)\n"
                        "#define QUIET __CAH_NOINLINE\n"
                        "void f() { RUN(float, x, 1); }\n");
}

TEST(ObjectRewriter, KernelsOfEveryKind) {
    const std::string parameter = "const CudaAgentHostChunk &__cah_chunk";
    EXPECT_EQ(rewritten("template <> __global__ void k<float>(float *x) { *x = 1; }\n"),
              "template <>            void k<float>(" + parameter +
                  ", float *x) { __CAH_LOOPS  *x = 1; __CAH_END }\n");
    EXPECT_EQ(rewritten("template __global__ void k<float, A<int>>(float *);\n"),
              "template            void k<float, A<int>>(" + parameter + ", float *);\n");
    auto result = rewriteText("namespace { __global__ void a() {} }\n"
                              "template <int N> __global__ void b() { __syncthreads(); }\n"
                              "static __global__ void c();\n");
    ASSERT_TRUE(std::holds_alternative<RewrittenFiles>(result));
    const auto &kernels = std::get<RewrittenFiles>(result).at("kernels/k.cu").kernels;
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].name, "a");
    EXPECT_EQ(kernels[1].name, "b");
    EXPECT_EQ(kernels[1].engine, Engine::fibers);
}

TEST(ObjectRewriter, HostVariablesNamedAsTheIndices) {
    EXPECT_EQ(rewritten("void f() { dim3 blockDim(32); k<<<1, blockDim>>>(blockDim.x); }\n"),
              "void f() { dim3 __cah_host_blockDim(32); " + std::string(before) + "k" + between +
                  "1, __cah_host_blockDim))(__cah_host_blockDim.x); }\n");
    EXPECT_EQ(rewritten("__device__ int f() { return blockDim.x; }\n"),
              "__device__ int f() { return blockDim.x; }\n");
}

TEST(ObjectRewriter, HeadersAreFollowed) {
    const std::map<std::string, std::string> headers = {
        {"include/wait.cuh", "__device__ void wait() { __syncthreads(); }\n"},
        {"kernels/own.cuh", "#include \"../include/wait.cuh\"\n__global__ void k() { wait(); }\n"},
        {"other.cuh", "__device__ void k() { asm(\"\"); }\n"}};
    EXPECT_NE(rewritten("#include \"own.cuh\"\n", headers, "kernels/own.cuh").find("__CAH_FIBERS"),
              std::string::npos);
    EXPECT_EQ(rewritten("#include \"own.cuh\"\n", headers, "other.cuh"), "not there");
    const auto problems =
        problemsOf("#include \"other.cuh\"\n#include \"missing/../x.h\"\n", headers);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_NE(problems[0].message.find("by path"), std::string::npos) << problems[0].message;
    EXPECT_EQ(problems[0].line, 2);
    EXPECT_EQ(problems[1].file, "other.cuh");
    EXPECT_EQ(problems[1].column, 23);
}

TEST(ObjectRewriter, WhatIsRefused) {
    struct Case {
        std::string text;
        int line, column;
        std::string message;
    };
    for (const auto &[text, line, column, message] : std::vector<Case>{
             {"__global__ void a() {}\n__global__ void k() {\n    a<<<1, 1>>>();\n}\n", 3, 6,
              "kernel launches from device code"},
             {"__device__ void k() { a<<<1, 1>>>(); }\n", 1, 24, "kernel launches from device"},
             {"void f() {\n  <<<1, 1>>>();\n}\n", 2, 3, "cannot be read"},
             {"void f() { k<<<1, 1>>>; }\n", 1, 13, "cannot be read"},
             {"void f() { k<<<1, 1); }\n", 1, 13, "cannot be read"},
             {"void f() { k<<<>>>(); }\n", 1, 13, "cannot be read"},
             {"\n#define K(n) __global__ void n() {}\n", 2, 14, "kernel that a macro writes"},
             {"#include <cublas_v2.h>\n", 1, 1, "cuBLAS is not there on the cpu device"},
             {"\n#include \"cudnn.h\"\n", 2, 1, "cuDNN is not there on the cpu device"},
             {"#include <torch/extension.h>\n", 1, 1, "nothing of PyTorch"},
             {"__global__ void k() { asm(\"nop;\"); }\n", 1, 23, "inline PTX"},
             {"#include <cooperative_groups.h>\n", 1, 1, "cooperative groups"}}) {
        const auto problems = problemsOf(text);
        ASSERT_FALSE(problems.empty()) << text;
        EXPECT_NE(problems[0].message.find(message), std::string::npos) << problems[0].message;
        EXPECT_EQ(problems[0].line, line) << text;
        EXPECT_EQ(problems[0].column, column) << text;
    }
    // Without a host branch the launch from a kernel is in one that the host skips.
    EXPECT_TRUE(problemsOf("__global__ void k() {\n#ifndef __CUDA_AGENT_HOST__\n a<<<1, 1>>>();\n"
                           "#endif\n}\n")
                    .empty());
}

TEST(ObjectRewriter, NotesCountTheArgumentsOfTheLaunch) {
    EXPECT_EQ(withoutFirstArgument("requires 3 arguments, but 12 were provided"),
              "requires 2 arguments, but 11 were provided");
    EXPECT_EQ(
        withoutFirstArgument("no known conversion from 'float[3]' to 'A< 4>' for 2nd argument"),
        "no known conversion from 'float[3]' to 'A< 4>' for 1st argument");
    EXPECT_EQ(withoutFirstArgument("for 13th argument"), "for 12th argument");
    EXPECT_EQ(withoutFirstArgument("for 22nd argument x2"), "for 21st argument x2");
    EXPECT_EQ(withoutFirstArgument(""), "");
}
