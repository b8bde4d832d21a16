// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/learn/kernels/guarded_memory.h"
#include "tests/core/learn/kernels/host_launcher.h"
#include "tests/core/learn/kernels/kernel_cases.h"

// The kernels' own text on the host, so that what is compared is all but the GPU's compiler.

namespace cuda_agent::learn {
namespace {

const bool guarded = [] {
    GuardedMemory::use();
    return true;
}();

cases::Subject onHost(const KernelSizes &sizes, std::uint32_t blocks = 3) {
    const auto good = check(sizes);
    if (!good)
        throw std::runtime_error(good.error().message);
    return {c10::make_intrusive<Kernels>(sizes,
                                         std::make_shared<HostLauncher>(sizes.defines(), blocks)),
            at::kCPU};
}

class FusedKernels : public testing::TestWithParam<at::ScalarType> {
  protected:
    /// The large sizes only where they differ: fibers are slow.
    void forSizes(std::size_t first, std::size_t last, void (*look)(const cases::Subject &)) const {
        const auto all = cases::manySizes(GetParam());
        for (std::size_t i = first; i < last; ++i) {
            SCOPED_TRACE(fmt::format("sizes {}", i));
            look(onHost(all[i]));
        }
    }
};

TEST_P(FusedKernels, RmsNorm) {
    forSizes(0, 4, cases::rmsNorm);
}
TEST_P(FusedKernels, AddRmsNorm) {
    forSizes(1, 4, cases::addRmsNorm);
    cases::addRmsNorm(onHost(cases::manySizes(GetParam())[0], 40));
}
TEST_P(FusedKernels, QkvRope) {
    forSizes(0, 4, cases::qkvRope);
}
TEST_P(FusedKernels, AttendStep) {
    forSizes(0, 4, cases::attendStep);
    cases::attendStep(onHost(cases::sizesOf(GetParam(), 64, 6, 1, 256, 64, 50)));
}
TEST_P(FusedKernels, SwiGlu) {
    forSizes(0, 3, cases::swiGlu);
}
TEST_P(FusedKernels, CrossEntropy) {
    forSizes(0, 4, cases::crossEntropy);
}
TEST_P(FusedKernels, LinearCrossEntropy) {
    forSizes(0, 4, cases::linearCrossEntropy);
}
TEST_P(FusedKernels, TheSameBitsTwice) {
    forSizes(0, 1, cases::repeats);
}

INSTANTIATE_TEST_SUITE_P(Types, FusedKernels, testing::Values(at::kFloat, at::kBFloat16),
                         [](const auto &test) { return std::string(c10::toString(test.param)); });

/// A row that is not there is read: whoever relies on the guards sees that they work.
TEST(FusedKernelsHostDeathTest, APastRowIsNoticed) {
    ASSERT_TRUE(guarded);
    const auto sizes = cases::manySizes(at::kFloat)[0];
    const HostLauncher launcher(sizes.defines());
    const auto x = at::ones({5, 48}), weight = at::ones({48}), y = at::empty({8, 48});
    const void *from = x.const_data_ptr(), *scale = weight.const_data_ptr(), *nothing = nullptr;
    void *to = y.mutable_data_ptr();
    std::int64_t rows = 8;
    float epsilon = 1e-6f;
    const std::vector<void *> arguments{&from, &nothing, &scale, &nothing, &to, &rows, &epsilon};
    EXPECT_DEATH(launcher.launch("rms_norm", {1, 1}, 256, arguments), "");
    rows = 5;
    launcher.launch("rms_norm", {1, 1}, 256, arguments);
    EXPECT_TRUE(at::isfinite(y.narrow(0, 0, 5)).all().item<bool>());
}

TEST(FusedKernelsHost, NothingIsNothing) {
    const auto subject = onHost(cases::manySizes(at::kFloat)[0]);
    const auto x = at::zeros({0, 48}).requires_grad_(true);
    const auto weight = at::ones({48}).requires_grad_(true);
    fused::rmsNorm(subject.kernels, x, weight).sum().backward();
    EXPECT_EQ(weight.grad().abs().max().item<float>(), 0);
    EXPECT_EQ(fused::swiGlu(subject.kernels, at::zeros({2, 0, 48})).numel(), 0);
}

TEST(FusedKernelsHost, WhatIsNotANumberShows) {
    const auto subject = onHost(cases::manySizes(at::kBFloat16)[0]);
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    auto both = at::zeros({1, 48}, at::kBFloat16);
    both[0][1] = nan;
    EXPECT_TRUE(at::isnan(fused::swiGlu(subject.kernels, both)[0][1]).item<bool>());
    auto logits = at::zeros({2, 50}, at::kBFloat16);
    logits[0][7] = nan;
    const auto targets = at::tensor({1, 50}, at::kLong); // the second is past the vocabulary
    const auto loss = fused::crossEntropy(subject.kernels, logits, targets);
    EXPECT_TRUE(at::isnan(loss).all().item<bool>());
}

TEST(FusedKernelsHost, LogitsThatAreStillNeededAreNotWrittenOver) {
    const auto subject = onHost(cases::manySizes(at::kFloat)[0]);
    const auto leaf = at::randn({4, 50}).requires_grad_(true);
    const auto logits = leaf * 1;
    const auto squares = logits.square(); // keeps the logits
    const auto loss = fused::crossEntropy(subject.kernels, logits, at::zeros({4}, at::kLong));
    loss.sum().backward({}, true);
    EXPECT_THROW(squares.sum().backward(), c10::Error);
}

TEST(FusedKernelsHost, OtherShapesAndTypesAreRefused) {
    const auto subject = onHost(cases::manySizes(at::kFloat)[0]);
    const auto weight = at::ones({48});
    EXPECT_THROW(fused::rmsNorm(subject.kernels, at::zeros({2, 47}), weight), c10::Error);
    EXPECT_THROW(fused::rmsNorm(subject.kernels, at::zeros({2, 48}, at::kDouble), weight),
                 c10::Error);
    EXPECT_THROW(fused::addRmsNorm(subject.kernels, at::zeros({2, 48}), at::zeros({3, 48}), weight),
                 c10::Error);
    EXPECT_THROW(fused::crossEntropy(subject.kernels, at::zeros({2, 50}), at::zeros({2}, at::kInt)),
                 c10::Error);
    EXPECT_THROW(
        fused::crossEntropy(subject.kernels, at::zeros({2, 50}), at::zeros({3}, at::kLong)),
        c10::Error);
}

TEST(FusedKernelsHost, SizesThatCannotBe) {
    auto sizes = cases::sizesOf(at::kBFloat16, 384, 6, 6, 64, 1024, 4099);
    EXPECT_TRUE(check(sizes));
    const auto problem = [&](auto member, auto value) {
        auto other = sizes;
        other.*member = value;
        const auto result = check(other);
        return result ? std::string() : result.error().message;
    };
    EXPECT_NE(problem(&KernelSizes::hidden, 380).find("multiple of 8"), std::string::npos);
    EXPECT_NE(problem(&KernelSizes::hidden, 1032).find("up to 1024"), std::string::npos);
    EXPECT_NE(problem(&KernelSizes::inner, 1020).find("inner"), std::string::npos);
    EXPECT_NE(problem(&KernelSizes::headSize, 96).find("power of two"), std::string::npos);
    EXPECT_NE(problem(&KernelSizes::headSize, 8).find("16 to 256"), std::string::npos);
    EXPECT_NE(problem(&KernelSizes::type, at::kHalf).find("bfloat16"), std::string::npos);
}

/// As on a GPU, but for loading it.
TEST(FusedKernelsCompile, InThisProcess) {
    for (const char *architecture : {"sm_80", "sm_90", "sm_100"}) {
        const auto cubin =
            compileKernels(cases::manySizes(at::kBFloat16)[1].defines(), architecture);
        ASSERT_TRUE(cubin) << cubin.error().message;
        for (const auto &entry : kernelEntries())
            EXPECT_NE(cubin->find(".text." + entry), std::string::npos) << entry;
    }
    const auto unknown = compileKernels(cases::manySizes(at::kFloat)[0].defines(), "sm_1");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::machine);
}

/// For the GPU: every kernel stays in registers, for the sizes of issue 9 and the widest.
TEST(FusedKernelsCompile, NothingSpills) {
    const auto made = toolchain::makeCudaCompiler("sm_90");
    ASSERT_TRUE(made) << made.error().message;
    auto all = cases::manySizes(at::kBFloat16);
    const auto floats = cases::manySizes(at::kFloat);
    all.insert(all.end(), floats.begin(), floats.end());
    for (const auto &sizes : all) {
        auto outcome =
            (*made)->compile({"kernels/learn.cu", kernelText(), kernelEntries(), sizes.defines()});
        ASSERT_TRUE(outcome) << outcome.error().message;
        const auto *rejection = std::get_if<toolchain::Rejection>(&*outcome);
        ASSERT_FALSE(rejection) << rejection->log;
        const auto &binary = std::get<toolchain::Binary>(*outcome);
        EXPECT_TRUE(binary.warnings.empty()) << binary.warnings[0].message;
        ASSERT_EQ(binary.entries.size(), kernelEntries().size());
        for (const auto &entry : binary.entries) {
            EXPECT_EQ(entry.spillBytes, 0) << entry.name << ", hidden " << sizes.hidden;
            EXPECT_EQ(entry.stackBytes, 0) << entry.name << ", hidden " << sizes.hidden;
            EXPECT_LE(entry.registers, 128) << entry.name; // two blocks of 256 threads at least
            EXPECT_GT(entry.registers, 0) << entry.name;
            EXPECT_LE(entry.sharedBytes, 48 << 10) << entry.name;
        }
    }
}

} // namespace
} // namespace cuda_agent::learn
