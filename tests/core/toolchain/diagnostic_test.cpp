// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Outputs captured from NVRTC and nvcc 13.0, clang 19 and g++ 12.

#include "core/toolchain/diagnostic.h"

#include <gtest/gtest.h>

using namespace cuda_agent::toolchain;

namespace {

std::string lineOf(const Diagnostic &d) {
    return d.severity + "|" + d.file + "|" + std::to_string(d.line) + "|" +
           std::to_string(d.column) + "|" + d.message;
}

std::vector<std::string> linesOf(const char *output) {
    std::vector<std::string> lines;
    for (const auto &diagnostic : parseDiagnostics(output))
        lines.push_back(lineOf(diagnostic));
    return lines;
}

using Lines = std::vector<std::string>;

} // namespace

TEST(Diagnostics, Nvrtc) {
    EXPECT_EQ(
        linesOf(R"(kernels/t.cu(4): error: identifier "foo" is undefined
      foo = 1;
      ^

kernels/t.cu(6): error: identifier "bar" is undefined
      for (int i = 0; i < n; i++) a[i] = bar(i)
                                         ^

kernels/t.cu(3): warning #177-D: variable "unused" was declared but never referenced
      int unused = 3;
          ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

kernels/t.cu(1): error: expression must have class type but it has type "float"
  template <class T> __device__ T twice(T x) { return x.nothing + x; }
                                                      ^
          detected during instantiation of "T twice(T) [with T=float]" at line 5

4 errors detected in the compilation of "kernels/t.cu".
)"),
        (Lines{R"(error|kernels/t.cu|4|5|identifier "foo" is undefined)",
               R"(error|kernels/t.cu|6|40|identifier "bar" is undefined)",
               R"(warning|kernels/t.cu|3|9|variable "unused" was declared but never referenced)",
               R"(error|kernels/t.cu|1|53|expression must have class type but it has type "float" )"
               R"((detected during instantiation of "T twice(T) [with T=float]" at line 5))"}));
}

TEST(Diagnostics, Ptxas) {
    EXPECT_EQ(
        linesOf("ptxas error   : Entry function 'k' uses too much shared data (0x13880 bytes, "
                "0xc000 max)\n"),
        (Lines{"error||0|0|Entry function 'k' uses too much shared data (0x13880 bytes, "
               "0xc000 max)"}));
    EXPECT_EQ(linesOf("ptxas application ptx input, line 27; error   : Not a name of any known "
                      "instruction: 'bogus'\n"
                      "ptxas fatal   : Ptx assembly aborted due to errors\n"
                      "ptxas info    : 0 bytes gmem\n"),
              (Lines{"error||0|0|Not a name of any known instruction: 'bogus'",
                     "error||0|0|Ptx assembly aborted due to errors"}));
}

TEST(Diagnostics, Clang) {
    EXPECT_EQ(linesOf("kernels/a.cu:3:7: error: expected ';' after expression\n"
                      "    3 |   x = 1\n"
                      "      |        ^\n"
                      "      |        ;\n"
                      "kernels/a.cu:9:1: warning: unused variable 'y' [-Wunused-variable]\n"
                      "kernels/a.cu:4:2: note: in instantiation of function template "
                      "specialization 'f<int>' requested here\n"
                      "2 errors generated.\n"
                      "clang++: error: linker command failed with exit code 1 (use -v to see "
                      "invocation)\n"
                      "kernels/a.cu:5:10: fatal error: 'nothing.h' file not found\n"),
              (Lines{"error|kernels/a.cu|3|7|expected ';' after expression",
                     "warning|kernels/a.cu|9|1|unused variable 'y' [-Wunused-variable]",
                     "note|kernels/a.cu|4|2|in instantiation of function template specialization "
                     "'f<int>' requested here",
                     "error||0|0|linker command failed with exit code 1 (use -v to see invocation)",
                     "error|kernels/a.cu|5|10|'nothing.h' file not found"}));
}

TEST(Diagnostics, GccAndLinkers) {
    EXPECT_EQ(linesOf("kernels/a.cu: In function 'void k(float*)':\n"
                      "kernels/a.cu:3:5: error: 'foo' was not declared in this scope\n"
                      "cc1plus: fatal error: out of memory\n"
                      "ld.lld: error: undefined symbol: missing(float)\n"
                      ">>> referenced by a.cu\n"
                      "/usr/bin/ld: /tmp/x.o: in function `k': undefined reference to `f'\n"),
              (Lines{"error|kernels/a.cu|3|5|'foo' was not declared in this scope",
                     "error||0|0|out of memory", "error||0|0|undefined symbol: missing(float)",
                     "error||0|0|undefined reference to `f'"}));
}

TEST(Diagnostics, NothingInNothing) {
    EXPECT_TRUE(parseDiagnostics("").empty());
    EXPECT_TRUE(
        parseDiagnostics("\n\nall is well: (3)\nerrors are human\n1 warning generated.\n").empty());
    EXPECT_TRUE(parseDiagnostics("(((:::99999999999999999999: error").empty());
}
