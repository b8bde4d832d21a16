// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/learn/kernels/host_launcher.h"
#include "tests/core/learn/model/fused_cases.h"

namespace cuda_agent::learn {
namespace {

/// The kernels' text run on the host.
void fuse(Transformer &model) {
    const auto sizes = model.kernelSizes();
    const auto good = check(sizes);
    if (!good)
        throw std::runtime_error(good.error().message);
    model.useKernels(
        c10::make_intrusive<Kernels>(sizes, std::make_shared<HostLauncher>(sizes.defines())));
}

TEST(FusedTransformer, HasTheSameLossAndGradients) {
    fused_cases::sameStep(at::kCPU, fused_cases::smallConfig(), 2, 37, fuse);
}

TEST(FusedTransformer, AlsoWithAnUnembeddingOfItsOwn) {
    auto config = fused_cases::smallConfig();
    config.tied = false;
    config.kvHeads = 4;
    config.layers = 1;
    fused_cases::sameStep(at::kCPU, config, 1, 9, fuse);
}

TEST(FusedTransformer, SeesDocumentsApart) {
    fused_cases::sameDocuments(at::kCPU, fuse);
}

TEST(FusedTransformer, DecodesTheSame) {
    fused_cases::sameDecoding(at::kCPU, fuse);
}

TEST(FusedTransformer, DecodesTheSameInBatchesOfAllSizes) {
    fused_cases::sameBatches(at::kCPU, fuse);
}

TEST(FusedTransformer, IsRefusedWithoutAGpu) {
    auto model = fused_cases::drawn(fused_cases::smallConfig(), at::kCPU, at::kFloat);
    const auto refused = model.useFusedKernels(true);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::request);
    EXPECT_TRUE(model.useFusedKernels(false));
    EXPECT_FALSE(model.isFused());
}

} // namespace
} // namespace cuda_agent::learn
