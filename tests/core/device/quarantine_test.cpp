// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/quarantine.h"

#include "core/base/paths.h"
#include "core/device/lease.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace fs = std::filesystem;

namespace {

class QuarantineTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("cuda-agent-quarantine-" + std::to_string(getpid()));
        fs::create_directories(folder_);
        unsetenv("CUDA_VISIBLE_DEVICES");
        setenv("CUDA_AGENT_CACHE", (folder_ / "cache").c_str(), 1);
        gpu_.kind = Kind::cuda;
        gpu_.index = 7;
        if (fs::exists("/dev/nvidia7"))
            GTEST_SKIP() << "this machine has the GPU that must not be there";
    }
    void TearDown() override {
        unsetenv("CUDA_AGENT_CACHE");
        fs::remove_all(folder_);
    }
    /// A program that stands in for the probe inside the sandbox.
    ProbeOptions standIn(const std::string &script) {
        ProbeOptions options;
        options.program = folder_ / "probe";
        std::ofstream(options.program) << "#!/bin/sh\n" << script << "\n";
        fs::permissions(options.program, fs::perms::all);
        options.patience = std::chrono::seconds(20);
        return options;
    }

    fs::path folder_;
    Info cpu_; ///< cpu0
    Info gpu_; ///< cuda7
};

TEST_F(QuarantineTest, LeasesAreRefusedUntilItIsLifted) {
    EXPECT_TRUE(Lease::take(gpu_));
    EXPECT_TRUE(checkNotQuarantined("cuda7"));
    ASSERT_TRUE(quarantine("cuda7", "a kernel never ended"));
    for (const bool alone : {true, false}) {
        const auto refused = alone ? Lease::take(gpu_) : Lease::share(gpu_);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, ErrorKind::machine);
        for (const char *part : {"cuda7 is in quarantine since 20", " UTC: a kernel never ended",
                                 "doctor --lift-quarantine cuda7"})
            EXPECT_NE(refused.error().message.find(part), std::string::npos)
                << refused.error().message;
    }
    EXPECT_FALSE(Lease::tryTake(gpu_));
    EXPECT_TRUE(Lease::take(cpu_)) << "other devices are not concerned";
    EXPECT_EQ(openCuda(7).error().message, checkNotQuarantined("cuda7").error().message)
        << "the driver is not asked either";

    ASSERT_TRUE(liftQuarantine("cuda7"));
    EXPECT_TRUE(Lease::take(gpu_));
    EXPECT_TRUE(liftQuarantine("cuda7")) << "once more is no error";
}

TEST_F(QuarantineTest, TheFirstReasonStandsAndAllAreListed) {
    EXPECT_TRUE(quarantines().empty());
    ASSERT_TRUE(quarantine("cuda7", "first"));
    ASSERT_TRUE(quarantine("cuda7", "second"));
    ASSERT_TRUE(quarantine("cpu0", "odd\nbytes \xff"));
    std::ofstream(folder_ / "cache/quarantine/notes.json") << "{}";
    std::ofstream(folder_ / "cache/quarantine/cuda1.json.Ab12") << "{}";
    const auto list = quarantines();
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].device, "cpu0");
    EXPECT_EQ(list[1].device, "cuda7");
    EXPECT_EQ(list[1].reason, "first");
    EXPECT_NEAR(list[1].time, static_cast<double>(std::time(nullptr)), 60);
}

TEST_F(QuarantineTest, AFileThatCannotBeReadIsOneToo) {
    fs::create_directories(folder_ / "cache/quarantine");
    for (const std::string text :
         {"", "rubbish", "[]", "{\"reason\": 5, \"time\": \"x\"}", "{\"time\": -1e300}"}) {
        std::ofstream(folder_ / "cache/quarantine/cuda7.json") << text;
        const auto refused = checkNotQuarantined("cuda7");
        ASSERT_FALSE(refused) << text;
        EXPECT_NE(refused.error().message.find("an unknown time: its file says no reason"),
                  std::string::npos)
            << refused.error().message;
    }
    fs::remove(folder_ / "cache/quarantine/cuda7.json");
    fs::create_directory(folder_ / "cache/quarantine/cuda7.json");
    EXPECT_FALSE(checkNotQuarantined("cuda7"));
    EXPECT_EQ(liftQuarantine("cuda7").error().kind, ErrorKind::machine);
}

TEST_F(QuarantineTest, ACacheThatCannotBeWrittenIsSaid) {
    setenv("CUDA_AGENT_CACHE", "/proc/nowhere", 1);
    const auto done = quarantine("cuda7", "x");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::machine);
    EXPECT_TRUE(checkNotQuarantined("cuda7"));
}

TEST_F(QuarantineTest, ProbesTheCpuInASandbox) {
    const auto found = probe("cpu0", {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(*found) << **found;
}

TEST_F(QuarantineTest, ProbesThatFailSayHow) {
    const auto what = [&](const std::string &script, std::chrono::milliseconds patience = {}) {
        auto options = standIn(script);
        if (patience.count() > 0)
            options.patience = patience;
        const auto found = probe("cpu0", options);
        EXPECT_TRUE(found) << found.error().message;
        return found && *found ? **found : std::string("well");
    };
    EXPECT_EQ(what("exit 0"), "well");
    EXPECT_EQ(what("echo 'a fill left a wrong word' >&2; exit 1"),
              "a probe ended with exit 1: a fill left a wrong word");
    EXPECT_EQ(what("kill -SEGV $$"), "a probe ended with ended by SIGSEGV");
    EXPECT_EQ(what("sleep 20", std::chrono::milliseconds(300)),
              "it did not finish a small kernel within 0.3 s");
}

TEST_F(QuarantineTest, WhatCannotBeProbedIsNoFinding) {
    for (const char *name : {"", "gpu0", "cuda", "cuda-1", "cudax", "cuda0.json", "../cuda0"}) {
        const auto found = probe(name, {});
        ASSERT_FALSE(found) << name;
        EXPECT_EQ(found.error().kind, ErrorKind::request);
    }
    const auto noDriver = probe("cpu0", standIn("echo 'no NVIDIA driver' >&2; exit 3"));
    ASSERT_FALSE(noDriver);
    EXPECT_EQ(noDriver.error().kind, ErrorKind::machine);
    EXPECT_NE(noDriver.error().message.find("no NVIDIA driver"), std::string::npos);
    const auto noGpu = probe("cuda7", {});
    ASSERT_FALSE(noGpu);
    EXPECT_NE(noGpu.error().message.find("/dev/nvidia7"), std::string::npos);
    ProbeOptions missing;
    missing.program = folder_ / "none";
    EXPECT_EQ(probe("cpu0", missing).error().kind, ErrorKind::machine);
}

TEST_F(QuarantineTest, IsLiftedWhenTheProbeFindsNothing) {
    ASSERT_TRUE(quarantine("cpu0", "first"));
    const auto unwell = liftAfterProbe("cpu0", standIn("echo 'wrong bits' >&2; exit 1"));
    ASSERT_FALSE(unwell);
    EXPECT_EQ(unwell.error().kind, ErrorKind::machine);
    EXPECT_NE(unwell.error().message.find("cpu0 is not well"), std::string::npos);
    EXPECT_NE(unwell.error().message.find("wrong bits; it stays in quarantine"), std::string::npos);
    EXPECT_TRUE(quarantineOf("cpu0"));

    const auto well = liftAfterProbe("cpu0", standIn("exit 0"));
    ASSERT_TRUE(well) << well.error().message;
    EXPECT_TRUE(*well);
    EXPECT_FALSE(quarantineOf("cpu0"));
    EXPECT_FALSE(fs::exists(quarantineFolder() / "cpu0.json"));
    const auto again = liftAfterProbe("cpu0", standIn("exit 0"));
    ASSERT_TRUE(again);
    EXPECT_FALSE(*again) << "it was in none";
    EXPECT_EQ(liftAfterProbe("gpu", {}).error().kind, ErrorKind::request);
}

TEST_F(QuarantineTest, ADeviceFoundWellIsNotProbedAgainAtOnce) {
    using namespace std::chrono_literals;
    const auto sound = standIn("exit 0");
    ASSERT_TRUE(probeUnlessWell("cpu0", 0s, sound)); // whatever another test found
    const auto bad = standIn("exit 1");
    const auto known = probeUnlessWell("cpu0", 1min, bad);
    ASSERT_TRUE(known) << known.error().message;
    EXPECT_FALSE(*known) << "it was well a moment ago";
    const auto asked = probeUnlessWell("cpu0", 0s, bad);
    ASSERT_TRUE(asked);
    EXPECT_TRUE(*asked);
    const auto again = probeUnlessWell("cpu0", 1min, bad);
    ASSERT_TRUE(again);
    EXPECT_TRUE(*again) << "what is not well is looked at each time";
}

TEST_F(QuarantineTest, AProbeStopsOnRequest) {
    std::stop_source source;
    std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        source.request_stop();
    });
    const auto found = probe("cpu0", standIn("sleep 20"), source.get_token());
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::stopped);
}

TEST_F(QuarantineTest, AProcessThatOutlivesItsEndPutsTheDeviceAway) {
    sandbox::Record record;
    record.name = "candidate";
    record.stuck = true;
    const auto checked = checkAfterFault(gpu_, record, {});
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, ErrorKind::machine);
    EXPECT_NE(checked.error().message.find("did not end after SIGKILL"), std::string::npos);
    EXPECT_TRUE(quarantineOf("cuda7"));
    // Others that were there at the same time are told the same.
    EXPECT_FALSE(checkAfterFault(gpu_, {}, {}));
}

TEST_F(QuarantineTest, FaultsOnTheCpuConcernNobodyElse) {
    EXPECT_TRUE(checkAfterFault(cpu_, {}, standIn("exit 1")));
    EXPECT_TRUE(quarantines().empty());
}

/// The probe itself against a driver that does what the test wants.
std::pair<int, std::string> probeFakeGpu(const char *fault) {
    setenv("FAKE_GPU", fault, 1);
    setenv("LD_LIBRARY_PATH", (programDir() / "fake_gpu").c_str(), 1);
    const auto program = (workerDir() / "cuda-agent-probe").string();
    // A watch of our own: one of them hangs on purpose.
    const std::string command = "timeout 3 " + program + " cuda 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    std::string text;
    for (int c = 0; pipe && (c = fgetc(pipe)) != EOF;)
        text += static_cast<char>(c);
    const int status = pipe ? pclose(pipe) : -1;
    unsetenv("FAKE_GPU");
    unsetenv("LD_LIBRARY_PATH");
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

TEST(Probe, TellsASoundGpuFromABadOne) {
    EXPECT_EQ(probeFakeGpu(""), (std::pair<int, std::string>(0, "")));
    EXPECT_EQ(probeFakeGpu("nocompiler"), (std::pair<int, std::string>(0, "")));
    EXPECT_EQ(probeFakeGpu("full"), (std::pair<int, std::string>(0, "")));
    const auto bits = probeFakeGpu("bits");
    EXPECT_EQ(bits.first, 1);
    EXPECT_EQ(bits.second, "a kernel left a wrong word at byte 16777204\n");
    const auto lost = probeFakeGpu("lost");
    EXPECT_EQ(lost.first, 1);
    EXPECT_NE(lost.second.find("waiting for a fill: CUDA_ERROR_LAUNCH_FAILED"), std::string::npos)
        << lost.second;
    EXPECT_EQ(probeFakeGpu("hang").first, 124) << "ended from outside";
    EXPECT_NE(probeFakeGpu("die").first, 0);
}

TEST(Probe, WithoutADriverItSaysThatItCannotTell) {
    if (fs::exists("/dev/nvidiactl"))
        GTEST_SKIP() << "this machine has an NVIDIA driver";
    const auto program = (workerDir() / "cuda-agent-probe").string();
    const int status = std::system((program + " cuda 2> /dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_EQ(WEXITSTATUS(std::system((program + " 2> /dev/null").c_str())), 2);
    EXPECT_EQ(WEXITSTATUS(std::system((program + " gpu 2> /dev/null").c_str())), 2);
}

} // namespace
