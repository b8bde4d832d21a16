// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/device/cuda_driver.h"
#include "tests/core/learn/model/fused_cases.h"

namespace cuda_agent::learn {
namespace {

class FusedTransformerOnGpu : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto driver = device::cuda::Driver::load(); !driver)
            GTEST_SKIP() << driver.error().message;
        if (!at::hasCUDA())
            GTEST_SKIP() << "this PyTorch has no CUDA";
        at::globalContext().setAllowTF32CuBLAS(false);
    }
    static void fuse(Transformer &model) {
        const auto done = model.useFusedKernels(true);
        if (!done)
            throw std::runtime_error(done.error().message);
    }
    const at::Device gpu_{at::kCUDA, 0};
};

TEST_F(FusedTransformerOnGpu, HasTheSameLossAndGradients) {
    fused_cases::sameStep(gpu_, fused_cases::smallConfig(), 2, 37, fuse);
}

/// The model of issue 9 with two of its layers, more tokens than a chunk of the loss.
TEST_F(FusedTransformerOnGpu, HasThemAtFullWidth) {
    ModelConfig config;
    config.layers = 2;
    fused_cases::sameStep(gpu_, config, 5, 2048, fuse);
}

/// In bfloat16 these are flash attention's of variable lengths.
TEST_F(FusedTransformerOnGpu, SeesDocumentsApart) {
    fused_cases::sameDocuments(gpu_, fuse);
}

TEST_F(FusedTransformerOnGpu, DecodesTheSame) {
    fused_cases::sameDecoding(gpu_, fuse);
}

TEST_F(FusedTransformerOnGpu, DecodesTheSameByGraphs) {
    fused_cases::sameBatches(gpu_, fuse);
}

} // namespace
} // namespace cuda_agent::learn
