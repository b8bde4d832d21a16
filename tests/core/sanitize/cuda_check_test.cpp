// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// compute-sanitizer's part of a checked run, with a script in its place that starts the program and
// then prints what the tool would: the real one needs a GPU (tests/gpu/sanitize_on_gpu.py).

#include "core/sanitize/cuda_check.h"
#include "tests/core/plan/run_fixture.h"

namespace cuda_agent::sanitize {
namespace {

class UnderLauncher : public plan::RunPlan {
  protected:
    void SetUp() override {
        plan::RunPlan::SetUp();
        if (const char *home = std::getenv("CUDA_HOME"))
            home_ = home;
        setenv("CUDA_HOME", folder_.c_str(), 1);
        std::filesystem::create_directories(folder_ / "compute-sanitizer");
    }
    void TearDown() override {
        if (home_.empty())
            unsetenv("CUDA_HOME");
        else
            setenv("CUDA_HOME", home_.c_str(), 1);
        plan::RunPlan::TearDown();
    }
    /// `$tool` and the program's exit status `$code` are known in `after`.
    void script(const std::string &after) {
        const auto file = folder_ / "compute-sanitizer" / "compute-sanitizer";
        std::ofstream(file) << "#!/bin/sh\nall=\"$*\"\nwhile [ \"${1#--}\" != \"$1\" ]; do\n"
                               "  [ \"$1\" = --tool ] && tool=$2\n  shift 2\ndone\n"
                               "\"$@\"\ncode=$?\nsleep 0.2\n"
                               "echo '========= COMPUTE-SANITIZER'\n"
                            << after;
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    Result<Report> check(const std::string &kernel) {
        compileCandidate(plan::pointwisePlan(), kernel);
        signature_ = plan::pointwiseSignature(128);
        plan::CallBuffers buffers;
        buffers.inputs = {lendFloats(plan::ramp(128), {128})};
        buffers.outputs = {lendFloats(std::vector<float>(128), {128})};
        return checkOnCuda(
            [&](const Launcher &launcher) {
                plan::RunnerOptions options;
                options.launcher = launcher.argv;
                options.mounts = launcher.mounts;
                options.callTimeout = std::chrono::milliseconds(20'000);
                return plan::startLinkedRunner(compiled_, signature_, *device_, options);
            },
            buffers);
    }
    std::string home_;
};

TEST_F(UnderLauncher, EveryToolHasItsRunAndItsFindings) {
    script(
        "[ $tool = racecheck ] && echo '========= Error: Race reported between Write access at "
        "k(int)+0x10 in kernels/k.cu:3' && echo '=========     and Read access at k(int)+0x20 in "
        "kernels/k.cu:4 [2 hazards]'\n"
        "echo '========= ERROR SUMMARY: 0 errors'\n");
    const auto report = check(plan::doubleKernel);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->tools, (std::vector<std::string>{
                                 "compute-sanitizer memcheck", "compute-sanitizer racecheck",
                                 "compute-sanitizer initcheck", "compute-sanitizer synccheck"}));
    EXPECT_TRUE(report->notes.empty());
    ASSERT_EQ(report->findings.size(), 1u);
    EXPECT_EQ(report->findings[0].tool, "compute-sanitizer racecheck");
    EXPECT_EQ(report->findings[0].place->line, 3);
}

TEST_F(UnderLauncher, CallsThatFailAreNoFindings) {
    // As memcheck tells of the runner's own question for one parameter more than there are.
    script(
        "case \"$all\" in *'--report-api-errors no'*) ;; *)\n"
        "  [ $tool = memcheck ] && echo '========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) "
        "due to \"invalid argument\" on CUDA API call to cuFuncGetParamInfo.' ;; esac\n"
        "echo '========= ERROR SUMMARY: 0 errors'\n");
    const auto report = check(plan::doubleKernel);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->findings.empty());
}

TEST_F(UnderLauncher, AFaultDoesNotSilenceTheTool) {
    script("[ $tool = memcheck ] && [ $code != 0 ] && echo '========= Invalid __global__ write of "
           "size 4 bytes' && echo '=========     at k(int)+0x10 in kernels/k.cu:5'\n"
           "echo '========= ERROR SUMMARY: 1 error'\n");
    const auto report = check("extern \"C\" __global__ void k(const float *in, float *out, int n) "
                              "{\n    *(volatile float *)16 = in[n - 1];\n}\n");
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->findings.size(), 4u);
    EXPECT_EQ(report->findings[0].kind, "out-of-bounds");
    EXPECT_EQ(report->findings[0].place->line, 5);
    EXPECT_EQ(report->findings[1].kind, "fault"); // of the tools that had nothing to say
}

TEST_F(UnderLauncher, AToolThatCannotLookIsANote) {
    script("if [ $tool = synccheck ]; then echo '========= ERROR SUMMARY: 0 errors'; else\n"
           "  echo '========= Error: No attachable process found. compute-sanitizer timed-out.'\n"
           "fi\n");
    const auto some = check(plan::doubleKernel);
    ASSERT_TRUE(some) << some.error().message;
    EXPECT_EQ(some->tools.size(), 1u);
    EXPECT_EQ(some->notes.size(), 3u);
    script("echo '========= Error: No attachable process found. compute-sanitizer timed-out.'\n");
    const auto none = check(plan::doubleKernel);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::machine);
    EXPECT_NE(none.error().message.find("No attachable process"), std::string::npos);
}

TEST_F(UnderLauncher, WithoutTheToolOneSentence) {
    const auto found = findComputeSanitizer();
    if (found)
        GTEST_SKIP() << "this machine has " << found->program;
    EXPECT_EQ(found.error().kind, ErrorKind::machine);
    EXPECT_NE(found.error().message.find("CUDA toolkit"), std::string::npos);
}

} // namespace
} // namespace cuda_agent::sanitize
