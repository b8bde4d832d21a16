// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/landlock.h"
#include "core/sandbox/machine.h"
#include "tests/core/sandbox/helpers.h"

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

using namespace cuda_agent;
using namespace cuda_agent::sandbox;
using namespace cuda_agent::sandbox::test;

namespace {

/// The entry program by itself, without any mounts that could refuse what it should refuse.
class Entry : public testing::Test {
  protected:
    void SetUp() override {
        if (landlock().version == 0)
            GTEST_SKIP() << "Landlock is " << landlock().problem;
        program_ = (folder_.path() / "entry").string();
        std::ofstream(program_, std::ios::binary) << entryProgram();
        ASSERT_EQ(::chmod(program_.c_str(), 0755), 0);
        for (const char *name : {"open", "shut"})
            ASSERT_TRUE(std::filesystem::create_directory(folder_.path() / name));
        std::ofstream(folder_.path() / "shut/given") << "given\n";
    }

    /// Exit code of a shell script that runs with the folder "open" writable, in its parent.
    int script(const std::string &text) const {
        return start({program_, std::to_string(landlock().version), "f/dev",
                      "w" + (folder_.path() / "open").string(), "--", "/bin/sh", "-c",
                      "cd " + folder_.path().string() + "; " + text});
    }
    static int start(std::vector<std::string> words) {
        std::vector<char *> argv;
        for (auto &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        pid_t pid = 0;
        int status = -1;
        if (::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0 ||
            ::waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
            return -1;
        return WEXITSTATUS(status);
    }

    TemporaryFolder folder_;
    std::string program_;
};

} // namespace

TEST_F(Entry, WritesWhereItMayAndNowhereElse) {
    EXPECT_EQ(script("echo a > open/a && mkdir open/b && mv open/a open/b/a && rm -r open/b"), 0);
    EXPECT_EQ(script("cat shut/given > /dev/null"), 0);
    for (const char *attempt :
         {"echo x > shut/new", "echo x > shut/given", "truncate -s 0 shut/given", "rm shut/given",
          "mkdir shut/b", "mv shut/given open/given", "ln shut/given open/given",
          "ln -s x shut/link", "mkfifo shut/pipe", "echo x > /dev/shm/cuda-agent-landlock-test"})
        EXPECT_NE(script(std::string("exec 2> /dev/null; ") + attempt), 0) << attempt;
    std::ifstream in(folder_.path() / "shut/given");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "given\n");
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "open"));
}

TEST_F(Entry, KeepsArgumentsEnvironmentAndExitCode) {
    EXPECT_EQ(
        start({program_, "2", "--", "/bin/sh", "-c", "[ \"$1\" = 'a b' ] && exit 7", "sh", "a b"}),
        7);
    ::setenv("CUDA_AGENT_TEST_GIVEN", "yes", 1);
    EXPECT_EQ(start({program_, "2", "--", "/bin/sh", "-c", "[ $CUDA_AGENT_TEST_GIVEN = yes ]"}), 0);
    ::unsetenv("CUDA_AGENT_TEST_GIVEN");
}

TEST_F(Entry, BadInputRunsNothing) {
    const auto made = "w" + (folder_.path() / "open").string();
    const std::vector<std::string> touch{"/usr/bin/touch", (folder_.path() / "open/x").string()};
    for (const auto &words :
         std::vector<std::vector<std::string>>{{},
                                               {"2"},
                                               {"2", made},
                                               {"2", made, "--"},
                                               {"2", "w/no/such/folder", "--", touch[0], touch[1]},
                                               {"2", "w", "--", touch[0], touch[1]},
                                               {"2", made, "--", "/no/such/program"},
                                               {"2", made, "--", folder_.path().string()}}) {
        std::vector<std::string> all{program_};
        all.insert(all.end(), words.begin(), words.end());
        EXPECT_EQ(start(all), 127);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "open"));
}

TEST(Landlock, VersionsOfTheKernelAreTold) {
    EXPECT_NE(landlockFrom(-ENOSYS).problem.find("not in this kernel"), std::string::npos);
    EXPECT_NE(landlockFrom(-EOPNOTSUPP).problem.find("switched off"), std::string::npos);
    EXPECT_NE(landlockFrom(1).problem.find("version 1"), std::string::npos);
    for (const long answer : {-ENOSYS, -EOPNOTSUPP, 0, 1})
        EXPECT_EQ(landlockFrom(answer).version, 0);
    if (entryProgram().empty())
        GTEST_SKIP() << "no entry program for this processor";
    EXPECT_EQ(landlockFrom(7).version, 7);
    EXPECT_EQ(landlockFrom(7).problem, "");
}

TEST(Landlock, RulesNameWhatMayBeWritten) {
    Policy policy;
    policy.mounts = {{"/a/b", "/data//x/", true}, {"/c", "/given", false}, {"/d/./e", {}, true}};
    EXPECT_EQ(entryRules(policy, 5), (std::vector<std::string>{"5", "w/tmp", "w/dev/shm", "f/dev",
                                                               "f/proc", "w/data/x", "w/d/e"}));
}

TEST(Landlock, ReportsReadAsSentences) {
    EXPECT_EQ(entryProblem("cannot run /x: error 2\n"), "cannot run /x: No such file or directory");
    EXPECT_EQ(entryProblem("odd"), "odd");
}

TEST(Landlock, SandboxesAreUnderIt) {
    if (landlock().version < 6)
        GTEST_SKIP() << "signals are not kept inside before version 6";
    // Without it, process 1 of the sandbox is of the same user and can be signalled.
    const std::string script = "kill -0 1 2> /dev/null && echo reached || echo refused";
    EXPECT_EQ(runShell(makePolicy(), script).standardOutput, "refused\n");
    auto machine = thisMachine();
    machine.landlock = 0;
    auto started = startOn(machine, makePolicy(), {"/bin/sh", "-c", script}, {}, {});
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ((*started)->wait().standardOutput, "reached\n") << "so the test can fail";
}

TEST(Landlock, WritableMountsFilesAndLinksWorkInside) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "file") << "old";
    std::filesystem::create_directory(folder.path() / "out");
    auto policy = makePolicy();
    policy.mounts = {{folder.path() / "file", "/file", true},
                     {folder.path() / "out", "/out", true}};
    const auto record = runPython(policy, R"(
import os, tempfile, socket
open("/file", "w").write("new")
for place in ("/out", "/tmp", "/dev/shm"):
    os.makedirs(place + "/a/b")
    open(place + "/a/x", "w").write("x")
    os.replace(place + "/a/x", place + "/a/b/y")
    os.link(place + "/a/b/y", place + "/z")
    os.symlink("z", place + "/l")
    os.truncate(place + "/l", 0)
    os.mkfifo(place + "/p")
    socket.socket(socket.AF_UNIX).bind(place + "/s")
    tempfile.TemporaryFile(dir=place).write(b"x")
again = os.open("/proc/self/fd/%d" % os.memfd_create("m"), os.O_RDWR)
os.write(again, b"x")
open("/dev/null", "w").write("x")
print("done")
)");
    EXPECT_EQ(record.standardOutput, "done\n") << record.standardError;
    std::ifstream in(folder.path() / "file");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "new");
}

TEST(Landlock, WithoutItRunsGoOnAndSaySo) {
    auto machine = thisMachine();
    machine.landlock = 0;
    machine.support.unenforced = {"landlock: not in this kernel"};
    auto started = startOn(machine, makePolicy(), {"/bin/echo", "fine"}, {}, {});
    ASSERT_TRUE(started) << started.error().message;
    const auto record = (*started)->wait();
    EXPECT_EQ(record.standardOutput, "fine\n");
    EXPECT_EQ(record.unenforced, machine.support.unenforced);
}
