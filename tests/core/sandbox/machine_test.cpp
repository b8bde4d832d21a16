// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/cgroup.h"
#include "core/sandbox/machine.h"
#include "tests/core/sandbox/helpers.h"

#include <unistd.h>

#include <fstream>

using namespace cuda_agent;
using namespace cuda_agent::sandbox;
using namespace cuda_agent::sandbox::test;

namespace {

std::vector<std::string> folders(const CgroupTables &tables, const std::string &controller) {
    std::vector<std::string> list;
    for (const auto &place : cgroupCandidates(tables, controller))
        list.push_back(place.folder.string() + (place.unified ? " 2" : " 1"));
    return list;
}

using List = std::vector<std::string>;

} // namespace

TEST(Probe, FindsBubblewrapAndSaysWhatIsNotEnforced) {
    const auto support = probe();
    EXPECT_EQ(support.problem, "");
    EXPECT_TRUE(support.bubblewrap.starts_with("/"));
    EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(support.version[0]))) << support.version;
    for (const auto &reason : support.unenforced)
        EXPECT_NE(reason.find(": "), std::string::npos) << reason;
}

TEST(Probe, MissingBubblewrapSaysWhatToInstall) {
    const auto machine = inspectMachine("/no/such/bwrap");
    EXPECT_NE(machine.support.problem.find("apt-get install bubblewrap"), std::string::npos);
    EXPECT_NE(machine.support.problem.find("/no/such/bwrap"), std::string::npos);
    EXPECT_EQ(machine.support.bubblewrap, "");
}

TEST(Probe, RefusedNamespacesSayWhatToAllow) {
    const TemporaryFolder folder;
    const auto fake = folder.path() / "bwrap";
    std::ofstream(fake) << "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\n"
                           "exit 1\n";
    std::filesystem::permissions(fake, std::filesystem::perms(0755));
    const auto machine = inspectMachine(fake.string());
    EXPECT_NE(machine.support.problem.find("No permissions to create"), std::string::npos)
        << machine.support.problem;
    EXPECT_TRUE(machine.support.problem.find("allow") != std::string::npos ||
                machine.support.problem.find("start this container") != std::string::npos)
        << machine.support.problem;
}

TEST(Probe, WithoutGroupsEveryLimitThatSuffersIsNamed) {
    const auto machine = inspectMachine({}, false);
    EXPECT_EQ(machine.support.problem, "");
    for (const char *name : {"memory: ", "processes: ", "cpu: "})
        EXPECT_TRUE(std::any_of(machine.support.unenforced.begin(),
                                machine.support.unenforced.end(),
                                [&](const auto &reason) { return reason.starts_with(name); }))
            << name;
}

TEST(Probe, OnlyLimitsThatWereAskedForAreReported) {
    const auto machine = inspectMachine({}, false);
    auto policy = makePolicy();
    policy.limits.memoryBytes = 0;
    policy.limits.processes = 0;
    auto started = startOn(machine, policy, {"/usr/bin/true"}, {}, {});
    ASSERT_TRUE(started) << started.error().message;
    for (const auto &reason : (*started)->wait().unenforced)
        EXPECT_TRUE(reason.starts_with("user:")) << reason;
}

TEST(Probe, GpuThatIsNotThereIsAMachineError) {
    auto policy = makePolicy();
    policy.gpu = 4711;
    const auto result = run(policy, {"/usr/bin/true"});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::machine);
    EXPECT_NE(result.error().message.find("/dev/nvidia4711"), std::string::npos);
}

TEST(Probe, RootWithoutUserNamespaceHasNoCapabilities) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can do without a user name space";
    auto machine = thisMachine();
    machine.userNamespace = false;
    auto started = startOn(machine, makePolicy(),
                           {"/bin/sh", "-c",
                            "id -u; grep CapEff /proc/self/status; "
                            "echo x > /proc/sys/kernel/hostname"},
                           {}, {});
    ASSERT_TRUE(started) << started.error().message;
    const auto record = (*started)->wait();
    EXPECT_EQ(record.standardOutput, "0\nCapEff:\t0000000000000000\n") << record.summary();
    EXPECT_NE(record.standardError.find("Read-only"), std::string::npos) << record.standardError;
}

TEST(CgroupCandidates, VersionOneWithOwnGroups) {
    const CgroupTables tables{
        "35 31 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "30 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
        "24 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw\n",
        "4:memory:/user/me\n2:cpu,cpuacct:/\n"};
    EXPECT_EQ(folders(tables, "memory"),
              (List{"/sys/fs/cgroup/memory/user/me 1", "/sys/fs/cgroup/memory 1"}));
    EXPECT_EQ(folders(tables, "cpuacct"), List{"/sys/fs/cgroup/cpu,cpuacct 1"});
    EXPECT_EQ(folders(tables, "pids"), List{});
}

TEST(CgroupCandidates, VersionOneInAContainer) {
    const CgroupTables tables{
        "35 31 0:31 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
        "4:memory:/docker/ab/inner\n"};
    EXPECT_EQ(folders(tables, "memory"),
              (List{"/sys/fs/cgroup/memory/inner 1", "/sys/fs/cgroup/memory 1"}));
}

TEST(CgroupCandidates, VersionTwoTriesTheParentToo) {
    const CgroupTables tables{"30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
                              "0::/user.slice/user-1000.slice/app.slice/x.scope\n"};
    const List expected{"/sys/fs/cgroup/user.slice/user-1000.slice/app.slice/x.scope 2",
                        "/sys/fs/cgroup/user.slice/user-1000.slice/app.slice 2",
                        "/sys/fs/cgroup 2"};
    EXPECT_EQ(folders(tables, "memory"), expected);
    EXPECT_EQ(folders(tables, "pids"), expected);
}

TEST(CgroupCandidates, HybridPrefersTheControllersOwnHierarchy) {
    const CgroupTables tables{"35 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                              "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
                              "4:memory:/\n0::/\n"};
    EXPECT_EQ(folders(tables, "memory"),
              (List{"/sys/fs/cgroup/memory 1", "/sys/fs/cgroup/unified 2"}));
    EXPECT_EQ(folders(tables, "pids"), List{"/sys/fs/cgroup/unified 2"});
}

TEST(CgroupCandidates, PathOutsideTheContainerFallsBackToItsTop) {
    const CgroupTables tables{"30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
                              "0::/../other\n"};
    EXPECT_EQ(folders(tables, "memory"), List{"/sys/fs/cgroup 2"});
    EXPECT_EQ(folders({"rubbish\n - \n", "::\n"}, "memory"), List{});
}
