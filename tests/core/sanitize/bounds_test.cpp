// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Seeded faults of memory and arithmetic, each at the place where it stands.

#include "tests/core/sanitize/check_fixture.h"

namespace cuda_agent::sanitize {
namespace {

class Bounds : public CheckKernel {};

std::string kernel(const std::string &body, const std::string &before = "") {
    return before +
           "extern \"C\" __global__ void k(const float *in, float *out, int n) {\n"
           "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body + "}\n";
}

TEST_F(Bounds, HonestKernelsAreCleanAndRight) {
    expectClean(kernel("    if (i < n) out[i] = 2 * in[i];\n"), {.n = 1000, .blocks = 4});
    EXPECT_EQ(results_[999], 3.0f);
    expectClean(kernel("    if (4 * i < n)\n"
                       "        ((float4 *)out)[i] = ((const float4 *)in)[i];\n"),
                {});
    EXPECT_EQ(results_[255], 1.5f);
}

TEST_F(Bounds, OnePastAnInput) {
    const auto report = check(kernel("    if (i < n)\n"
                                     "        out[i] = in[i + 1];\n"),
                              {.n = 300, .blocks = 2});
    expectFinding(report, "out-of-bounds", "in[i + 1]",
                  {"reads 4 bytes", "0 bytes after the end of in0", "index 300 of 300",
                   "thread (43,0,0) of block (1,0,0)"});
    EXPECT_EQ(report.findings.at(0).kernel, "kernels/k.cu:k (step 0)");
}

TEST_F(Bounds, OnePastAnOutput) {
    const auto report = check(kernel("    if (i <= n)\n"
                                     "        out[i] = 1;\n"),
                              {.n = 300, .blocks = 2});
    expectFinding(report, "out-of-bounds", "= 1",
                  {"writes 4 bytes", "0 bytes after the end of out0", "byte offset 1200 of 1200"});
}

TEST_F(Bounds, ANegativeIndex) {
    const auto report = check(kernel("    if (i < n)\n"
                                     "        out[i] = in[i - 2];\n"),
                              {});
    expectFinding(report, "out-of-bounds", "in[i - 2]",
                  {"8 bytes before the start of in0", "index -2 of 256", "thread (0,0,0)"});
}

TEST_F(Bounds, FarOutsideAndNull) {
    expectFinding(check(kernel("    if (i < n)\n"
                               "        out[i] = in[i + (1ll << 40)];\n"),
                        {}),
                  "out-of-bounds", "in[i +", {"where there is no buffer"});
    expectFinding(check(kernel("    float *none = (float *)(size_t)(n - 256);\n"
                               "    out[i] = none[i];\n"),
                        {}),
                  "out-of-bounds", "none[i];", {"null pointer"});
}

TEST_F(Bounds, SharedArraysAndWhatIsBetweenThem) {
    // Indexed by its own name, through a pointer, and the launch's own memory.
    expectFinding(check(kernel("    __shared__ float tile[256];\n"
                               "    tile[threadIdx.x + 1] = in[i];\n"
                               "    out[i] = 0;\n"),
                        {}),
                  "out-of-bounds", "tile[threadIdx.x + 1]", {"index 256", "'float[256]'"});
    expectFinding(check(kernel("    __shared__ float first[256], second[256];\n"
                               "    put(first, threadIdx.x + 1, in[i]);\n"
                               "    put(second, threadIdx.x, in[i]);\n"
                               "    out[i] = first[threadIdx.x] + second[threadIdx.x];\n",
                               "__device__ void put(float *a, int at, float v) {\n"
                               "    a[at] = v;\n"
                               "}\n"),
                        {}),
                  "out-of-bounds", "= v;", {"first", "0 bytes after the end"});
    expectFinding(check(kernel("    extern __shared__ float mine[];\n"
                               "    mine[threadIdx.x + 1] = in[i];\n"
                               "    out[i] = 0;\n"),
                        {.shared = 1024}),
                  "out-of-bounds", "= in[i]",
                  {"the dynamic shared memory", "byte offset 1024 of 1024"});
}

TEST_F(Bounds, MemoryThatNobodyWrote) {
    expectFinding(check(kernel("    __shared__ float tile[256];\n"
                               "    if (threadIdx.x != 7)\n"
                               "        tile[threadIdx.x] = in[i];\n"
                               "    __syncthreads();\n"
                               "    out[i] =\n"
                               "        tile[threadIdx.x];\n"),
                        {}),
                  "uninitialised", "tile[threadIdx.x];\n}", {"byte 28 of tile", "thread (7,0,0)"});
    // What one block left there is nothing to the next.
    expectFinding(check(kernel("    __shared__ float sum;\n"
                               "    if (blockIdx.x == 0 && threadIdx.x == 0)\n"
                               "        sum = 0;\n"
                               "    __syncthreads();\n"
                               "    out[i] = sum;\n"),
                        {.n = 512, .blocks = 2}),
                  "uninitialised", "sum;\n}", {"sum", "block (1,0,0)"});
    expectFinding(check(kernel("    out[i] += in[i];\n"), {}), "uninitialised", "+=", {"out0"});
    expectClean(kernel("    out[i] += in[i];\n"), {.filled = true});
}

TEST_F(Bounds, AnOutputThatStaysUnwritten) {
    const auto report = check(kernel("    if (i < n - 3) out[i] = in[i];\n"), {});
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, "unwritten");
    EXPECT_EQ(report.findings[0].buffer, "out0");
    EXPECT_NE(report.findings[0].message.find("3 elements of out0 are never written, the first is "
                                              "element 253"),
              std::string::npos)
        << report.findings[0].message;
}

TEST_F(Bounds, AnInputThatIsWritten) {
    expectFinding(check(kernel("    ((float *)in)[i] = 0;\n"
                               "    out[i] = 0;\n"),
                        {}),
                  "input-written", "= 0;", {"element 0 of in0"});
}

TEST_F(Bounds, MisalignedVectors) {
    expectFinding(check(kernel("    if (i == 0)\n"
                               "        *(float4 *)(out + 1) = *(const float4 *)in;\n"
                               "    out[i] = 0;\n"),
                        {.threads = 1}),
                  "misaligned", "= *(const float4", {"4 bytes past a multiple of 16"});
}

TEST_F(Bounds, OverflowAndShift) {
    const auto report = check(kernel("    int big = 2147483647 - n;\n"
                                     "    big = big\n"
                                     "        + 2 * n;\n"
                                     "    out[i] = big;\n"
                                     "    out[i] += 1\n"
                                     "        << n;\n"),
                              {});
    expectFinding(report, "undefined", "+ 2 * n", {"signed overflow: 2147483391 + 512", "'int'"});
    expectFinding(report, "undefined", "<< n", {"by 256, which is out of range"});
}

TEST_F(Bounds, DivisionByZeroEndsTheRunWithItsLine) {
    expectFinding(check(kernel("    out[i] = n / (n - 256);\n"), {}), "undefined", "/ (n - 256)",
                  {"division by zero"});
}

TEST_F(Bounds, AFailedAssertionHasItsLine) {
    const auto report = check(kernel("    assert(i < 100);\n    out[i] = 0;\n"), {});
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, "fault");
    EXPECT_EQ(report.findings[0].place->line, 3);
    EXPECT_NE(report.findings[0].message.find("i < 100"), std::string::npos);
}

TEST_F(Bounds, OtherMemoryOfAKernelIsItsOwn) {
    expectClean(kernel("    float local[8];\n"
                       "    for (int j = 0; j < 8; ++j)\n"
                       "        local[j] = in[(i + j) % n];\n"
                       "    float sum = table[i % 3] + pick(local, i % 8);\n"
                       "    float *own = (float *)malloc(16);\n"
                       "    own[3] = sum;\n"
                       "    out[i] = own[3];\n"
                       "    free(own);\n",
                       "__constant__ float table[3] = {1, 2, 3};\n"
                       "__device__ float pick(const float *from, int at) { return from[at]; }\n"),
                {});
    EXPECT_EQ(results_[1], 3.5f);
}

} // namespace
} // namespace cuda_agent::sanitize
