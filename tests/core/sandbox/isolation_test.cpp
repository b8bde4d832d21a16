// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What a hostile program tries first. Each case asserts the very answer it gets, so that a sandbox
// that merely fails to run the program does not pass.

#include "core/sandbox/landlock.h"
#include "tests/core/sandbox/helpers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

using namespace cuda_agent;
using namespace cuda_agent::sandbox;
using namespace cuda_agent::sandbox::test;

namespace {

/// Prints the outcome of each call in `attempts` ("name: expression" lines) as "name errno".
std::string attempt(const std::string &attempts) {
    const auto record = runPython(makePolicy(), R"(
import ctypes, errno, os, socket, sys, fcntl, termios
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result
def attempt(name, function):
    try:
        function()
        print(name, "done")
    except OSError as error:
        print(name, errno.errorcode.get(error.errno, error.errno))
)" + attempts);
    EXPECT_EQ(record.exitCode, 0) << record.standardError;
    return record.standardOutput;
}

void expectAll(const std::string &output, const std::string &answer, int lines) {
    std::istringstream in(output);
    int count = 0;
    for (std::string line; std::getline(in, line); ++count)
        EXPECT_TRUE(line.ends_with(" " + answer)) << line;
    EXPECT_EQ(count, lines) << output;
}

void write(const std::filesystem::path &file, const std::string &text) {
    std::ofstream(file) << text;
}

std::string read(const std::filesystem::path &file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

TEST(Network, NoSocketButUnix) {
    expectAll(attempt(R"(
attempt("tcp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("tcp6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
attempt("raw", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("vsock", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt("crypto", lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET))
attempt("high bits", lambda: call(41, (1 << 32) | 2, 1, 0))
)"),
              "EAFNOSUPPORT", 8);
}

TEST(Network, UnixSocketsStillWork) {
    expectAll(attempt(R"(
attempt("pair", lambda: socket.socketpair())
attempt("stream", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
)"),
              "done", 2);
}

TEST(Network, NamesDoNotResolve) {
    const auto record = runPython(makePolicy(), R"(
import socket
try:
    print("resolved", socket.getaddrinfo("deb.debian.org", 80))
except socket.gaierror as error:
    print("refused")
)");
    EXPECT_EQ(record.standardOutput, "refused\n") << record.standardError;
}

TEST(Network, NoInterfaceButLoopback) {
    const auto record = runShell(makePolicy(), "cat /proc/net/dev | tail -n +3 | cut -d: -f1");
    EXPECT_EQ(record.standardOutput, "    lo\n");
}

TEST(Files, HostSecretsAreNotThere) {
    const TemporaryFolder folder;
    const auto secret = folder.path() / "secret";
    write(secret, "0123456789");
    const char *home = std::getenv("HOME");
    std::string list = secret.string() +
                       " /etc/shadow /root /home /var /run /boot /mnt /proc/1/root/" +
                       secret.string() + " " + (home && *home ? home : "/root");
    const auto record = runShell(makePolicy(), "for f in " + list +
                                                   "; do if [ -e $f ] && [ $f != /tmp ]; then echo "
                                                   "there: $f; else echo absent; fi; done");
    EXPECT_EQ(record.standardOutput.find("there"), std::string::npos) << record.standardOutput;
    EXPECT_NE(record.standardOutput.find("absent"), std::string::npos);
}

TEST(Files, SystemCannotBeWritten) {
    expectAll(attempt(R"(
for path in ("/usr/planted", "/usr/bin/planted", "/planted", "/etc/planted", "/dev/planted",
             "/lib/planted", "/etc/alternatives/planted"):
    attempt(path, lambda: open(path, "w"))
)"),
              "EROFS", 7);
    EXPECT_FALSE(std::filesystem::exists("/usr/planted"));
}

TEST(Files, KernelSettingsCannotBeWritten) {
    const auto output = attempt(R"(
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
             "/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger",
             "/sys/devices/system/cpu/cpu1/online"):
    attempt(path, lambda: open(path, "w"))
)");
    EXPECT_EQ(output.find("done"), std::string::npos) << output;
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 5);
}

TEST(Files, OnlyScratchAndDevicesAreMountedWritable) {
    const auto record =
        runShell(makePolicy(), "cut -d' ' -f5,6 /proc/self/mountinfo | grep -v ' ro' | sort");
    EXPECT_EQ(record.standardOutput.find("mountinfo"), std::string::npos);
    std::istringstream in(record.standardOutput);
    int count = 0;
    for (std::string line; std::getline(in, line); ++count) {
        const auto point = line.substr(0, line.find(' '));
        EXPECT_TRUE(point == "/tmp" || point == "/dev/shm" || point == "/dev/pts" ||
                    std::filesystem::is_character_file(point))
            << line;
    }
    EXPECT_GE(count, 3);
}

TEST(Files, KernelStateOfRootIsHidden) {
    const auto output = attempt(R"(
for path in ("/proc/kcore", "/proc/kmsg", "/proc/kpageflags", "/proc/slabinfo"):
    try:
        print(len(open(path, "rb").read(64)))
    except OSError:
        print(0)
)");
    EXPECT_EQ(output, "0\n0\n0\n0\n");
}

TEST(Files, ReadOnlyMountIsReadOnly) {
    const TemporaryFolder folder;
    write(folder.path() / "given", "content");
    auto policy = makePolicy();
    policy.mounts = {{folder.path(), "/data", false}};
    const auto record = runShell(
        policy, "cat /data/given; echo x > /data/given; echo x > /data/new; rm -f /data/given; "
                "chmod 777 /data/given; ls /data");
    EXPECT_EQ(record.standardOutput, "contentgiven\n");
    EXPECT_EQ(read(folder.path() / "given"), "content");
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "new"));
}

TEST(Files, WritableMountIsWritten) {
    const TemporaryFolder folder;
    auto policy = makePolicy();
    policy.mounts = {{folder.path(), folder.path(), true}};
    policy.workingDirectory = folder.path();
    const auto record = runShell(policy, "pwd; echo made > result");
    EXPECT_TRUE(record.clean()) << record.standardError;
    EXPECT_EQ(record.standardOutput, folder.path().string() + "\n");
    EXPECT_EQ(read(folder.path() / "result"), "made\n");
}

TEST(Files, LinkOutOfAWritableMountLeadsNowhere) {
    const TemporaryFolder folder;
    const TemporaryFolder outside;
    write(outside.path() / "secret", "0123456789");
    std::filesystem::create_symlink(outside.path() / "secret", folder.path() / "link");
    auto policy = makePolicy();
    policy.mounts = {{folder.path(), "/data", true}};
    const auto record =
        runShell(policy, "cat /data/link; cat /data/../../" + (outside.path() / "secret").string());
    EXPECT_EQ(record.standardOutput, "");
    EXPECT_NE(record.exitCode, 0);
}

TEST(Files, NoSetuidFileCanBeLeftBehind) {
    const TemporaryFolder folder;
    auto policy = makePolicy();
    policy.mounts = {{folder.path(), "/data", true}};
    const auto record = runPython(policy, R"(
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, function):
    try:
        function()
        print(name, "done")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
def call(*arguments):
    if libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]) < 0:
        raise OSError(ctypes.get_errno(), "")
os.umask(0)
open("/data/x", "w").close()
attempt("plain", lambda: os.chmod("/data/x", 0o755))
attempt("chmod", lambda: os.chmod("/data/x", 0o4755))
attempt("group", lambda: os.chmod("/data/x", 0o2755))
attempt("fchmod", lambda: os.fchmod(os.open("/data/x", os.O_RDWR), 0o4755))
attempt("fchmodat", lambda: call(268, -100, b"/data/x", 0o4755))
attempt("open", lambda: os.open("/data/o", os.O_CREAT | os.O_WRONLY, 0o4755))
attempt("open2", lambda: call(2, b"/data/p", os.O_CREAT | os.O_WRONLY, 0o4755))
attempt("creat", lambda: call(85, b"/data/q", 0o4755))
attempt("mknod", lambda: os.mknod("/data/n", 0o104755))
attempt("tmpfile", lambda: os.open("/data", os.O_TMPFILE | os.O_WRONLY, 0o4755))
attempt("openat2", lambda: call(437, -100, b"/data/r", 0, 0))
attempt("fchmodat2", lambda: call(452, -100, b"/data/x", 0o4755, 0))
)");
    EXPECT_EQ(record.standardOutput,
              "plain done\nchmod EPERM\ngroup EPERM\nfchmod EPERM\nfchmodat EPERM\nopen EPERM\n"
              "open2 EPERM\ncreat EPERM\nmknod EPERM\ntmpfile EPERM\nopenat2 ENOSYS\n"
              "fchmodat2 ENOSYS\n")
        << record.standardError;
    for (const auto &entry : std::filesystem::directory_iterator(folder.path()))
        EXPECT_EQ(entry.status().permissions() &
                      (std::filesystem::perms::set_uid | std::filesystem::perms::set_gid),
                  std::filesystem::perms::none)
            << entry.path();
}

TEST(Files, SetuidFileGivesNothing) {
    const TemporaryFolder folder;
    std::filesystem::copy("/usr/bin/id", folder.path() / "id");
    ::chmod((folder.path() / "id").c_str(), 04755);
    auto policy = makePolicy();
    policy.mounts = {{folder.path(), "/data", false}};
    const auto record = runShell(policy, "/data/id -u");
    EXPECT_EQ(record.standardOutput, "1000\n") << record.standardError;
}

TEST(Files, ScratchIsPrivate) {
    EXPECT_EQ(runShell(makePolicy(), "ls -A /tmp /dev/shm; echo x > /tmp/left").standardOutput,
              "/dev/shm:\n\n/tmp:\n");
    EXPECT_EQ(runShell(makePolicy(), "ls -A /tmp").standardOutput, "");
}

TEST(Identity, EnvironmentHoldsOnlyWhatIsGiven) {
    ::setenv("CUDA_AGENT_TEST_SECRET", "0123456789", 1);
    auto policy = makePolicy();
    policy.environment = {{"GIVEN", "a b=c"}, {"LANG", "C"}};
    const auto record = runShell(policy, "env | sort");
    ::unsetenv("CUDA_AGENT_TEST_SECRET");
    EXPECT_EQ(record.standardOutput,
              "GIVEN=a b=c\nHOME=/tmp\nLANG=C\nPATH=/usr/bin:/bin\nPWD=/tmp\n");
    // Under Landlock even what process 1 may be asked is refused.
    EXPECT_EQ(runShell(makePolicy(), "tr '\\0' '\\n' < /proc/1/environ; true").standardOutput,
              landlock().version > 0 ? "" : "PATH=/usr/bin:/bin\n");
}

TEST(Identity, NoPrivileges) {
    const auto record = runShell(
        makePolicy(), "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr '\\t' ' '");
    EXPECT_EQ(record.standardOutput, "CapInh: 0000000000000000\nCapPrm: 0000000000000000\n"
                                     "CapEff: 0000000000000000\nCapBnd: 0000000000000000\n"
                                     "CapAmb: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n");
}

TEST(Identity, OwnNamespaces) {
    for (const char *kind : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
        const auto name = std::string("/proc/self/ns/") + kind;
        const auto inside = runShell(makePolicy(), "readlink " + name).standardOutput;
        const auto outside = std::filesystem::read_symlink(name).string();
        EXPECT_TRUE(inside.starts_with(kind)) << inside;
        if (std::string(kind) == "user" && !probe().unenforced.empty() &&
            probe().unenforced[0].starts_with("user:"))
            continue; // refused to root on this machine, and said so
        EXPECT_NE(inside, outside + "\n");
    }
}

TEST(Identity, NoForeignProcesses) {
    const auto record =
        runShell(makePolicy(), "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done");
    std::istringstream in(record.standardOutput);
    int count = 0;
    for (std::string line; std::getline(in, line); ++count)
        EXPECT_TRUE(line.empty() || line.find("bwrap") != std::string::npos ||
                    line.starts_with("/bin/sh") || line.starts_with("tr "))
            << line;
    EXPECT_GE(count, 2);
    EXPECT_LE(count, 4);
}

TEST(Identity, NoDescriptorsButItsOwn) {
    const auto leaked = ::open("/etc/passwd", O_RDONLY); // on purpose without close-on-exec
    const auto record =
        runPython(makePolicy(), "import os\nprint(sorted(os.listdir('/proc/self/fd')))");
    EXPECT_EQ(record.standardOutput, "['0', '1', '2', '3']\n"); // 3 is the listing itself
    auto started = start(makePolicy(), {"/usr/bin/python3", "-I", "-c",
                                        "import os\nprint(sorted(os.listdir('/proc/self/fd')))"});
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(started->wait().standardOutput, "['0', '1', '2', '3', '4']\n");
    ::close(leaked);
}

TEST(Identity, NoTerminal) {
    EXPECT_EQ(attempt("attempt('tty', lambda: open('/dev/tty'))"), "tty ENXIO\n");
}

TEST(SystemCalls, DangerousOnesAreRefused) {
    // Numbers of x86-64; the arguments are such that most would answer otherwise without a filter.
    const auto output = attempt(R"(
numbers = {"mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "ptrace": 101,
           "process_vm_readv": 310, "process_vm_writev": 311, "bpf": 321, "perf_event_open": 298,
           "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313,
           "delete_module": 176, "keyctl": 250, "add_key": 248, "request_key": 249,
           "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426,
           "io_uring_register": 427, "unshare": 272, "setns": 308, "open_by_handle_at": 304,
           "name_to_handle_at": 303, "reboot": 169, "swapon": 167, "quotactl": 179, "acct": 163,
           "iopl": 172, "ioperm": 173, "modify_ldt": 154, "open_tree": 428, "move_mount": 429,
           "fsopen": 430, "fsmount": 432, "mount_setattr": 442, "pidfd_getfd": 438}
for name, number in numbers.items():
    attempt(name, lambda: call(number, 0, 0, 0, 0, 0, 0))
)");
    expectAll(output, "EPERM", 38);
}

TEST(SystemCalls, ArgumentsAreLookedAt) {
    EXPECT_EQ(attempt(R"(
attempt("user name space", lambda: call(56, 0x10000000 | 17, 0, 0, 0, 0))
attempt("mount name space", lambda: call(56, 0x00020000 | 17, 0, 0, 0, 0))
attempt("clone3", lambda: call(435, 0, 0))
attempt("personality", lambda: call(135, 0x0040000))
attempt("personality 0", lambda: call(135, 0))
attempt("TIOCSTI", lambda: call(16, 0, 0x5412, 0))
attempt("TIOCSTI with high bits", lambda: call(16, 0, (1 << 32) | 0x5412, 0))
attempt("TIOCLINUX", lambda: call(16, 0, 0x541C, 0))
)"),
              "user name space EPERM\nmount name space EPERM\nclone3 ENOSYS\npersonality EPERM\n"
              "personality 0 done\nTIOCSTI EPERM\nTIOCSTI with high bits EPERM\n"
              "TIOCLINUX EPERM\n");
}

TEST(SystemCalls, ForeignCallTableEndsTheProcess) {
    const auto record = runPython(makePolicy(), R"(
import ctypes
ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | 39))
print("went on")
)");
    EXPECT_EQ(record.signal, SIGSYS) << record.summary();
    EXPECT_EQ(record.standardOutput, "");
}

TEST(SystemCalls, ThreadsAndChildrenWork) {
    const auto record = runPython(makePolicy(), R"(
import subprocess, threading
threads = [threading.Thread(target=lambda: None) for _ in range(20)]
[t.start() for t in threads]; [t.join() for t in threads]
print(subprocess.run(["/bin/echo", "child"], capture_output=True, text=True).stdout, end="")
)");
    EXPECT_EQ(record.standardOutput, "child\n") << record.standardError;
}
