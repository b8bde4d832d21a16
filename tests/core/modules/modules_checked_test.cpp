// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/sanitized.h"
#include "tests/core/modules/module_fixture.h"

#include <gmock/gmock.h>

// Module candidates whose every access is looked at, on the cpu device.

namespace cuda_agent::judge {
namespace {

using testing::HasSubstr;

constexpr const char *kernels = "kernels/residual_scale.cu";
constexpr const char *sum = "        out[i] = make_float4(";
constexpr const char *launch = "        words<<<grid, block, 0, stream>>>(";

class CheckedModule : public ModuleTest {
  protected:
    sanitize::Report checked() {
        auto candidate = readCandidate(folder_);
        EXPECT_TRUE(candidate) << (candidate ? "" : candidate.error().message);
        auto report = sanitizeCandidate(*judge_, *candidate, {});
        EXPECT_TRUE(report) << (report ? "" : report.error().message);
        return report ? *report : sanitize::Report{};
    }
    /// The one thing that is found, on a line of the kernels that holds `text`.
    sanitize::Finding only(const std::string &text) {
        const auto report = checked();
        EXPECT_EQ(report.findings.size(), 1u);
        if (report.findings.empty())
            return {};
        for (const auto &finding : report.findings)
            EXPECT_EQ(&finding, &report.findings.front()) << lineOf(finding);
        const auto &found = report.findings.front();
        EXPECT_EQ(found.tool, "cpu checks");
        EXPECT_TRUE(found.place) << found.message;
        if (!found.place)
            return found;
        EXPECT_EQ(found.place->file, kernels) << found.message;
        const auto source = readTextFile(folder_ / kernels).value();
        std::istringstream lines(source);
        std::string line;
        for (int i = 0; i < found.place->line; ++i)
            std::getline(lines, line);
        EXPECT_THAT(line, HasSubstr(text)) << lineOf(found);
        return found;
    }
};

TEST_F(CheckedModule, AnHonestOneIsClean) {
    const auto report = checked();
    EXPECT_TRUE(report.findings.empty()) << lineOf(report.findings.front());
    EXPECT_EQ(report.tools, std::vector<std::string>{"cpu checks"});
    EXPECT_EQ(report.leftOut, 0u);
}

TEST_F(CheckedModule, PastTheEndOfAParameter) {
    change(kernels, "if (column >= n4)", "if (column > n4)");
    const auto found = only("scale[column]");
    EXPECT_EQ(found.kind, "out-of-bounds");
    EXPECT_EQ(found.buffer, "scale");
    EXPECT_THAT(found.message, HasSubstr("index 96 of 96 elements"));
}

TEST_F(CheckedModule, PastTheEndOfWhatItAllocated) {
    change(kernels, sum,
           "        if (i == rows * n4 - 1)\n            out[i + 1] = a;\n" + std::string(sum));
    const auto found = only("out[i + 1] = a");
    EXPECT_EQ(found.kind, "out-of-bounds");
    EXPECT_THAT(found.message, HasSubstr("0 bytes after the end of 24576 allocated bytes"));
}

TEST_F(CheckedModule, AnInputThatIsWritten) {
    change(kernels, sum, "        const_cast<float4 *>(x)[i] = a;\n" + std::string(sum));
    const auto found = only("const_cast<float4 *>(x)[i]");
    EXPECT_EQ(found.kind, "input-written");
    EXPECT_EQ(found.buffer, "input 0");
}

TEST_F(CheckedModule, MemoryThatNobodyWrote) {
    change(kernels, sum,
           "        const float old = out[i].x;\n        if (old == 7)\n"
           "            return;\n" +
               std::string(sum));
    EXPECT_EQ(only("old = out[i].x").kind, "uninitialised");
    // What the host has filled, whoever did it, is written.
    change(kernels, launch,
           "        cudaMemsetAsync(out, 0, rows * n * sizeof(float), stream);\n" +
               std::string(launch));
    EXPECT_TRUE(checked().findings.empty());
}

TEST_F(CheckedModule, AnOutputThatStaysUnwritten) {
    change(kernels, sum, "        if (i == 5)\n            continue;\n" + std::string(sum));
    const auto report = checked();
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, "unwritten");
    EXPECT_THAT(report.findings[0].message,
                HasSubstr("4 elements of output 0 are never written, the first is element 20"));
}

TEST_F(CheckedModule, RacesInSharedMemoryOfEitherFile) {
    std::ofstream(folder_ / "kernels/other.cu") << R"(#include <cuda_runtime.h>
namespace {
__global__ void turned(float *scratch) {
    __shared__ float first[64];
    __shared__ float second[64];
    first[threadIdx.x] = threadIdx.x;
    __syncthreads();
    second[threadIdx.x] = first[63 - threadIdx.x];
    scratch[threadIdx.x] = second[threadIdx.x ^ 1];
}
} // namespace
extern "C" void turned_launcher(float *scratch) {
    turned<<<1, 64>>>(scratch);
}
)";
    std::ofstream(folder_ / "kernels/other_binding.cpp") << "#include \"../binding_registry.h\"\n";
    change(kernels, "extern \"C\" void residual_scale_launcher(",
           "extern \"C\" void turned_launcher(float *scratch);\n"
           "__global__ void shifted(float *scratch) {\n"
           "    __shared__ float tile[64];\n"
           "    tile[threadIdx.x] = scratch[threadIdx.x];\n"
           "    __syncthreads();\n"
           "    scratch[threadIdx.x] = tile[(threadIdx.x + 1) % 64];\n"
           "}\n"
           "extern \"C\" void residual_scale_launcher(");
    change(kernels, launch,
           "        float *scratch;\n        cudaMalloc(&scratch, 64 * sizeof(float));\n"
           "        turned_launcher(scratch);\n        shifted<<<1, 64>>>(scratch);\n"
           "        cudaFree(scratch);\n" +
               std::string(launch));
    const auto report = checked();
    bool raced = false;
    for (const auto &finding : report.findings) { // and nothing of the other arrays
        EXPECT_EQ(finding.buffer, "second") << lineOf(finding);
        ASSERT_TRUE(finding.place);
        EXPECT_EQ(finding.place->file, "kernels/other.cu");
        raced = raced || finding.kind == "race";
    }
    EXPECT_TRUE(raced);
}

TEST_F(CheckedModule, ScratchHasTheSizeThatWasAskedFor) {
    change(kernels, "extern \"C\" void residual_scale_launcher(",
           "__global__ void fill(float *scratch, int n) {\n"
           "    if (threadIdx.x <= n)\n        scratch[threadIdx.x] = 0;\n}\n"
           "extern \"C\" void residual_scale_launcher(");
    change(kernels, launch,
           "        float *scratch;\n        cudaMalloc(&scratch, 64 * sizeof(float));\n"
           "        fill<<<1, 128>>>(scratch, 64);\n        cudaFree(scratch);\n" +
               std::string(launch));
    const auto found = only("scratch[threadIdx.x] = 0");
    EXPECT_EQ(found.kind, "out-of-bounds");
    EXPECT_THAT(found.message, HasSubstr("after the end of 256 allocated bytes"));
}

TEST_F(CheckedModule, ABarrierThatSomeThreadsNeverReach) {
    change(kernels, "    if (column >= n4)\n        return;",
           "    if (column >= n4)\n        return;\n    __syncthreads();");
    const auto report = checked();
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, "barrier");
    ASSERT_TRUE(report.findings[0].place);
    EXPECT_EQ(report.findings[0].place->file, kernels);
}

} // namespace
} // namespace cuda_agent::judge
