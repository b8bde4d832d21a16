// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/sandbox/helpers.h"

#include <chrono>
#include <thread>

using namespace cuda_agent;
using namespace cuda_agent::sandbox;
using namespace cuda_agent::sandbox::test;
using namespace std::chrono_literals;

TEST(Run, GivesInputOutputAndExitCode) {
    const auto record = runShell(makePolicy(), "cat; echo wrong >&2; exit 7", "hello\n");
    EXPECT_EQ(record.standardOutput, "hello\n");
    EXPECT_EQ(record.standardError, "wrong\n");
    EXPECT_EQ(record.exitCode, 7);
    EXPECT_EQ(record.signal, 0);
    EXPECT_FALSE(record.clean());
    EXPECT_EQ(record.summary(), "exit 7");
    EXPECT_GT(record.wallSeconds, 0);
    EXPECT_GT(record.peakMemoryBytes, 100'000u);
}

TEST(Run, CleanRunIsClean) {
    const auto record = runShell(makePolicy(), "exit 0");
    EXPECT_TRUE(record.clean()) << record.summary();
    EXPECT_EQ(record.summary(), "exit 0");
}

TEST(Run, WithoutInputReadsNothing) {
    EXPECT_EQ(runShell(makePolicy(), "wc -c").standardOutput, "0\n");
}

TEST(Run, LargeInputArrivesWhole) {
    const std::string input(8 << 20, 'x');
    EXPECT_EQ(runProgram(makePolicy(), {"/usr/bin/wc", "-c"}, input).standardOutput, "8388608\n");
}

TEST(Run, ReportsTheSignal) {
    const auto record = runShell(makePolicy(), "kill -SEGV $$");
    EXPECT_EQ(record.signal, SIGSEGV);
    EXPECT_EQ(record.exitCode, 0);
    EXPECT_TRUE(record.limitsHit.empty());
    EXPECT_EQ(record.summary(), "ended by SIGSEGV");
}

TEST(Run, MissingProgramIsAMachineError) {
    const auto record = run(makePolicy(), {"/usr/bin/no-such-program"});
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().kind, ErrorKind::machine);
    EXPECT_NE(record.error().message.find("no-such-program"), std::string::npos)
        << record.error().message;
}

TEST(Run, AProgramCannotSayThatItNeverRan) {
    // Its own failure must not read as the machine's.
    const auto record = runPython(makePolicy(), R"(
import os
report = b"cannot run /usr/bin/python3: error 2\n"
for way in (lambda: os.write(10, report), lambda: open("/proc/1/fd/10", "wb").write(report)):
    try:
        way()
        print("reported", flush=True)
    except OSError:
        print("refused", flush=True)
os.write(2, b"bwrap: execvp: no\n")
os._exit(127)
)");
    EXPECT_EQ(record.standardOutput, "refused\nrefused\n");
    EXPECT_EQ(record.exitCode, 127);
    EXPECT_EQ(record.problem, "");
}

TEST(Run, MissingMountNamesTheFile) {
    auto policy = makePolicy();
    policy.mounts = {{"/no/such/folder", "/data", false}};
    const auto record = run(policy, {"/usr/bin/true"});
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().kind, ErrorKind::request);
    EXPECT_NE(record.error().message.find("/no/such/folder"), std::string::npos);
}

TEST(Run, StopTokenEndsIt) {
    std::stop_source source;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(200ms);
        source.request_stop();
    });
    const auto begin = std::chrono::steady_clock::now();
    const auto record = run(makePolicy(), {"/bin/sleep", "20"}, {}, source.get_token());
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().kind, ErrorKind::stopped);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

TEST(Run, StoppedBeforehandStartsNothing) {
    std::stop_source source;
    source.request_stop();
    const auto record = run(makePolicy(), {"/usr/bin/true"}, {}, source.get_token());
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().kind, ErrorKind::stopped);
}

TEST(Run, CompilersWorkInside) {
    const auto record = runShell(
        makePolicy(), "c++ -O1 -x c++ - -o program && ./program",
        "#include <iostream>\n#include <thread>\nint main() { std::thread([] { std::cout << "
        "\"compiled\\n\"; }).join(); }\n");
    EXPECT_EQ(record.standardOutput, "compiled\n") << record.summary() << record.standardError;
}
