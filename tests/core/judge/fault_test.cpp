// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/faults.h"

#include "core/device/quarantine.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <unistd.h>

namespace cuda_agent::judge {
namespace {

namespace fs = std::filesystem;

/// A candidate's process that has already gone the way the test wants.
class GoneProcess final : public plan::CandidateProcess {
  public:
    GoneProcess(std::optional<plan::Fault> fault, sandbox::Record record)
        : fault_(std::move(fault)), record_(std::move(record)) {}
    Result<void> bind(int, const plan::CallBuffers &) override { return {}; }
    Result<void> unbind(int) override { return {}; }
    Result<void> call(int) override { return {}; }
    Result<std::vector<plan::Sample>> time(const plan::SampleRequest &) override {
        return std::vector<plan::Sample>();
    }
    sandbox::Record finish() override { return record_; }
    std::optional<plan::Fault> fault() const override { return fault_; }

  private:
    std::optional<plan::Fault> fault_;
    sandbox::Record record_;
};

class FaultVerdict : public testing::Test {
  protected:
    void SetUp() override {
        cache_ = fs::temp_directory_path() / ("cuda-agent-faults-" + std::to_string(getpid()));
        setenv("CUDA_AGENT_CACHE", cache_.c_str(), 1);
        gpu_.kind = device::Kind::cuda;
        gpu_.index = 7;
        verdict_.verification.checks = {{"random 1", false, false, "it faulted", {}}};
    }
    void TearDown() override {
        unsetenv("CUDA_AGENT_CACHE");
        fs::remove_all(cache_);
    }
    fs::path cache_;
    device::Info cpu_, gpu_;
    Verdict verdict_;
};

const plan::Fault hang{plan::FaultKind::hang, "the candidate did not finish within 10 s"};

TEST_F(FaultVerdict, SaysWhatKindOfFaultItWas) {
    sandbox::Record record;
    record.unenforced = {"memory: watched"};
    GoneProcess process(hang, record);
    ASSERT_TRUE(endProcess(process, cpu_, verdict_, {}));
    ASSERT_TRUE(verdict_.fault);
    EXPECT_EQ(verdict_.unenforced, record.unenforced);
    const auto json = toJson(verdict_);
    EXPECT_EQ(json["fault"]["kind"], "hang");
    EXPECT_EQ(json["fault"]["detail"], hang.detail);
}

TEST_F(FaultVerdict, AWrongAnswerIsNoFault) {
    GoneProcess process({}, {});
    ASSERT_TRUE(endProcess(process, cpu_, verdict_, {}));
    EXPECT_FALSE(verdict_.fault);
    EXPECT_FALSE(toJson(verdict_).contains("fault"));
}

TEST_F(FaultVerdict, ACorrectCandidateThatEndsLateIsNoFault) {
    verdict_.verification.checks[0].passed = true;
    GoneProcess process(hang, {});
    ASSERT_TRUE(endProcess(process, cpu_, verdict_, {}));
    EXPECT_FALSE(verdict_.fault);
}

TEST_F(FaultVerdict, AGpuThatDoesNotReturnIsTheMachines) {
    sandbox::Record record;
    record.stuck = true;
    GoneProcess process(hang, record);
    const auto ended = endProcess(process, gpu_, verdict_, {});
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().kind, ErrorKind::machine);
    EXPECT_TRUE(device::quarantineOf("cuda7"));
}

TEST_F(FaultVerdict, OutOfMemoryAsksNothingOfTheGpu) {
    const plan::Fault full{plan::FaultKind::outOfMemory, "CUDA error 2 out of memory in k"};
    GoneProcess process(full, {});
    ASSERT_TRUE(endProcess(process, gpu_, verdict_, {})) << "or it would look for a GPU 7";
    EXPECT_EQ(toJson(verdict_)["fault"]["kind"], "out_of_memory");
}

TEST_F(FaultVerdict, AGpuThatCannotBeLookedAtIsTheMachinesToo) {
    if (fs::exists("/dev/nvidia7"))
        GTEST_SKIP() << "this machine has the GPU that must not be there";
    GoneProcess process(hang, {});
    const auto ended = endProcess(process, gpu_, verdict_, {});
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().kind, ErrorKind::machine);
    EXPECT_FALSE(device::quarantineOf("cuda7")) << "nobody knows that it is bad";
}

TEST_F(FaultVerdict, AFailureOfTheMachineIsToldUnlessTheGpuIsTheReason) {
    const Error broken{ErrorKind::machine, "CUDA error 214 uncorrectable ECC error in k"};
    GoneProcess gone({}, {});
    EXPECT_EQ(explained(broken, gone, cpu_, {}).message, broken.message);
    sandbox::Record record;
    record.stuck = true;
    GoneProcess stuck({}, record);
    EXPECT_EQ(explained({ErrorKind::stopped, "stopped"}, stuck, gpu_, {}).message, "stopped");
    EXPECT_FALSE(device::quarantineOf("cuda7"));
    const auto error = explained(broken, stuck, gpu_, {});
    EXPECT_EQ(error.kind, ErrorKind::machine);
    EXPECT_NE(error.message.find("cuda7 is in quarantine"), std::string::npos) << error.message;
}

TEST_F(FaultVerdict, AStartThatFailsIsAFaultOrARefusal) {
    Verdict refused;
    ASSERT_TRUE(takeStartFault({ErrorKind::failed, "k: there is no kernel of that name"}, cpu_,
                               refused, {}));
    EXPECT_EQ(refused.problem, "k: there is no kernel of that name");
    EXPECT_FALSE(refused.fault);
    Verdict died;
    ASSERT_TRUE(takeStartFault(
        {ErrorKind::failed, "the candidate's process ended during load: ended by SIGSEGV"}, cpu_,
        died, {}));
    ASSERT_TRUE(died.fault);
    EXPECT_EQ(died.fault->kind, plan::FaultKind::illegalAddress);
}

} // namespace
} // namespace cuda_agent::judge
