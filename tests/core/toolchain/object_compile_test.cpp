// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What the compiler of module candidates answers: rejections with their places, the C++ library,
// the cache.

#include "tests/core/toolchain/host_helpers.h"
#include "tests/core/toolchain/object_helpers.h"

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::test;

namespace {

const std::string kernel =
    "template <class T>\n"
    "__global__ void k(T *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }\n";

} // namespace

TEST(HostObjectCompile, ErrorsHaveLineAndColumnOfTheSource) {
    auto rejection = objectRejection(kernel + "void f(float *x) {\n"
                                              "    k<float><<<1, 32>>>(x, unheardOf);\n}\n");
    EXPECT_EQ(rejection.summary, "kernels/test.cu:4:28: use of undeclared identifier 'unheardOf'");
    EXPECT_EQ(rejection.log.find("__cah"), std::string::npos) << rejection.log;
    rejection = objectRejection(kernel + "void f(float *x) {\n"
                                         "    k<flaot><<<1, 32>>>(x, 3);\n}\n");
    EXPECT_EQ(rejection.diagnostics.at(0).line, 4) << rejection.log;
    EXPECT_EQ(rejection.diagnostics.at(0).column, 7) << rejection.log;
    // Found only when the kernel is called.
    rejection = objectRejection(kernel + "void f(float *x) {\n"
                                         "\n    k<float><<<1, 32>>>(3.f, x);\n}\n");
    EXPECT_EQ(rejection.diagnostics.at(0).line, 5) << rejection.log;
    EXPECT_EQ(rejection.diagnostics.at(0).file, "kernels/test.cu");
    rejection = objectRejection(kernel + "void f() { int i = threadIdx.x; }\n");
    EXPECT_EQ(rejection.summary, "kernels/test.cu:3:20: use of undeclared identifier 'threadIdx'");
}

TEST(HostObjectCompile, ArgumentsAreCountedAsTheLaunchHasThem) {
    auto rejection = objectRejection(kernel + "void f(float *x) { k<<<1, 32>>>(x); }\n");
    EXPECT_EQ(rejection.summary, "kernels/test.cu:3:20: no matching function for call to 'k'");
    EXPECT_NE(rejection.log.find("requires 2 arguments, but 1 were"), std::string::npos)
        << rejection.log;
    rejection = objectRejection(kernel + "void f(float *x) { k<<<1, 32>>>(x, x); }\n");
    EXPECT_NE(rejection.log.find("to 'int' for 2nd argument"), std::string::npos) << rejection.log;
    EXPECT_EQ(rejection.log.find("__cah"), std::string::npos) << rejection.log;
}

TEST(HostObjectCompile, ErrorsInHeadersNameThem) {
    const auto rejection =
        objectRejection("#include \"../common.cuh\"\nvoid f() { k<<<1, 1>>>(nullptr); }\n",
                        {{"common.cuh", "\n__global__ void k(float *x) { *x = nothing; }\n"}});
    EXPECT_EQ(rejection.summary, "common.cuh:2:36: use of undeclared identifier 'nothing'");
}

TEST(HostObjectCompile, TheCLibraryAndTheCppLibraryBesideKernels) {
    const auto record = runObject(R"(
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <math.h>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__device__ __noinline__ float twice(float v) { return 2 * v; }
__global__ void k(float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = std::max(std::abs(x[i]), 1.f) + std::sqrt(twice(std::fmin(x[i], 3.f) + 100.f));
}
struct Sizes { int block; };
static const Sizes &sizes(int config) {
    static const std::map<int, Sizes> table = {{0, {128}}, {1, {256}}};
    auto found = table.find(config);
    if (found == table.end())
        throw std::invalid_argument("no config " + std::to_string(config));
    return found->second;
}
extern "C" int k_launcher(float *x, int n, int config, cudaStream_t stream) try {
    assert(n > 0);
    const auto &[block] = sizes(config);
    std::vector<float> copy(x, x + n);
    std::sort(copy.begin(), copy.end());
    if (std::getenv("NOT_THERE") || std::llabs(-3) != 3 || std::abs(-2.5) != 2.5 || std::pow(2.0, 3) != 8)
        return -1;
    k<<<dim3(std::max(1, (n + block - 1) / block)), std::min(block, 1024), 0, stream>>>(x, n);
    return cudaGetLastError();
} catch (const std::exception &error) {
    fprintf(stdout, "%s\n", error.what());
    return 99;
}
)",
                                  R"(
extern "C" int k_launcher(float *, int, int, void *);
int main() {
    std::vector<float> x(1000), y;
    for (int i = 0; i < 1000; ++i)
        x[i] = i - 500;
    y = x;
    if (k_launcher(x.data(), 1000, 0, nullptr) != 0 || k_launcher(x.data(), 1000, 7, nullptr) != 99)
        return 1;
    for (int i = 0; i < 1000; ++i) {
        const float root = std::fmin(y[i], 3.f) + 100.f;
        const float wanted = std::fmax(std::abs(y[i]), 1.f) + std::sqrt(2 * root);
        if (!(std::abs(x[i] - wanted) < 1e-4f || (root < 0 && x[i] != x[i])))
            return printf("[%d] %g, not %g\n", i, x[i], wanted), 1;
    }
    puts("right");
}
)");
    EXPECT_TRUE(record.clean()) << record.summary() << record.standardError;
    EXPECT_EQ(record.standardOutput, "no config 7\nright\n");
}

TEST(HostObjectCompile, HeadersThatAreNotThere) {
    auto rejection = objectRejection("#include \"nowhere.cuh\"\n" + kernel);
    EXPECT_EQ(rejection.summary, "kernels/test.cu:1:10: 'nowhere.cuh' file not found");
    rejection = objectRejection("#include <cublas_v2.h>\n" + kernel);
    EXPECT_EQ(rejection.summary,
              "kernels/test.cu:1:1: cuBLAS is not there on the cpu device (<cublas_v2.h>)");
    rejection = objectRejection(kernel + "void f(float *x) { void *a[1] = {&x}; "
                                         "cudaLaunchKernel((void *)k<float>, 1, 1, a, 0, 0); }\n");
    EXPECT_NE(rejection.summary.find("without a cast"), std::string::npos) << rejection.summary;
}

TEST(HostObjectCompile, TheCacheKnowsModesAndHeaders) {
    const std::string text =
        "#include \"n.h\"\nextern \"C\" __global__ void k(int *x) { *x = N; }\n";
    const auto first = std::get<Binary>(compileObject(text, {{"kernels/n.h", "#define N 1\n"}}));
    EXPECT_FALSE(first.cached);
    EXPECT_EQ(first.file.extension(), ".o");
    ASSERT_EQ(first.entries.size(), 1u);
    EXPECT_EQ(first.entries[0].name, "k");
    EXPECT_TRUE(std::get<Binary>(compileObject(text, {{"kernels/n.h", "#define N 1\n"}})).cached);
    const auto other = std::get<Binary>(compileObject(text, {{"kernels/n.h", "#define N 2\n"}}));
    EXPECT_FALSE(other.cached);
    EXPECT_NE(other.hash, first.hash);
    const std::string alone = "extern \"C\" __global__ void k(int *x) { *x = 5; }\n";
    const auto object = std::get<Binary>(compileObject(alone));
    const auto library = std::get<Binary>(compileHost(alone));
    EXPECT_NE(object.hash, library.hash);
}

TEST(HostObjectCompile, ImpossibleHeaders) {
    for (const char *path :
         {"../x.h", "/x.h", "", "-x.h", "a/../b.h", "kernels/test.cu", "a:b.h"}) {
        auto outcome = objectCompiler().compile({"kernels/test.cu", kernel, {}, {}, {{path, ""}}});
        ASSERT_FALSE(outcome) << path;
        EXPECT_EQ(outcome.error().kind, ErrorKind::request);
    }
    auto outcome = objectCompiler().compile(
        {"kernels/test.cu", kernel, {}, {}, {{"big.h", std::string(2u << 20, ' ')}}});
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(std::holds_alternative<Rejection>(*outcome));
}
