// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/machine.h"
#include "tests/core/sandbox/helpers.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

using namespace cuda_agent;
using namespace cuda_agent::sandbox;
using namespace cuda_agent::sandbox::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

/// As on a machine where no control group can be made.
Record runWithoutGroups(const Policy &policy, const std::vector<std::string> &argv) {
    static const Machine machine = inspectMachine({}, false);
    EXPECT_EQ(machine.support.problem, "");
    EXPECT_EQ(machine.support.unenforced.size() >= 3, true);
    auto started = startOn(machine, policy, argv, {}, {});
    if (!started) {
        ADD_FAILURE() << started.error().message;
        return {};
    }
    return (*started)->wait();
}

const std::string hog = "data = []\nwhile True: data.append(bytearray(1 << 22))";
const std::string forkBomb = R"(
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
)";

/// Doubles every 10 ms, so that where nothing refuses a fork a watch can keep up.
const std::string slowForkBomb = R"(
import os, time
while True:
    try:
        os.fork()
    except OSError:
        pass
    time.sleep(0.01)
)";

} // namespace

TEST(Limits, WallKillsInTime) {
    auto policy = makePolicy();
    policy.limits.wall = 500ms;
    const auto begin = std::chrono::steady_clock::now();
    const auto record = runShell(policy, "trap '' TERM INT HUP; while :; do :; done");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(hit(record, "wall"));
    EXPECT_EQ(record.signal, SIGKILL);
    EXPECT_FALSE(record.clean());
    EXPECT_GE(took.count(), 0.5);
    EXPECT_LT(took.count(), 3);
    EXPECT_GT(record.cpuSeconds, 0);
    EXPECT_NE(record.summary().find("wall limit"), std::string::npos) << record.summary();
}

TEST(Limits, DaemonDiesWithItsSandbox) {
    for (const bool byLimit : {false, true}) {
        const TemporaryFolder folder;
        auto policy = makePolicy();
        policy.mounts = {{folder.path(), "/data", true}};
        policy.limits.wall = byLimit ? 1500ms : 20s;
        const auto record = runPython(policy, R"(
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3): os.close(fd)
        while True:
            with open("/data/marker", "a") as f: f.write("x")
            time.sleep(0.01)
    os._exit(0)
while not os.path.exists("/data/marker"): time.sleep(0.01)
time.sleep()" + std::string(byLimit ? "60" : "0.1") +
                                                  ")\n");
        EXPECT_EQ(hit(record, "wall"), byLimit) << record.summary();
        const auto size = std::filesystem::file_size(folder.path() / "marker");
        EXPECT_GT(size, 0u);
        std::this_thread::sleep_for(300ms);
        EXPECT_EQ(std::filesystem::file_size(folder.path() / "marker"), size);
    }
}

TEST(Limits, CpuTime) {
    auto policy = makePolicy();
    policy.limits.cpu = 1s;
    policy.limits.wall = 20s;
    const auto record = runShell(policy, "trap '' XCPU; while :; do :; done");
    EXPECT_TRUE(hit(record, "cpu")) << record.summary();
    EXPECT_FALSE(hit(record, "wall"));
    EXPECT_NE(record.signal, 0);
    EXPECT_LT(record.cpuSeconds, 2.5);
}

TEST(Limits, CpuTimeOfAllProcessesTogether) {
    auto policy = makePolicy();
    policy.limits.cpu = 1s;
    policy.limits.wall = 60s;
    // Each child alone stays far below the limit.
    const auto record =
        runShell(policy, "for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; wait");
    EXPECT_TRUE(hit(record, "cpu")) << record.summary();
    EXPECT_FALSE(hit(record, "wall"));
}

TEST(Limits, Memory) {
    auto policy = makePolicy();
    policy.limits.memoryBytes = 128 * mebibyte;
    const auto record = runPython(policy, hog);
    EXPECT_TRUE(hit(record, "memory")) << record.summary();
    EXPECT_FALSE(hit(record, "wall"));
    EXPECT_EQ(record.signal, SIGKILL);
    EXPECT_GE(record.peakMemoryBytes, 100 * mebibyte);
    EXPECT_LE(record.peakMemoryBytes, 256 * mebibyte);
}

TEST(Limits, MemoryOfChildrenCountsToo) {
    auto policy = makePolicy();
    policy.limits.memoryBytes = 128 * mebibyte;
    const auto record = runPython(policy, R"(
import os, time
for _ in range(8):
    if os.fork() == 0:
        data = bytearray(40 << 20)
        time.sleep(60)
        os._exit(0)
time.sleep(60)
)");
    EXPECT_TRUE(hit(record, "memory")) << record.summary();
    EXPECT_LT(record.wallSeconds, 10) << "one killed child ends the whole run";
}

TEST(Limits, AddressSpaceIsFree) {
    auto policy = makePolicy();
    policy.limits.memoryBytes = 128 * mebibyte;
    const auto record = runPython(policy, R"(
import mmap
space = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | 0x4000)
print("reserved")
)");
    EXPECT_EQ(record.standardOutput, "reserved\n") << record.standardError;
}

TEST(Limits, ForkBombIsContained) {
    auto policy = makePolicy();
    policy.limits.processes = 64;
    policy.limits.wall = 1500ms;
    const auto record = runPython(policy, forkBomb);
    EXPECT_TRUE(hit(record, "processes") || hit(record, "wall")) << record.summary();
    EXPECT_NE(record.signal, 0);
    EXPECT_LT(record.wallSeconds, 6);
    const auto next = runShell(makePolicy(), "echo fine");
    EXPECT_EQ(next.standardOutput, "fine\n");
    EXPECT_TRUE(next.clean());
}

TEST(Limits, ProcessesUpToTheLimitAreGiven) {
    auto policy = makePolicy();
    policy.limits.processes = 16;
    const auto record = runPython(policy, R"(
import os, time
count = 1
while True:
    try:
        if os.fork() == 0:
            time.sleep(60)
        count += 1
    except OSError as error:
        print(count, error.errno)
        time.sleep(0.3) # for a watch to see it where no control group counts refusals
        break
)");
    EXPECT_EQ(record.standardOutput, "16 11\n") << record.summary();
    EXPECT_EQ(hit(record, "processes"), true);
}

TEST(Limits, FileSize) {
    const TemporaryFolder folder;
    auto policy = makePolicy();
    policy.mounts = {{folder.path(), "/data", true}};
    policy.limits.fileBytes = mebibyte;
    const auto record =
        runProgram(policy, {"/bin/dd", "if=/dev/zero", "of=/data/large", "bs=64k", "count=64"});
    EXPECT_EQ(record.signal, SIGXFSZ) << record.summary();
    EXPECT_TRUE(hit(record, "file"));
    EXPECT_EQ(std::filesystem::file_size(folder.path() / "large"), mebibyte);
}

TEST(Limits, WritableMountsGrowUpToTheLimit) {
    // Many files, none of them large; and folders deeper than a path name reaches.
    for (const char *script :
         {"i=0; while :; do head -c 1000000 /dev/zero > /data/$i; i=$((i+1)); sleep 0.005; done",
          "mkdir /data/a; cd /data/a; while :; do mkdir b && cd b || sleep 0.1; done"}) {
        const TemporaryFolder folder;
        auto policy = makePolicy();
        policy.mounts = {{folder.path(), "/data", true}};
        policy.limits.mountBytes = 20 * mebibyte;
        policy.limits.wall = 20s;
        const auto record = runShell(policy, script);
        EXPECT_TRUE(hit(record, "mounts")) << record.summary();
        EXPECT_EQ(record.signal, SIGKILL);
    }
}

TEST(Limits, WhatLayInAMountBeforeDoesNotCount) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "large") << std::string(4 * mebibyte, 'x');
    std::filesystem::create_directory_symlink("/", folder.path() / "link");
    auto policy = makePolicy();
    policy.mounts = {{folder.path(), "/data", true}};
    policy.limits.mountBytes = 2 * mebibyte;
    const auto record = runShell(policy, "head -c 1000000 /dev/zero > /data/new; sleep 0.8");
    EXPECT_TRUE(record.clean()) << record.summary();
}

TEST(Limits, ScratchIsFullAndTheHostIsNot) {
    auto policy = makePolicy();
    policy.limits.scratchBytes = 8 * mebibyte;
    const auto before = std::filesystem::space(std::filesystem::temp_directory_path()).available;
    const auto record = runShell(policy, "for d in /tmp /dev/shm; do dd if=/dev/zero of=$d/fill "
                                         "bs=1M count=64 2>&1 | grep -o 'No space left'; "
                                         "stat -c %s $d/fill; done");
    EXPECT_EQ(record.standardOutput, "No space left\n8388608\nNo space left\n8388608\n");
    const auto after = std::filesystem::space(std::filesystem::temp_directory_path()).available;
    EXPECT_LT(before > after ? before - after : 0, 512 * mebibyte);
}

TEST(Limits, OutputIsCutAndTheProgramEnds) {
    auto policy = makePolicy();
    policy.limits.outputBytes = 1000;
    const auto record = runShell(policy, "yes 123456789 | head -c 50000000; echo end >&2; exit 3");
    EXPECT_EQ(record.exitCode, 3);
    EXPECT_TRUE(hit(record, "output"));
    EXPECT_TRUE(record.standardOutput.starts_with("123456789\n123456789\n"));
    EXPECT_NE(record.standardOutput.find("[output cut after 1000 bytes]"), std::string::npos);
    EXPECT_LT(record.standardOutput.size(), 1100u);
    EXPECT_EQ(record.standardError, "end\n");
}

TEST(Limits, EndlessOutputMeetsTheWallLimit) {
    auto policy = makePolicy();
    policy.limits.wall = 700ms;
    const auto record = runShell(policy, "yes & yes >&2");
    EXPECT_TRUE(hit(record, "wall"));
    EXPECT_TRUE(hit(record, "output"));
    EXPECT_LT(record.wallSeconds, 3);
}

TEST(Limits, NoCoreFileAndFewDescriptors) {
    EXPECT_EQ(runShell(makePolicy(), "ulimit -c; ulimit -v").standardOutput, "0\nunlimited\n");
    const auto record = runPython(makePolicy(), "import resource\nprint(resource.getrlimit("
                                                "resource.RLIMIT_NOFILE)[1] <= 4096)");
    EXPECT_EQ(record.standardOutput, "True\n");
}

TEST(LimitsWithoutGroups, MemoryIsWatched) {
    auto policy = makePolicy();
    policy.limits.memoryBytes = 128 * mebibyte;
    // Steps that a watch can see; what it misses between two looks is said to be unenforced.
    const auto record = runWithoutGroups(
        policy, {"/usr/bin/python3", "-I", "-c",
                 "import time\ndata = []\nwhile True:\n data.append(bytearray(1 << 22)); "
                 "time.sleep(0.005)"});
    EXPECT_TRUE(hit(record, "memory")) << record.summary();
    EXPECT_EQ(record.signal, SIGKILL);
    EXPECT_GE(record.peakMemoryBytes, 100 * mebibyte);
    ASSERT_FALSE(record.unenforced.empty());
    EXPECT_TRUE(std::any_of(record.unenforced.begin(), record.unenforced.end(),
                            [](const auto &reason) { return reason.starts_with("memory:"); }));
}

TEST(LimitsWithoutGroups, ForkBombIsContained) {
    auto policy = makePolicy();
    policy.limits.processes = 64;
    policy.limits.wall = 1500ms;
    const auto record = runWithoutGroups(policy, {"/usr/bin/python3", "-I", "-c", slowForkBomb});
    EXPECT_TRUE(hit(record, "processes") || hit(record, "wall")) << record.summary();
    EXPECT_NE(record.signal, 0);
    EXPECT_LT(record.wallSeconds, 6);
}

TEST(LimitsWithoutGroups, UserGetsProcessesUpToTheLimit) {
    if (::geteuid() == 0)
        GTEST_SKIP() << "the kernel exempts root from RLIMIT_NPROC";
    auto policy = makePolicy();
    policy.limits.processes = 16;
    const auto record = runWithoutGroups(policy, {"/usr/bin/python3", "-I", "-c", R"(
import os, time
count = 1
while True:
    try:
        if os.fork() == 0:
            time.sleep(60)
        count += 1
    except OSError as error:
        print(count, error.errno)
        break
)"});
    EXPECT_EQ(record.standardOutput, "16 11\n") << record.summary();
}

TEST(LimitsWithoutGroups, CpuTime) {
    auto policy = makePolicy();
    policy.limits.cpu = 1s;
    const auto record = runWithoutGroups(
        policy, {"/bin/sh", "-c", "for i in 1 2 3 4; do (while :; do :; done) & done; wait"});
    EXPECT_TRUE(hit(record, "cpu")) << record.summary();
    EXPECT_LT(record.wallSeconds, 10);
    EXPECT_GT(record.cpuSeconds, 0.8);
}
