// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What compute-sanitizer prints, in the forms that its manual shows, in a few versions' spelling.

#include "core/sanitize/cuda_check.h"

#include <gtest/gtest.h>

namespace cuda_agent::sanitize {
namespace {

TEST(ComputeSanitizer, OutOfBoundsAndMisaligned) {
    const auto output = parseComputeSanitizer("memcheck", R"(
========= COMPUTE-SANITIZER
a line of the candidate's own
========= Invalid __global__ write of size 4 bytes
=========     at k(const float *, float *, int)+0x90 in /candidate/kernels/k.cu:7
=========     by thread (43,0,0) in block (1,0,0)
=========     Address 0x7f12340004b0 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f1234000000 of size 1,200 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========     Host Frame: [0x2e8d20] in libcuda.so.1
=========
========= Invalid __global__ write of size 4 bytes
=========     at k(const float *, float *, int)+0x90 in /candidate/kernels/k.cu:7
=========     by thread (44,0,0) in block (1,0,0)
=========     Address 0x7f12340004b4 is out of bounds
=========     and is 5 bytes after the nearest allocation at 0x7f1234000000 of size 1,200 bytes
=========
========= Invalid __shared__ read of size 16 bytes
=========     at 0x160 in kernels/k.cu:12:norm(float *)
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x401 is misaligned
=========
========= Program hit unspecified launch failure (error 719) on CUDA API call to cuStreamSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========
========= ERROR SUMMARY: 4 errors
)");
    EXPECT_TRUE(output.finished);
    EXPECT_EQ(output.problem, "");
    ASSERT_EQ(output.findings.size(), 2u);
    const auto &first = output.findings[0];
    EXPECT_EQ(first.tool, "compute-sanitizer memcheck");
    EXPECT_EQ(first.kind, "out-of-bounds");
    EXPECT_EQ(first.kernel, "k(const float *, float *, int)");
    EXPECT_EQ(first.count, 2u);
    ASSERT_TRUE(first.place);
    EXPECT_EQ(first.place->file, "kernels/k.cu");
    EXPECT_EQ(first.place->line, 7);
    EXPECT_EQ(
        first.message,
        "Invalid __global__ write of size 4 bytes by thread (43,0,0) in block (1,0,0) Address "
        "0x7f12340004b0 is out of bounds and is 1 bytes after the nearest allocation at "
        "0x7f1234000000 of size 1,200 bytes");
    const auto &second = output.findings[1];
    EXPECT_EQ(second.kind, "misaligned");
    EXPECT_EQ(second.kernel, "norm(float *)");
    EXPECT_EQ(second.place->line, 12);
}

TEST(ComputeSanitizer, Races) {
    const auto output = parseComputeSanitizer("racecheck", R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sum(int *, int *)+0x1a0 in kernels/k.cu:25
=========     and Read access at sum(int *, int *)+0x240 in kernels/k.cu:29 [36 hazards]
=========
========= Warning: Race reported between Read access at 0x70 in kernels/k.cu:9:sum(int *, int *)
=========     and Write access at 0x90 in kernels/k.cu:10:sum(int *, int *) [1 hazards]
=========
========= ERROR: Potential WAW hazard detected at __shared__ 0x0 in block (0, 0, 0) :
=========     Write Thread (0, 0, 0) at 0x58 in kernels/k.cu:3:waw()
=========     Write Thread (1, 0, 0) at 0x58 in kernels/k.cu:4:waw()
=========     Current Value : 0, Incoming Value : 2
=========
========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)
)");
    EXPECT_TRUE(output.finished);
    ASSERT_EQ(output.findings.size(), 3u);
    EXPECT_EQ(output.findings[0].kind, "race");
    EXPECT_EQ(output.findings[0].place->line, 25);
    ASSERT_TRUE(output.findings[0].other);
    EXPECT_EQ(output.findings[0].other->line, 29);
    EXPECT_EQ(output.findings[0].count, 36u);
    EXPECT_EQ(output.findings[0].message, "Race reported between Write access and Read access");
    EXPECT_EQ(output.findings[1].other->line, 10);
    EXPECT_EQ(output.findings[1].kernel, "sum(int *, int *)");
    EXPECT_EQ(output.findings[2].place->line, 3);
    EXPECT_EQ(output.findings[2].other->line, 4);
}

TEST(ComputeSanitizer, UninitialisedAndBarriers) {
    auto output = parseComputeSanitizer("initcheck", R"(========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at add(float *)+0x70 in kernels/k.cu:10
=========     by thread (17,0,0) in block (0,0,0)
=========     Address 0x7f6510c00044
=========
========= ERROR SUMMARY: 1 error
)");
    ASSERT_EQ(output.findings.size(), 1u);
    EXPECT_EQ(output.findings[0].kind, "uninitialised");
    output = parseComputeSanitizer("synccheck", R"(========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block
=========     at 0x300 in k(int *)
=========     by thread (32,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 1 error
)");
    ASSERT_EQ(output.findings.size(), 1u);
    EXPECT_EQ(output.findings[0].kind, "barrier");
    EXPECT_FALSE(output.findings[0].place);
    EXPECT_EQ(output.findings[0].kernel, "k(int *)");
}

TEST(ComputeSanitizer, NothingFoundAndNothingDone) {
    auto output = parseComputeSanitizer("memcheck", "========= COMPUTE-SANITIZER\n"
                                                    "========= ERROR SUMMARY: 0 errors\n");
    EXPECT_TRUE(output.finished);
    EXPECT_TRUE(output.findings.empty());
    output = parseComputeSanitizer(
        "memcheck", "========= COMPUTE-SANITIZER\n"
                    "========= Error: Target application terminated before first instrumented API "
                    "call\n");
    EXPECT_FALSE(output.finished);
    EXPECT_NE(output.problem.find("terminated before"), std::string::npos);
    output = parseComputeSanitizer("memcheck", "");
    EXPECT_FALSE(output.finished);
    // A launch that fails without a report is news by itself.
    output = parseComputeSanitizer(
        "memcheck", "========= Program hit out of memory (error 2) on CUDA API call to cuMemAlloc\n"
                    "========= ERROR SUMMARY: 1 error\n");
    ASSERT_EQ(output.findings.size(), 1u);
    EXPECT_EQ(output.findings[0].kind, "fault");
}

/// The text goes through an untrusted process.
TEST(ComputeSanitizer, AnyTextIsOnlyText) {
    std::string many;
    for (int i = 0; i < 5000; ++i)
        many +=
            "========= Invalid __global__ write of size 4 bytes\n=========     at k()+0x1 in k:" +
            std::to_string(i + 1) + "\n";
    EXPECT_EQ(parseComputeSanitizer("memcheck", many).findings.size(), 200u);
    for (const char *text : {"=========", "=========     at in :::",
                             "========= Invalid \n=========   "
                             "  at +0x in :9999999999999999999:",
                             "========= Error: Race reported "
                             "between Write access at \n=========     and  access at [ hazards]"})
        EXPECT_LE(parseComputeSanitizer("racecheck", text).findings.size(), 1u) << text;
}

} // namespace
} // namespace cuda_agent::sanitize
