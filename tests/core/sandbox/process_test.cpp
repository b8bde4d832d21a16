// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/cgroup_files.h"
#include "core/sandbox/process_tree.h"
#include "tests/core/sandbox/helpers.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

using namespace cuda_agent;
using namespace cuda_agent::sandbox;
using namespace cuda_agent::sandbox::test;
using namespace std::chrono_literals;

namespace {

/// Answers every message with its text doubled, and with the lent file's content in a new file.
const std::string echoWorker = R"(
import array, json, os, socket, struct, sys
channel = socket.socket(fileno=int(os.environ["CUDA_AGENT_CHANNEL"]))
while True:
    data, fds, flags, _ = socket.recv_fds(channel, 8, 16)
    if not data:
        break
    while len(data) < 8:
        data += channel.recv(8 - len(data))
    size, count = struct.unpack("<II", data)
    body = b""
    while len(body) < size:
        body += channel.recv(size - len(body))
    message = json.loads(body)
    lent = []
    for fd in fds:
        content = os.pread(fd, 1000, 0)
        answer = os.memfd_create("answer")
        os.write(answer, content.upper())
        lent.append(answer)
    reply = json.dumps({"text": message["text"] * 2}).encode()
    head = struct.pack("<II", len(reply), len(lent))
    if lent:
        socket.send_fds(channel, [head], lent)
    else:
        channel.sendall(head)
    channel.sendall(reply)
sys.exit(5)
)";

Process startPython(const std::string &script, Policy policy = makePolicy()) {
    auto process = start(policy, {"/usr/bin/python3", "-I", "-c", script});
    if (!process) {
        ADD_FAILURE() << process.error().message;
        std::abort();
    }
    return std::move(*process);
}

int openDescriptors() {
    int count = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

/// Children of this process, the dead that nobody has waited for included.
int children() {
    int count = 0;
    for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
        const int pid = std::atoi(entry.path().filename().c_str());
        if (pid > 0 && parentOf(pid) == ::getpid())
            ++count;
    }
    return count;
}

int groupsNamed(const std::string &prefix, const std::filesystem::path &folder, int depth) {
    int count = 0;
    std::error_code failed;
    for (const auto &entry : std::filesystem::directory_iterator(folder, failed)) {
        if (!entry.is_directory(failed) || entry.is_symlink(failed))
            continue;
        if (entry.path().filename().string().starts_with(prefix))
            ++count;
        else if (depth > 0)
            count += groupsNamed(prefix, entry.path(), depth - 1);
    }
    return count;
}

int ownGroups() {
    return groupsNamed(cgroupNamePrefix(), "/sys/fs/cgroup", 8);
}

std::string read(const std::filesystem::path &file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

TEST(Process, ChannelCarriesMessagesAndDescriptors) {
    auto process = startPython(echoWorker);
    ASSERT_TRUE(process.channel().send(Json{{"text", "ab"}}));
    auto first = process.channel().receive(10s);
    ASSERT_TRUE(first) << first.error().message << process.standardErrorSoFar();
    EXPECT_EQ(first->body["text"], "abab");

    const UniqueFd file(::memfd_create("lent", MFD_CLOEXEC));
    ASSERT_EQ(::write(file.get(), "content", 7), 7);
    const int lent[] = {file.get()};
    ASSERT_TRUE(process.channel().send(Json{{"text", "c"}}, lent));
    auto second = process.channel().receive(10s);
    ASSERT_TRUE(second) << second.error().message << process.standardErrorSoFar();
    EXPECT_EQ(second->body["text"], "cc");
    ASSERT_EQ(second->fds.size(), 1u);
    char content[8] = {};
    EXPECT_EQ(::pread(second->fds[0].get(), content, 7, 0), 7);
    EXPECT_STREQ(content, "CONTENT");

    EXPECT_TRUE(process.running());
    process.channel().close();
    const auto record = process.wait();
    EXPECT_EQ(record.exitCode, 5) << record.standardError;
    EXPECT_FALSE(process.running());
}

TEST(Process, EndOfTheProgramEndsTheChannel) {
    auto process = startPython("raise SystemExit(4)");
    const auto message = process.channel().receive(10s);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().kind, ErrorKind::machine);
    EXPECT_NE(message.error().message.substr(0, 9), "timed out");
    EXPECT_EQ(process.wait().exitCode, 4);
    EXPECT_EQ(process.wait().exitCode, 4) << "waiting twice gives the same record";
}

TEST(Process, KillFromAnotherThread) {
    auto process = startPython("import time\ntime.sleep(60)");
    const auto begin = std::chrono::steady_clock::now();
    std::jthread killer([&] {
        std::this_thread::sleep_for(200ms);
        process.kill();
    });
    const auto record = process.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
    EXPECT_TRUE(record.killed);
    EXPECT_EQ(record.signal, SIGKILL);
    EXPECT_TRUE(record.limitsHit.empty());
    EXPECT_NE(record.summary().find("stopped"), std::string::npos);
}

TEST(Process, KillAtOnce) {
    for (int i = 0; i < 20; ++i) {
        auto process = startPython("import time\ntime.sleep(60)");
        if (i % 2)
            std::this_thread::sleep_for(std::chrono::milliseconds(i));
        process.kill();
        EXPECT_TRUE(process.wait().killed);
    }
    EXPECT_EQ(children(), 0);
    EXPECT_EQ(ownGroups(), 0);
}

TEST(Process, DestroyingKills) {
    const TemporaryFolder folder;
    auto policy = makePolicy();
    policy.mounts = {{folder.path(), "/data", true}};
    const auto marker = folder.path() / "marker";
    {
        auto process = startPython(R"(
import time
while True:
    with open("/data/marker", "a") as f: f.write("x")
    time.sleep(0.01)
)",
                                   policy);
        for (int i = 0; i < 500 && !std::filesystem::exists(marker); ++i)
            std::this_thread::sleep_for(10ms);
        ASSERT_TRUE(std::filesystem::exists(marker)) << process.standardErrorSoFar();
    }
    const auto size = std::filesystem::file_size(marker);
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(std::filesystem::file_size(marker), size);
}

TEST(Process, OutlivesTheThreadThatStartedIt) {
    std::optional<Process> process;
    std::thread([&] {
        process = startPython("import time\ntime.sleep(0.3)\nprint('alive')");
    }).join();
    const auto record = process->wait();
    EXPECT_EQ(record.standardOutput, "alive\n") << record.summary();
}

TEST(Process, ErrorOutputIsSeenWhileItRuns) {
    auto process = startPython("import sys, time\nprint('early', file=sys.stderr, flush=True)\n"
                               "time.sleep(60)");
    for (int i = 0; i < 500 && process.standardErrorSoFar().empty(); ++i)
        std::this_thread::sleep_for(10ms);
    EXPECT_EQ(process.standardErrorSoFar(), "early\n");
}

TEST(Process, LendingItsOutputDoesNotKeepItAlive) {
    auto process = startPython(R"(
import socket, struct
channel = socket.socket(fileno=3)
socket.send_fds(channel, [struct.pack("<II", 2, 1)], [1])
channel.sendall(b"{}")
)");
    auto message = process.channel().receive(10s); // holds the writing end of its output now
    ASSERT_TRUE(message) << message.error().message;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(process.wait().exitCode, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(Process, ManyAtOnceLeaveNothingBehind) {
    runShell(makePolicy(), "true"); // what is made once is made
    const int before = openDescriptors();
    std::vector<std::jthread> threads;
    std::vector<std::string> outputs(50);
    for (int i = 0; i < 50; ++i)
        threads.emplace_back([i, &outputs] {
            outputs[static_cast<std::size_t>(i)] =
                runShell(makePolicy(), "sleep 0.1; echo " + std::to_string(i)).standardOutput;
        });
    threads.clear();
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(outputs[static_cast<std::size_t>(i)], std::to_string(i) + "\n");
    EXPECT_EQ(openDescriptors(), before);
    EXPECT_EQ(children(), 0);
    EXPECT_EQ(ownGroups(), 0);
}

TEST(Process, RecordAsJsonHoldsAnyBytes) {
    const auto record = runShell(makePolicy(), "printf 'a\\377b'; exit 1");
    ASSERT_EQ(record.standardOutput, "a\377b");
    const auto json = toJson(record);
    EXPECT_EQ(json["stdout"], "a\xEF\xBF\xBD"
                              "b");
    EXPECT_EQ(json["exit_code"], 1);
    EXPECT_FALSE(json.dump().empty());
}

// An engine of its own, for the tests below: writes to the folder in the environment from inside
// a sandbox until it is killed.
TEST(Engine, DISABLED_RunsUntilKilled) {
    const char *folder = std::getenv("CUDA_AGENT_TEST_FOLDER");
    ASSERT_NE(folder, nullptr);
    auto policy = makePolicy();
    policy.mounts = {{folder, "/data", true}};
    std::ofstream(std::filesystem::path(folder) / "groups") << cgroupNamePrefix();
    run(policy, {"/bin/sh", "-c", "while :; do echo x >> /data/marker; sleep 0.01; done"});
}

TEST(Engine, KilledEngineTakesItsSandboxAlong) {
    const TemporaryFolder folder;
    const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
    ::setenv("CUDA_AGENT_TEST_FOLDER", folder.path().c_str(), 1);
    const char *argv[] = {program.c_str(), "--gtest_also_run_disabled_tests",
                          "--gtest_filter=Engine.DISABLED_RunsUntilKilled", nullptr};
    pid_t engine = 0;
    ASSERT_EQ(::posix_spawn(&engine, program.c_str(), nullptr, nullptr,
                            const_cast<char *const *>(argv), environ),
              0);
    ::unsetenv("CUDA_AGENT_TEST_FOLDER");
    const auto marker = folder.path() / "marker";
    for (int i = 0; i < 1000 && !std::filesystem::exists(marker); ++i)
        std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(std::filesystem::exists(marker));
    ::kill(engine, SIGKILL);
    ::waitpid(engine, nullptr, 0);
    std::this_thread::sleep_for(300ms);
    const auto size = std::filesystem::file_size(marker);
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(std::filesystem::file_size(marker), size);

    // Its control groups stayed; the next engine on this machine removes them.
    const auto prefix = read(folder.path() / "groups");
    ASSERT_FALSE(prefix.empty());
    if (!runShell(makePolicy(), "true").unenforced.empty())
        return; // this machine gives no groups
    // They may be gone by now: a test beside this one is an engine too.
    const char *again[] = {program.c_str(), "--gtest_filter=Run.CleanRunIsClean", nullptr};
    ASSERT_EQ(::posix_spawn(&engine, program.c_str(), nullptr, nullptr,
                            const_cast<char *const *>(again), environ),
              0);
    int status = -1;
    ::waitpid(engine, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(groupsNamed(prefix, "/sys/fs/cgroup", 8), 0);
}
