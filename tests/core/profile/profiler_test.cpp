// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/profiler.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace cuda_agent::profile {

namespace {

constexpr std::int64_t elements = 1 << 20;

const char *kernels = R"(
// slow( and fast( are named here, too
extern "C" __global__ void fast(const float *in, float *mid) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mid[i] = 2 * in[i];
}
extern "C" __global__ void
slow(const float *mid, float *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = mid[i];
    for (int k = 0; k < 200; ++k)
        v = v * 0.999f + 0.001f;
    if (v == 12345.0f)
        out[1000000000] = v;
    out[i] = v;
}
)";

/// A plan of two kernels on the cpu device, in a folder of its own.
class ProfileOnCpu : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "profile-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        std::filesystem::create_directories(folder_ / "kernels");
        auto device = device::openCpu();
        ASSERT_TRUE(device) << device.error().message;
        device_ = std::move(*device);
        auto compiler = toolchain::makeHostCompiler();
        ASSERT_TRUE(compiler) << compiler.error().message;
        compiler_ = std::move(*compiler);
        in_ = *device_->allocate(4 * elements);
        out_ = *device_->allocate(4 * elements);
        const std::vector<float> values(elements, 1.5f);
        ASSERT_TRUE(device_->write(in_, 0, values.data(), 4 * elements));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Result<Report> profile(const std::string &source, Options options = {},
                           std::stop_token stop = {}) {
        std::ofstream(folder_ / "kernels/k.cu") << source;
        const auto step = [](const char *entry, const char *from, const char *to) {
            return Json{{"kind", "kernel"}, {"source", "kernels/k.cu"},
                        {"entry", entry},   {"grid", {elements / 256}},
                        {"block", {256}},   {"args", {{{"buffer", from}}, {{"buffer", to}}}}};
        };
        const Json plan{
            {"version", 1},
            {"name", "two kernels"},
            {"buffers",
             {{{"name", "in"}, {"role", "input"}, {"index", 0}},
              {{"name", "mid"}, {"role", "scratch"}, {"dtype", "float32"}, {"shape", {elements}}},
              {{"name", "out"},
               {"role", "output"},
               {"index", 0},
               {"dtype", "float32"},
               {"shape", {elements}}}}},
            {"steps", {step("fast", "in", "mid"), step("slow", "mid", "out")}}};
        std::ofstream(folder_ / "plan.json") << plan.dump();
        auto candidate = plan::readCandidate(folder_);
        if (!candidate)
            return tl::unexpected(candidate.error());
        auto outcome = plan::compile(*candidate, *compiler_);
        if (!outcome)
            return tl::unexpected(outcome.error());
        if (const auto *rejection = std::get_if<toolchain::Rejection>(&*outcome))
            return failedError("{}", rejection->summary);
        const auto type = contiguousType(DType::float32, {elements});
        Subject subject;
        subject.compiled = &std::get<plan::CompiledPlan>(*outcome);
        subject.signature.inputs = {type};
        subject.signature.outputs = {type};
        subject.countedBytes = 8 * elements;
        plan::CallBuffers buffers;
        buffers.inputs = {{&in_, 0, type}};
        buffers.outputs = {{&out_, 0, type}};
        return profileCandidate(subject, *device_, buffers, options, std::move(stop));
    }

    std::filesystem::path folder_;
    std::unique_ptr<device::Device> device_;
    std::unique_ptr<toolchain::Compiler> compiler_;
    device::Memory in_, out_;
};

} // namespace

TEST_F(ProfileOnCpu, EachStepHasItsTimeAndPlace) {
    const auto report = profile(kernels);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->source, "host clock");
    EXPECT_NE(report->label.find("says nothing about GPU time"), std::string::npos);
    ASSERT_EQ(report->launches.size(), 2u);
    const Launch &fast = report->launches[0], &slow = report->launches[1];
    EXPECT_EQ(fast.kind, LaunchKind::step);
    EXPECT_EQ(fast.name, "fast");
    EXPECT_EQ(fast.file, "kernels/k.cu");
    EXPECT_EQ(fast.line, 3);
    EXPECT_EQ(slow.line, 8) << "the name stands on the line after __global__";
    EXPECT_EQ(fast.block[0], 256u);
    EXPECT_EQ(fast.countedBytes, 8u * elements);
    EXPECT_GT(fast.seconds, 0);
    EXPECT_GT(slow.seconds, 3 * fast.seconds) << "400 operations an element";
    EXPECT_LE(slow.low, slow.seconds);
    EXPECT_GE(slow.high, slow.seconds);
    EXPECT_NEAR(fast.share + slow.share, 1, 1e-9);
    EXPECT_GT(report->spanSeconds, 0);
    ASSERT_EQ(fast.roofs.size(), 1u) << "no plan tells a kernel's operations";
    EXPECT_GT(*fast.roofs[0].ofMeasured, 0);
    EXPECT_EQ(report->gapShare, std::nullopt);
    EXPECT_TRUE(report->notes.empty());
    // The outputs are those of the kernels: 1.5 * 2 after 200 steps towards 1.
    float value = 0;
    ASSERT_TRUE(device_->read(out_, 4 * 77, &value, 4));
    EXPECT_NEAR(value, 1 + 2 * std::pow(0.999, 200), 1e-4);
}

TEST_F(ProfileOnCpu, AFaultIsTheCandidates) {
    const std::string source(kernels);
    const auto at = source.find("v == 12345.0f");
    const auto report = profile(source.substr(0, at) + "v < 1e9f" + source.substr(at + 13));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::failed);
    EXPECT_NE(report.error().message.find("slow"), std::string::npos) << report.error().message;
}

TEST_F(ProfileOnCpu, StopsWhenAsked) {
    std::stop_source stop;
    stop.request_stop();
    const auto report = profile(kernels, {}, stop.get_token());
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::stopped);
}

TEST_F(ProfileOnCpu, RefusesMoreCallsThanItTakes) {
    Options options;
    options.calls = 1001;
    const auto report = profile(kernels, options);
    ASSERT_FALSE(report) << "more calls than the process takes";
    EXPECT_NE(report.error().message.find("1001 calls"), std::string::npos);
}

// The profiling process may keep one capability where the driver asks for it, and no other.
TEST(ProfileSandbox, KeepsOneCapability) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root has it to give";
    sandbox::Policy policy;
    policy.name = "profiler";
    const std::vector<std::string> show = {"/usr/bin/grep", "-h", "Cap\\(Prm\\|Eff\\)",
                                           "/proc/self/status"};
    const auto without = sandbox::run(policy, show);
    ASSERT_TRUE(without) << without.error().message;
    EXPECT_EQ(without->standardOutput, "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n");
    policy.performanceCounters = true;
    const auto with = sandbox::run(policy, show);
    ASSERT_TRUE(with) << with.error().message;
    // Bit 38 is CAP_PERFMON (linux/capability.h). A container may have none to give.
    if (with->standardOutput.empty())
        GTEST_SKIP() << with->problem << with->standardError;
    EXPECT_EQ(with->standardOutput, "CapPrm:\t0000004000000000\nCapEff:\t0000004000000000\n");
}

} // namespace cuda_agent::profile
