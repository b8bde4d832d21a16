// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/device/cuda_driver.h"
#include "tests/core/learn/kernels/kernel_cases.h"

namespace cuda_agent::learn {
namespace {

class FusedOnGpu : public testing::TestWithParam<at::ScalarType> {
  protected:
    void SetUp() override {
        if (const auto driver = device::cuda::Driver::load(); !driver)
            GTEST_SKIP() << driver.error().message;
        if (!at::hasCUDA())
            GTEST_SKIP() << "this PyTorch has no CUDA";
        at::globalContext().setAllowTF32CuBLAS(false);
    }
    static void forAllSizes(void (*look)(const cases::Subject &)) {
        const auto all = cases::manySizes(GetParam());
        for (std::size_t i = 0; i < all.size(); ++i) {
            SCOPED_TRACE(fmt::format("sizes {}", i));
            const auto kernels = Kernels::onGpu(all[i], 0);
            ASSERT_TRUE(kernels) << kernels.error().message;
            look({*kernels, at::Device(at::kCUDA, 0)});
        }
    }
};

TEST_P(FusedOnGpu, RmsNorm) {
    forAllSizes(cases::rmsNorm);
}
TEST_P(FusedOnGpu, AddRmsNorm) {
    forAllSizes(cases::addRmsNorm);
}
TEST_P(FusedOnGpu, QkvRope) {
    forAllSizes(cases::qkvRope);
}
TEST_P(FusedOnGpu, AttendStep) {
    forAllSizes(cases::attendStep);
}
TEST_P(FusedOnGpu, SwiGlu) {
    forAllSizes(cases::swiGlu);
}
TEST_P(FusedOnGpu, CrossEntropy) {
    forAllSizes(cases::crossEntropy);
}
TEST_P(FusedOnGpu, LinearCrossEntropy) {
    forAllSizes(cases::linearCrossEntropy);
}
TEST_P(FusedOnGpu, TheSameBitsTwice) {
    forAllSizes(cases::repeats);
}

INSTANTIATE_TEST_SUITE_P(Types, FusedOnGpu, testing::Values(at::kFloat, at::kBFloat16),
                         [](const auto &test) { return std::string(c10::toString(test.param)); });

} // namespace
} // namespace cuda_agent::learn
