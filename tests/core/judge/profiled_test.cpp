// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/profiled.h"
#include "tests/source_dir.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cuda_agent::judge {
namespace {

namespace fs = std::filesystem;

constexpr const char *planText = R"json({
  "version": 1,
  "name": "scale and shift",
  "symbols": {"N": "in0.numel"},
  "buffers": [
    {"name": "in0", "role": "input", "index": 0},
    {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
     "shape": ["in0.shape[0]", "in0.shape[1]"]}
  ],
  "steps": [
    {"kind": "kernel", "source": "kernels/k.cu", "entry": "k", "grid": ["cdiv(N, 256)"],
     "block": [256], "args": [{"buffer": "in0"}, {"buffer": "out0"}, {"int32": "N"}]}
  ]
})json";

Result<Candidate> candidateOf(const fs::path &folder, const std::string &body) {
    fs::create_directories(folder / "kernels");
    std::ofstream(folder / "plan.json") << planText;
    std::ofstream(folder / "kernels/k.cu")
        << "extern \"C\" __global__ void k(const float *x, float *y, int n) {\n"
           "    const int i = blockIdx.x * 256 + threadIdx.x;\n"
           "    if (i < n)\n        " +
               body + "\n}\n";
    return readCandidate(folder);
}

TEST(Profiled, OnTheFirstSealedCase) {
    auto spec = task::openSpec(testData() / "judge/scale_and_shift.py", {});
    ASSERT_TRUE(spec) << spec.error().message;
    Options options;
    options.timing = false;
    auto judge = Judge::prepare(*spec, device::openCpu().value(), options, {}, {});
    ASSERT_TRUE(judge) << judge.error().message;
    std::string pattern = (fs::temp_directory_path() / "profiled-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);

    const auto right = candidateOf(fs::path(pattern) / "right", "y[i] = 2 * x[i] + 1;");
    ASSERT_TRUE(right) << right.error().message;
    const auto report = profileCandidate(**judge, *right, {});
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->launches.size(), 1u);
    EXPECT_EQ(report->launches[0].name, "k");
    EXPECT_GT(report->launches[0].seconds, 0);
    EXPECT_EQ(report->countedBytes, (*judge)->description().countedBytes);
    EXPECT_EQ(report->launches[0].countedBytes, report->countedBytes)
        << "one kernel reads the input and writes the output";

    const auto broken = candidateOf(fs::path(pattern) / "broken", "y[i] = nonsense;");
    const auto refused = profileCandidate(**judge, *broken, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::failed);
    EXPECT_NE(refused.error().message.find("does not compile"), std::string::npos);

    const auto module = profileCandidate(**judge, modules::Candidate{}, {});
    ASSERT_FALSE(module);
    EXPECT_EQ(module.error().kind, ErrorKind::request);

    // The judge goes on as before.
    const auto verdict = (*judge)->judge(*right, verify::Strength::training, {});
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->correct) << verdict->problem;
    fs::remove_all(pattern);
}

} // namespace
} // namespace cuda_agent::judge
