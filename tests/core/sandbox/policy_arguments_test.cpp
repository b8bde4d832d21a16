// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/policy_arguments.h"

#include <gtest/gtest.h>

using namespace cuda_agent;
using namespace cuda_agent::sandbox;

namespace {

using List = std::vector<std::string>;

Setting makeSetting() {
    Setting setting;
    setting.bubblewrap = "/usr/bin/bwrap";
    setting.system.folders = {"/usr"};
    setting.system.links = {{"usr/lib", "/lib"}};
    setting.system.files = {"/etc/ld.so.cache"};
    setting.system.hidden = {"/proc/kcore"};
    return setting;
}

Descriptors makeDescriptors() {
    Descriptors numbers;
    numbers.status = 4;
    numbers.seccomp = 5;
    numbers.passwd = 6;
    numbers.group = 7;
    numbers.nameService = 8;
    return numbers;
}

List arguments(const Policy &policy, const Setting &setting = makeSetting(),
               const Descriptors &numbers = makeDescriptors()) {
    return bubblewrapArguments(policy, {"/bin/program", "--flag"}, setting, numbers);
}

/// Where `part` stands in `list` as neighbours, or -1.
std::ptrdiff_t find(const List &list, const List &part) {
    const auto at = std::search(list.begin(), list.end(), part.begin(), part.end());
    return at == list.end() ? -1 : at - list.begin();
}

} // namespace

TEST(PolicyArguments, FixedPartsAreAlwaysThere) {
    const auto list = arguments({});
    EXPECT_EQ(list.front(), "/usr/bin/bwrap");
    for (const List &part : {List{"--unshare-user", "--uid", "1000", "--gid", "1000"},
                             List{"--unshare-ipc"},
                             List{"--unshare-pid"},
                             List{"--unshare-net"},
                             List{"--unshare-uts"},
                             List{"--unshare-cgroup-try"},
                             List{"--die-with-parent"},
                             List{"--new-session"},
                             List{"--cap-drop", "ALL"},
                             List{"--clearenv"},
                             List{"--ro-bind", "/usr", "/usr"},
                             List{"--symlink", "usr/lib", "/lib"},
                             List{"--seccomp", "5"},
                             List{"--json-status-fd", "4"},
                             List{"--file", "6", "/etc/passwd"},
                             List{"--ro-bind", "/dev/null", "/proc/kcore"},
                             List{"--remount-ro", "/proc"},
                             List{"--remount-ro", "/"},
                             List{"--setenv", "CUDA_AGENT_CHANNEL", "3"},
                             List{"--chdir", "/tmp"},
                             List{"--", "/bin/program", "--flag"}})
        EXPECT_GE(find(list, part), 0) << part[0] << " " << (part.size() > 1 ? part[1] : "");
    EXPECT_EQ(find(list, {"--share-net"}), -1);
    EXPECT_EQ(find(list, {"--dev-bind"}), -1);
    EXPECT_EQ(find(list, {"--bind"}), -1);
    EXPECT_EQ(find(list, {"--block-fd"}), -1);
    EXPECT_EQ(List(list.end() - 3, list.end()), (List{"--", "/bin/program", "--flag"}));
}

TEST(PolicyArguments, UnderLandlockTheEntryProgramComesFirst) {
    auto setting = makeSetting();
    setting.landlock = 4;
    auto numbers = makeDescriptors();
    numbers.entry = 11;
    const auto list = arguments({}, setting, numbers);
    const auto copied = find(list, {"--perms", "0555", "--file", "11", "/.entry"});
    EXPECT_GE(copied, 0);
    EXPECT_LT(copied, find(list, {"--remount-ro", "/"}));
    EXPECT_GE(find(list, {"--", "/.entry", "4", "w/tmp", "w/dev/shm", "f/dev", "f/proc", "--",
                          "/bin/program", "--flag"}),
              0);
}

TEST(PolicyArguments, MountsComeAfterScratchAndBeforeTheRootIsSealed) {
    Policy policy;
    policy.mounts = {{"/host/a", "/tmp/a", false}, {"/host/b/", "/work/./b", true}};
    const auto list = arguments(policy);
    const auto scratch = find(list, {"--tmpfs", "/tmp"});
    const auto first = find(list, {"--ro-bind", "/host/a", "/tmp/a"});
    const auto second = find(list, {"--bind", "/host/b/", "/work/b"});
    const auto sealed = find(list, {"--remount-ro", "/"});
    EXPECT_GE(scratch, 0);
    EXPECT_LT(scratch, first);
    EXPECT_LT(first, second);
    EXPECT_LT(second, sealed);
}

TEST(PolicyArguments, MountWithoutInsideKeepsItsPath) {
    Policy policy;
    policy.mounts = {{"/host/a", "", false}};
    EXPECT_GE(find(arguments(policy), {"--ro-bind", "/host/a", "/host/a"}), 0);
}

TEST(PolicyArguments, ScratchSizeAndItsAbsence) {
    Policy policy;
    policy.limits.scratchBytes = 12345;
    EXPECT_GE(find(arguments(policy), {"--size", "12345", "--perms", "1777", "--tmpfs", "/tmp"}),
              0);
    EXPECT_GE(
        find(arguments(policy), {"--size", "12345", "--perms", "1777", "--tmpfs", "/dev/shm"}), 0);
    policy.limits.scratchBytes = 0;
    EXPECT_EQ(find(arguments(policy), {"--size"}), -1);
}

TEST(PolicyArguments, OwnValuesOverrideTheDefaultsButNotTheChannel) {
    Policy policy;
    policy.environment = {{"PATH", "/opt/bin"}, {"CUDA_AGENT_CHANNEL", "9"}};
    const auto list = arguments(policy);
    EXPECT_LT(find(list, {"--setenv", "PATH", "/usr/bin:/bin"}),
              find(list, {"--setenv", "PATH", "/opt/bin"}));
    EXPECT_LT(find(list, {"--setenv", "CUDA_AGENT_CHANNEL", "9"}),
              find(list, {"--setenv", "CUDA_AGENT_CHANNEL", "3"}));
}

TEST(PolicyArguments, OneGpuIsBoundAndItsDriverShown) {
    auto setting = makeSetting();
    setting.gpu =
        GpuLayout{{"/dev/nvidia1", "/dev/nvidiactl"}, {"/sys/bus", "/opt/driver"}, "/opt/driver"};
    Policy policy;
    policy.gpu = 1;
    const auto list = arguments(policy, setting);
    const auto device = find(list, {"--dev-bind", "/dev/nvidia1", "/dev/nvidia1"});
    EXPECT_GT(device, find(list, {"--dev", "/dev"}));
    EXPECT_LT(device, find(list, {"--remount-ro", "/dev"}));
    EXPECT_GE(find(list, {"--dev-bind", "/dev/nvidiactl", "/dev/nvidiactl"}), 0);
    EXPECT_GE(find(list, {"--ro-bind", "/sys/bus", "/sys/bus"}), 0);
    EXPECT_GE(find(list, {"--ro-bind", "/opt/driver", "/opt/driver"}), 0);
    EXPECT_GE(find(list, {"--setenv", "LD_LIBRARY_PATH", "/opt/driver"}), 0);
}

TEST(PolicyArguments, WithoutUserNamespaceOrChannel) {
    auto setting = makeSetting();
    setting.userNamespace = false;
    auto numbers = makeDescriptors();
    numbers.channel = false;
    numbers.block = 9;
    const auto list = arguments({}, setting, numbers);
    EXPECT_EQ(find(list, {"--unshare-user"}), -1);
    EXPECT_EQ(find(list, {"--uid"}), -1);
    EXPECT_EQ(find(list, {"CUDA_AGENT_CHANNEL"}), -1);
    EXPECT_GE(find(list, {"--block-fd", "9"}), 0);
    EXPECT_GE(find(list, {"--cap-drop", "ALL"}), 0);
}

TEST(CheckPolicy, RefusesWhatCannotWork) {
    const List program{"/usr/bin/true"};
    EXPECT_TRUE(checkPolicy({}, program));
    const auto refuses = [&](const Policy &policy, const List &argv, const std::string &named) {
        const auto result = checkPolicy(policy, argv);
        ASSERT_FALSE(result) << named;
        EXPECT_EQ(result.error().kind, ErrorKind::request);
        EXPECT_NE(result.error().message.find(named), std::string::npos) << result.error().message;
    };
    refuses({}, {}, "no program");
    refuses({}, {std::string("a\0b", 3)}, "zero byte");
    refuses({}, {"program"}, "absolute path");
    for (const char *target : {"/", "/proc", "/dev", "/sys", "/usr", "/etc", "/tmp", "/proc/self",
                               "/dev/null", "/usr/"}) {
        Policy policy;
        policy.mounts = {{"/usr", target, false}};
        refuses(policy, program, "a mount may not");
    }
    Policy policy;
    policy.mounts = {{"usr", "/data", false}};
    refuses(policy, program, "absolute");
    policy.mounts = {{"/usr", "/data/../../etc", false}};
    refuses(policy, program, "absolute");
    policy.mounts = {{"/no/such/thing", "/data", false}};
    refuses(policy, program, "/no/such/thing");
    policy = {};
    policy.environment = {{"A=B", "c"}};
    refuses(policy, program, "A=B");
    policy = {};
    policy.workingDirectory = "here";
    refuses(policy, program, "here");
}
