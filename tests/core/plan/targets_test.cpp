// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/plan/targets.h"

#include "core/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

using namespace cuda_agent;
using namespace cuda_agent::plan;

namespace {

Json kernelStep(const char *source, const char *entry, Json block, Json shared = 0) {
    return {{"kind", "kernel"},
            {"source", source},
            {"entry", entry},
            {"grid", {"cdiv(N, 256)", 1, 1}},
            {"block", std::move(block)},
            {"shared", std::move(shared)},
            {"args", {{{"buffer", "in0"}}, {{"buffer", "out0"}}}}};
}

/// A plan over one input of N floats.
Candidate candidateOf(Json steps, std::map<std::string, std::string> files) {
    const Json json{{"version", 1},
                    {"name", "test"},
                    {"symbols", {{"N", "in0.shape[0]"}}},
                    {"buffers",
                     {{{"name", "in0"}, {"role", "input"}, {"index", 0}, {"dtype", "float32"}},
                      {{"name", "out0"},
                       {"role", "output"},
                       {"index", 0},
                       {"dtype", "float32"},
                       {"shape", {"N"}}}}},
                    {"steps", std::move(steps)}};
    auto plan = planFromJson(json);
    EXPECT_TRUE(plan) << plan.error().message;
    Candidate candidate;
    candidate.plan = std::move(*plan);
    candidate.files = std::move(files);
    return candidate;
}

Signature signatureOf(std::int64_t elements = 1000) {
    Signature signature;
    signature.inputs = {contiguousType(DType::float32, {elements})};
    signature.outputs = signature.inputs;
    return signature;
}

/// Tells of the same kernel facts for each source; refuses what contains "REFUSE" and its own
/// architecture's name. Keeps who asked for what.
class FakeCompilers {
  public:
    toolchain::EntryInfo facts{"k", 40, 8, 1024, 16, 1};

    CompilerMaker maker() {
        return [this](const std::string &name) -> Result<std::unique_ptr<toolchain::Compiler>> {
            if (name == broken)
                return machineError("no compiler for {}", name);
            const std::lock_guard lock(mutex_);
            made.insert(name);
            return std::make_unique<Fake>(*this, name);
        };
    }

    std::set<std::string> made;
    std::string broken;

  private:
    struct Fake : toolchain::Compiler {
        Fake(FakeCompilers &all, std::string architecture)
            : all_(all), name_(std::move(architecture)) {}
        Result<toolchain::Outcome> compile(const toolchain::Source &source,
                                           std::stop_token stop) override {
            if (stop.stop_requested())
                return stoppedError();
            if (source.text.find("REFUSE " + name_ + ";") != std::string::npos)
                return toolchain::Rejection{{{"error", source.path, 3, 7, "no such instruction"}},
                                            "log of " + source.path + "\n",
                                            source.path + ":3:7: no such instruction"};
            toolchain::Binary binary;
            binary.seconds = 0.5;
            for (const auto &entry : source.entries) {
                binary.entries.push_back(all_.facts);
                binary.entries.back().name = entry;
            }
            return binary;
        }
        std::string description() const override { return name_; }
        FakeCompilers &all_;
        std::string name_;
    };
    std::mutex mutex_;
};

std::vector<const device::Architecture *> list(const char *names) {
    return device::parseArchitectures(names).value();
}

} // namespace

TEST(Targets, EveryArchitectureHasItsOwnOccupancy) {
    const auto candidate =
        candidateOf({kernelStep("kernels/a.cu", "k", {256, 1, 1}, "N * 4 + 23 * 1024")},
                    {{"kernels/a.cu", ""}});
    FakeCompilers compilers;
    const auto targets =
        examineTargets(candidate, signatureOf(1024), list("all"), {}, compilers.maker());
    ASSERT_TRUE(targets) << targets.error().message;
    ASSERT_EQ(targets->size(), device::architectures().size());
    EXPECT_EQ(compilers.made.size(), targets->size());
    // 1 KB static, 27 KB dynamic, 1 KB reserved from 8.0 on: 228 / 29 = 7 blocks on Hopper, 5 of an
    // A100's 164, 3 of an A10's 100, and 64 / 28 = 2 on a T4. 40 registers allow 48 / 8 = 6.
    const std::map<std::string_view, int> expected{
        {"sm_75", 2}, {"sm_80", 5}, {"sm_86", 3}, {"sm_90", 6}, {"sm_120", 3}};
    for (const auto &target : *targets) {
        EXPECT_TRUE(target.holds()) << target.architecture->name;
        ASSERT_EQ(target.launches.size(), 1u);
        const auto &launch = target.launches[0];
        EXPECT_EQ(launch.dynamicShared, 27 << 10);
        EXPECT_EQ(launch.grids, (std::vector{std::array<std::uint32_t, 3>{4, 1, 1}}));
        if (const auto blocks = expected.find(target.architecture->name);
            blocks != expected.end()) {
            EXPECT_EQ(launch.occupancy.blocks, blocks->second) << target.architecture->name;
        }
    }
}

TEST(Targets, LaunchesThatDifferInTheGridAloneAreOne) {
    auto steps = Json::array({kernelStep("kernels/a.cu", "k", {256, 1, 1}),
                              kernelStep("kernels/a.cu", "k", {128, 1, 1}),
                              kernelStep("kernels/b.cu", "k", {256, 1, 1}),
                              kernelStep("kernels/a.cu", "k", {256, 1, 1})});
    steps[3]["grid"][0] = 7;
    const auto candidate =
        candidateOf(std::move(steps), {{"kernels/a.cu", ""}, {"kernels/b.cu", ""}});
    FakeCompilers compilers;
    const auto targets =
        examineTargets(candidate, signatureOf(), list("sm_90"), {}, compilers.maker());
    ASSERT_TRUE(targets);
    const auto &launches = targets->at(0).launches;
    ASSERT_EQ(launches.size(), 3u);
    EXPECT_EQ(launches[0].steps, (std::vector{0, 3}));
    EXPECT_EQ(launches[0].grids[1][0], 7u);
    EXPECT_EQ(launches[1].steps, std::vector{1});
    EXPECT_EQ(launches[2].source, "kernels/b.cu");
    EXPECT_DOUBLE_EQ(targets->at(0).seconds, 1); // two sources
}

TEST(Targets, ASourceThatDoesNotCompileLeavesTheOthers) {
    const auto candidate =
        candidateOf({kernelStep("kernels/a.cu", "one", {256, 1, 1}),
                     kernelStep("kernels/b.cu", "two", {256, 1, 1})},
                    {{"kernels/a.cu", "REFUSE sm_75; REFUSE sm_80;"}, {"kernels/b.cu", ""}});
    FakeCompilers compilers;
    const auto targets = examineTargets(candidate, signatureOf(), list("sm_90,sm_75,sm_80"), {},
                                        compilers.maker(), 1);
    ASSERT_TRUE(targets);
    EXPECT_TRUE(targets->at(0).holds());
    EXPECT_EQ(targets->at(0).architecture->name, "sm_90"); // in the order asked for
    for (const std::size_t i : {1, 2}) {
        const auto &target = targets->at(i);
        EXPECT_FALSE(target.compiled);
        EXPECT_FALSE(target.holds());
        EXPECT_EQ(target.problem, "kernels/a.cu:3:7: no such instruction");
        ASSERT_EQ(target.diagnostics.size(), 1u);
        EXPECT_EQ(target.diagnostics[0].line, 3);
        ASSERT_EQ(target.launches.size(), 1u);
        EXPECT_EQ(target.launches[0].entry.name, "two");
        const auto json = toJson(target);
        EXPECT_EQ(json["problem"], target.problem);
        EXPECT_EQ(json["holds"], false);
        EXPECT_EQ(json["kernels"][0]["registers"], 40);
    }
}

TEST(Targets, ALaunchThatDoesNotFitIsNoError) {
    const auto examine = [](Json step, const char *architecture) {
        FakeCompilers compilers;
        auto targets = examineTargets(candidateOf({std::move(step)}, {{"kernels/a.cu", ""}}),
                                      signatureOf(), list(architecture), {}, compilers.maker());
        EXPECT_TRUE(targets) << targets.error().message;
        EXPECT_TRUE(targets->at(0).compiled);
        return targets->at(0);
    };
    const auto large = kernelStep("kernels/a.cu", "k", {256, 1, 1}, 150 << 10);
    EXPECT_TRUE(examine(large, "sm_80").holds());
    const auto small = examine(large, "sm_86");
    EXPECT_FALSE(small.holds());
    EXPECT_NE(small.launches[0].occupancy.problem.find("154624 bytes of shared memory"),
              std::string::npos)
        << small.launches[0].occupancy.problem;
    // More than any card has, and more threads.
    EXPECT_FALSE(examine(kernelStep("kernels/a.cu", "k", {256, 1, 1}, 500 << 10), "sm_90").holds());
    EXPECT_FALSE(examine(kernelStep("kernels/a.cu", "k", {1024, 2, 1}), "sm_90").holds());
    EXPECT_FALSE(examine(kernelStep("kernels/a.cu", "k", {1024, 1024, 64}), "sm_90").holds());
    auto clusters = kernelStep("kernels/a.cu", "k", {256, 1, 1});
    clusters["cluster"] = {2, 1, 1};
    EXPECT_TRUE(examine(clusters, "sm_90").holds());
    const auto older = examine(clusters, "sm_89");
    EXPECT_FALSE(older.holds());
    EXPECT_NE(older.launches[0].occupancy.problem.find("clusters"), std::string::npos);
}

TEST(Targets, WhatCannotBeExaminedIsAnError) {
    const auto candidate =
        candidateOf({kernelStep("kernels/a.cu", "k", {256, 1, 1})}, {{"kernels/a.cu", ""}});
    FakeCompilers compilers;
    Signature none;
    const auto unresolved = examineTargets(candidate, none, list("sm_90"), {}, compilers.maker());
    ASSERT_FALSE(unresolved);
    EXPECT_EQ(unresolved.error().kind, ErrorKind::request);
    EXPECT_TRUE(unresolved.error().message.starts_with("plan.json: "))
        << unresolved.error().message;
    compilers.broken = "sm_86";
    const auto machine =
        examineTargets(candidate, signatureOf(), list("all"), {}, compilers.maker());
    ASSERT_FALSE(machine);
    EXPECT_EQ(machine.error().kind, ErrorKind::machine);
    EXPECT_NE(machine.error().message.find("sm_86"), std::string::npos);
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = examineTargets(candidate, signatureOf(), list("sm_90"), stop.get_token(),
                                        compilers.maker());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::stopped);
}

TEST(Targets, APlanWithoutKernelsHoldsEverywhereWithoutACompiler) {
    const auto candidate = candidateOf({{{"kind", "fill"}, {"buffer", "out0"}, {"value", 1}}}, {});
    FakeCompilers compilers;
    const auto targets =
        examineTargets(candidate, signatureOf(), list("sm_75,sm_90"), {}, compilers.maker());
    ASSERT_TRUE(targets);
    EXPECT_TRUE(targets->at(0).holds());
    EXPECT_TRUE(compilers.made.empty());
}

TEST(Targets, RealKernelsCompiledForCardsThatAreNotHere) {
    const auto cache = TemporaryFolder::make("targets").value();
    setenv("CUDA_AGENT_CACHE", cache.path().c_str(), 1);
    const auto candidate = candidateOf(
        {kernelStep("kernels/a.cu", "copy", {128, 1, 1}, 2048)},
        {{"kernels/a.cu", "extern \"C\" __global__ void copy(const float *x, float *y) {\n"
                          "    extern __shared__ float t[];\n"
                          "    unsigned to = (unsigned)__cvta_generic_to_shared(t + threadIdx.x);\n"
                          "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\"\n"
                          "                 ::\"r\"(to), \"l\"(x + threadIdx.x));\n"
                          "    asm volatile(\"cp.async.wait_all;\");\n"
                          "    __syncthreads();\n"
                          "    y[threadIdx.x] = t[threadIdx.x ^ 1];\n}\n"}});
    for (const bool again : {false, true}) {
        const auto targets = examineTargets(candidate, signatureOf(), list("sm_75,sm_80,sm_90"));
        ASSERT_TRUE(targets) << targets.error().message;
        const auto &old = targets->at(0);
        EXPECT_FALSE(old.compiled);
        EXPECT_TRUE(old.problem.starts_with("kernels/a.cu:5:")) << old.problem;
        EXPECT_NE(old.problem.find("requires .target sm_80"), std::string::npos) << old.problem;
        for (const std::size_t i : {1, 2}) {
            const auto &target = targets->at(i);
            EXPECT_TRUE(target.holds()) << target.log;
            EXPECT_EQ(target.cached, again);
            EXPECT_GT(target.launches[0].entry.registers, 4);
            EXPECT_EQ(target.launches[0].entry.barriers, 1);
            EXPECT_EQ(target.launches[0].occupancy.fraction, 1);
        }
    }
    unsetenv("CUDA_AGENT_CACHE");
}
