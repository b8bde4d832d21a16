// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What the host compiler answers: rejections with their places, limits, the cache.

#include "core/base/json.h"
#include "core/toolchain/binary_cache.h"
#include "tests/core/toolchain/host_helpers.h"

#include <fstream>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::test;

namespace {

Rejection rejectionOf(const std::string &text, std::map<std::string, std::string> defines = {}) {
    auto outcome = compileHost(text, std::move(defines));
    if (auto *rejection = std::get_if<Rejection>(&outcome))
        return *rejection;
    ADD_FAILURE() << "compiled: " << text;
    return {};
}

const std::string kernel = "extern \"C\" __global__ void k(float *x) { x[0] = 1; }\n";

} // namespace

TEST(HostCompile, ErrorsHaveLineAndColumnOfTheSource) {
    const auto rejection = rejectionOf("extern \"C\" __global__ void k(float *x, int n) {\n"
                                       "    int i = threadIdx.x;\n"
                                       "    x[i] = missing(n);\n"
                                       "}\n");
    EXPECT_EQ(rejection.summary, "kernels/test.cu:3:12: use of undeclared identifier 'missing'");
    ASSERT_FALSE(rejection.diagnostics.empty());
    EXPECT_EQ(rejection.diagnostics[0].line, 3);
    EXPECT_EQ(rejection.diagnostics[0].column, 12);
    EXPECT_NE(rejection.log.find("    x[i] = missing(n);\n               ^"), std::string::npos)
        << rejection.log;
    EXPECT_EQ(rejection.log.find("__cah"), std::string::npos) << rejection.log;
}

TEST(HostCompile, ErrorsOnTheKernelsOwnLineAndInMacros) {
    auto rejection = rejectionOf("extern \"C\" __global__ void k(flaot *x) { }\n");
    EXPECT_EQ(rejection.diagnostics.at(0).line, 1);
    EXPECT_EQ(rejection.diagnostics.at(0).column, 30) << rejection.log;
    rejection =
        rejectionOf("extern \"C\" __global__ void k(float *x) { __syncthreads(); x[0] = y; }\n");
    EXPECT_EQ(rejection.diagnostics.at(0).column, 66) << rejection.log;
    rejection = rejectionOf("#define BAD(v) ((v).nothing)\n"
                            "extern \"C\" __global__ void k(float *x) {\n"
                            "    x[0] = BAD(x[1]);\n}\n");
    EXPECT_EQ(rejection.diagnostics.at(0).line, 3) << rejection.log;
    EXPECT_EQ(rejection.diagnostics.at(0).column, 12);
}

TEST(HostCompile, ErrorsInsideOurHeadersPointAtTheCall) {
    const auto rejection = rejectionOf("struct Big { double v[4]; };\n"
                                       "extern \"C\" __global__ void k(Big *x) {\n"
                                       "    x[0] = __shfl_sync(0xffffffffu, x[1], 0);\n}\n");
    EXPECT_EQ(rejection.diagnostics.at(0).file, "kernels/test.cu") << rejection.log;
    EXPECT_EQ(rejection.diagnostics.at(0).line, 3);
}

TEST(HostCompile, MissingFunctionsAreFoundAtCompileTime) {
    const auto rejection =
        rejectionOf("extern \"C\" float other(float);\n"
                    "extern \"C\" __global__ void k(float *x) { x[0] = other(x[1]); }\n");
    EXPECT_NE(rejection.summary.find("undefined symbol: other"), std::string::npos)
        << rejection.summary;
}

TEST(HostCompile, WhatCannotRunIsRejectedBeforeCompiling) {
    const auto rejection = rejectionOf("#include <cuda_fp16.h>\n"
                                       "extern \"C\" __global__ void k(float *x) {\n"
                                       "    asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x[0]));\n}\n");
    EXPECT_EQ(rejection.diagnostics.size(), 1u);
    EXPECT_EQ(rejection.diagnostics[0].line, 3);
    EXPECT_EQ(rejection.diagnostics[0].column, 5);
    EXPECT_NE(rejection.summary.find("inline PTX"), std::string::npos);
}

TEST(HostCompile, WarningsAreKept) {
    auto outcome = compileHost("extern \"C\" __global__ void k(float *x) {\n"
                               "    if (x[0] = 2) x[1] = 3;\n}\n");
    ASSERT_TRUE(std::holds_alternative<Binary>(outcome));
    const auto &warnings = std::get<Binary>(outcome).warnings;
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].line, 2);
    EXPECT_EQ(warnings[0].column, 14);
}

TEST(HostCompile, SecondTimeFromTheCache) {
    const std::string text = kernel + "// cached\n";
    auto first = compileHost(text);
    auto second = compileHost(text);
    ASSERT_TRUE(std::holds_alternative<Binary>(first));
    const auto &a = std::get<Binary>(first);
    const auto &b = std::get<Binary>(second);
    EXPECT_FALSE(a.cached);
    EXPECT_TRUE(b.cached);
    EXPECT_EQ(a.hash, b.hash);
    EXPECT_EQ(a.file, b.file);
    EXPECT_EQ(b.entries.at(0).name, "k");
    EXPECT_NE(std::get<Binary>(compileHost(text, {{"N", "2"}})).hash, a.hash);
    EXPECT_NE(std::get<Binary>(compileHost(text + " ")).hash, a.hash);
    // A damaged entry is compiled anew.
    std::ofstream(a.file, std::ios::trunc) << "not a library";
    auto third = compileHost(text);
    EXPECT_FALSE(std::get<Binary>(third).cached);
    EXPECT_TRUE(host::HostModule::open(std::get<Binary>(third).file));
}

TEST(HostCompile, TemplateBombIsARejection) {
    const auto rejection = rejectionOf(
        "template <int N> struct B { static const long v = B<2 * N>::v + B<2 * N + 1>::v; };\n"
        "template <int N, bool> struct C { static const long v = C<N - 1, true>::v + C<N - 1, "
        "false>::v; };\n"
        "template <class T, int N> struct D { D<D<T, N>, N + 1> a; };\n"
        "extern \"C\" __global__ void k(long *x) { D<int, 0> d; x[0] = B<1>::v + C<900, true>::v; "
        "}\n");
    EXPECT_FALSE(rejection.summary.empty());
    EXPECT_EQ(rejection.diagnostics.at(0).severity, "error");
}

TEST(HostCompile, HungryCompilesAreRejections) {
    const std::string uses = "extern \"C\" __global__ void k(int *x) { x[0] = table[x[1]]; }\n";
    auto rejection = rejectionOf("__device__ int table[3 << 28] = {1};\n" + uses);
    EXPECT_NE(rejection.summary.find("File size limit exceeded"), std::string::npos)
        << rejection.summary;
    // A template with 200 million arguments.
    rejection = rejectionOf("template <class T, T... I> struct S {};\n"
                            "__device__ __make_integer_seq<S, int, 200000000> table;\n"
                            "extern \"C\" __global__ void k(int *x) { x[0] = sizeof(table); }\n");
    EXPECT_NE(rejection.summary.find("over its limit ("), std::string::npos) << rejection.summary;
}

TEST(HostCompile, FilesOutsideAreNeitherReadNorEchoed) {
    EXPECT_NE(rejectionOf("#include \"/etc/passwd\"\n" + kernel).summary.find("by path"),
              std::string::npos);
    // Past the rewriter's own check, the sandbox has nothing to show.
    const auto rejection =
        rejectionOf("#if __has_include(\"/root/.bashrc\") || "
                    "__has_include(\"/home\") || __has_include(\"/work\")\n"
                    "extern \"C\" __global__ void k(int *x) { found; }\n#else\n"
                    "extern \"C\" __global__ void k(int *x) { hidden; }\n#endif\n");
    EXPECT_NE(rejection.summary.find("'hidden'"), std::string::npos) << rejection.summary;
}

TEST(HostCompile, ImpossibleRequests) {
    for (const char *path : {"../x.cu", "/x.cu", "-o.cu", "", "a:b.cu", "a\nb.cu"}) {
        auto outcome = hostCompiler().compile({path, kernel, {}, {}});
        ASSERT_FALSE(outcome) << path;
        EXPECT_EQ(outcome.error().kind, ErrorKind::request);
    }
    for (const char *name : {"1A", "", "A B", "-x"}) {
        auto outcome = hostCompiler().compile({"x.cu", kernel, {}, {{name, "1"}}});
        ASSERT_FALSE(outcome) << name;
        EXPECT_EQ(outcome.error().kind, ErrorKind::request);
    }
    std::stop_source stop;
    stop.request_stop();
    auto outcome = hostCompiler().compile({"x.cu", kernel, {}, {}}, stop.get_token());
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, ErrorKind::stopped);
}

TEST(HostCompile, Describes) {
    EXPECT_TRUE(hostCompiler().description().starts_with("clang ") ||
                hostCompiler().description().starts_with("g++ "));
    EXPECT_TRUE(hostCompiler().description().ends_with(" (host)"));
}

TEST(BinaryCache, KeepsFactsAndForgetsTheOldest) {
    std::string folder = (std::filesystem::temp_directory_path() / "cache-test-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(folder.data()));
    const std::filesystem::path file = std::filesystem::path(folder) / "made.cubin";
    std::ofstream(file) << "content";
    const BinaryCache cache(std::filesystem::path(folder) / "binaries");
    EXPECT_FALSE(cache.find("aa"));
    Binary facts;
    facts.seconds = 0.25;
    facts.entries = {{"k", 32, 8, 1024, 16}};
    facts.warnings = {{"warning", "k.cu", 3, 4, "odd \xff byte"}};
    auto stored = cache.store("aa", facts, file);
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_FALSE(stored->cached);
    EXPECT_EQ(stored->file.extension(), ".cubin");
    auto found = cache.find("aa");
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->cached);
    EXPECT_EQ(found->hash, "aa");
    EXPECT_EQ(found->seconds, 0.25);
    EXPECT_EQ(found->entries.at(0).registers, 32);
    EXPECT_EQ(found->entries.at(0).sharedBytes, 1024);
    EXPECT_EQ(found->warnings.at(0).line, 3);
    EXPECT_EQ(*readTextFile(found->file), "content");
    ASSERT_TRUE(cache.store("aa", facts, file)) << "stored twice";
    for (const char *name : {"bb", "cc"}) {
        std::filesystem::last_write_time(std::filesystem::path(folder) / "binaries" / "aa",
                                         std::filesystem::file_time_type::clock::now() -
                                             std::chrono::hours(1));
        ASSERT_TRUE(cache.store(name, facts, file));
    }
    cache.prune(2);
    EXPECT_FALSE(cache.find("aa"));
    EXPECT_TRUE(cache.find("bb"));
    EXPECT_TRUE(cache.find("cc"));
    std::filesystem::remove_all(folder);
}
