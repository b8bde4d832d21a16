// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/source_names.h"

#include <gtest/gtest.h>

#include <set>

namespace cuda_agent::learn {
namespace {

/// What a policy writes before the source.
const std::string heading = "\n<function=Write>\n<parameter=file_path>\nkernels/fused.cu\n"
                            "</parameter>\n<parameter=content>\n";

SourceNames behind(std::string_view source) {
    SourceNames names;
    names.take(heading);
    names.take(source);
    return names;
}

/// The names that `source` uses, begun where one must be known, and does not have.
std::set<std::string> unknownOf(std::string_view source) {
    SourceNames names;
    names.take(heading);
    std::set<std::string> unknown;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const std::string begun(names.begun());
        names.take(source.substr(i, 1));
        if (names.begun().empty() && !begun.empty() && !SourceNames::isOfWord(source[i]) &&
            !names.isKnown(begun))
            unknown.insert(begun);
    }
    return unknown;
}

using Set = std::set<std::string>;

TEST(SourceNames, ANameThatIsUsedMustBeDeclared) {
    EXPECT_EQ(unknownOf("__global__ void k(const float *in0, float *out0, long long rows) {\n"
                        "    const int i = threadIdx.x;\n"
                        "    const float add_x2 = addmm_x2 + in0[i];\n"
                        "    out0[i] = add_x2 * in1[j] + fmaxf(rows, other);\n"
                        "}\n"),
              (Set{"addmm_x2", "in1", "j", "other"}));
}

TEST(SourceNames, WhatAScopeDeclaresEndsWithIt) {
    EXPECT_EQ(unknownOf("template <class T> __device__ T widen(T x) { return x; }\n"
                        "__device__ void f(float (&to)[4], const float *from) {\n"
                        "#pragma unroll\n"
                        "    for (int k = 0, last = 4; k < last; ++k)\n"
                        "        to[k] = widen(from[k]);\n"
                        "    to[0] = from[k];\n"
                        "    { int inner = 3; to[0] = inner; }\n"
                        "    to[1] = inner;\n"
                        "}\n"
                        "__device__ T g() { return to[0]; }\n"),
              (Set{"k", "inner", "to"}));
    // A type may be unknown where a function begins: that is no place at which a name is used.
}

TEST(SourceNames, ABodyDeclaresANameOnce) {
    const std::string head = "__device__ float one(float a) { return a; }\n"
                             "__global__ void k(float *in0, int rows) {\n"
                             "    const float mul = in0[0];\n";
    for (const char *again : {"    const float mul", "    int mul", "    __nv_bfloat16 mul",
                              "    for (int i = 0; i < 4; ++i) {}\n    float mul",
                              "    if (rows > 1) {\n        float sub = 1;\n        float sub",
                              "    { float mul = 2; }\n    float mul"})
        EXPECT_TRUE(behind(head + again).declaresAgain()) << again;
    for (const char *fresh :
         {"    const float mu", "    const float mul_2", "    float in", "    {\n        float mul",
          "    for (int mul", "    x = mul", "    x = (float)mul",
          "    for (int i = 0;;) {}\n    int i",
          "    for (float mul = 1;;)\n        ++mul;\n    int i", "    f(float mul",
          "    // float mul", "}\n__global__ void l(float *in0) {\n    float mul",
          "    struct S {\n        float mul", "    rows = 2;\n    mul", "    a < mul"})
        EXPECT_FALSE(behind(head + fresh).declaresAgain()) << fresh;
}

TEST(SourceNames, TypesAndTheirMembers) {
    EXPECT_EQ(unknownOf("struct Largest {\n"
                        "    template <class T> static __device__ T of(T a, T b) {\n"
                        "        return a > b || isNan(a) ? a : b;\n"
                        "    }\n"
                        "    template <class T> static __device__ bool isNan(T a) {\n"
                        "        return a != a;\n"
                        "    }\n"
                        "};\n"
                        "template <class T, int count> struct alignas(sizeof(T) * count) Vector {\n"
                        "    T at[count];\n"
                        "};\n"
                        "extern \"C\" __global__ void __launch_bounds__(256) scan0(\n"
                        "    const __half *__restrict__ in0, float *out0) {\n"
                        "    const Vector<float, 4> v = *(const Vector<float, 4> *)in0;\n"
                        "    out0[0] = Largest::of<float>(v.at[0], v.at[count]);\n"
                        "    out0[1] = SumOfExp::of<float>(v.at[1], 0x1p-3f + 1.5e-3f);\n"
                        "}\n"
                        "__global__ void next() { scan0(in0); }\n"),
              (Set{"count", "SumOfExp", "in0"}));
}

TEST(SourceNames, CommentsStringsAndDirectivesHaveNoNames) {
    EXPECT_EQ(unknownOf("#define LANES 32\n"
                        "#if defined(X) && X\n"
                        "#endif\n"
                        "// a = unknown + unknown\n"
                        "/* b = unknown * 'x */\n"
                        "__global__ void k(int n) {\n"
                        "    const char *text = \"= unknown \\\" + unknown\";\n"
                        "    n = LANES / WARPS + '\\'';\n"
                        "    asm volatile(\"cp.async %0, %1;\" ::\"r\"(n), \"l\"(there));\n"
                        "}\n"),
              (Set{"WARPS", "there"}));
}

TEST(SourceNames, EnumsNamespacesTypedefsAndUsing) {
    EXPECT_EQ(unknownOf("enum Mode { plain, shifted = plain + 1 };\n"
                        "namespace mine { __device__ int helper(int a) { return a; } }\n"
                        "typedef struct { int x; } Pair;\n"
                        "using Real = float;\n"
                        "using cub::BlockReduce;\n"
                        "extern \"C\" {\n"
                        "__device__ int other(Pair *p) { return p->x; }\n"
                        "}\n"
                        "__global__ void k(Real *out) {\n"
                        "    auto twice = [&](Real x) { return x * 2; };\n"
                        "    out[0] = twice(plain) + shifted + helper(1) + other(nullptr);\n"
                        "    out[1] = BlockReduce<int, 32>(memory).Sum(missing);\n"
                        "}\n"),
              (Set{"memory", "missing"}));
}

TEST(SourceNames, WhatIncludesOthersMayNameAnything) {
    EXPECT_EQ(unknownOf("#include <cuda_fp16.h>\nint a = b;\n"), Set{"b"});
    EXPECT_EQ(unknownOf("#include \"common.h\"\nint a = b;\n"), Set{});
    EXPECT_EQ(unknownOf("#include <torch/extension.h>\nint a = b;\n"), Set{});
    EXPECT_EQ(unknownOf("using namespace cooperative_groups;\nint a = b;\n"), Set{});
}

TEST(SourceNames, OnlyASourcesContentIsOne) {
    SourceNames names;
    names.take("<parameter=file_path>\nplan.json\n</parameter>\n<parameter=content>\n{");
    EXPECT_FALSE(names.inCode());
    names = behind("__global__ void k() {}\n");
    EXPECT_TRUE(names.inCode());
    EXPECT_TRUE(names.isKnown("k"));
    names.take("</parameter>\n");
    EXPECT_FALSE(names.inCode());
    EXPECT_FALSE(names.isKnown("k"));
}

TEST(SourceNames, WhatTheSignsBeforeANameSay) {
    const auto names = behind("__device__ void f(float a) { float x = a");
    for (const char *lead : {" + ", "*", "[", "(", " > 0 ? ", ";\n", " == -", "&&", " & "})
        EXPECT_TRUE(names.place().mustBeKnown(lead)) << lead;
    for (const char *lead : {"", " ", ".", "->", "::", ", ", "// ", "\""})
        EXPECT_FALSE(names.place().mustBeKnown(lead)) << lead;
    EXPECT_TRUE(behind("void f() { return").place().mustBeKnown(" "));
    EXPECT_FALSE(behind("void f(float").place().mustBeKnown(" *"));
    EXPECT_EQ(behind("int ab = 3; int c = a").begun(), "a");
    EXPECT_EQ(behind("int ab = 3; int c = 1").begun(), "");
    EXPECT_EQ(behind("int a").begun(), "");
    EXPECT_EQ(behind("int c = _").begun(), "_");
    EXPECT_EQ(behind("int c = _t").begun(), "_t");
    for (const char *free : {"int c = __l", "int c = _Ex"})
        EXPECT_EQ(behind(free).begun(), "") << free << ": the compiler's own";
}

TEST(SourceNames, OperatorsThatBeginWithALineAreNames) {
    EXPECT_EQ(unknownOf("__global__ void k(const int *in0, int *out0) {\n"
                        "    const int _to_copy = in0[__ldg(in0)];\n"
                        "    out0[_to_copy] = _to_copy_2 + _softmax;\n"
                        "}\n"),
              (Set{"_softmax", "_to_copy_2"}));
}

} // namespace
} // namespace cuda_agent::learn
