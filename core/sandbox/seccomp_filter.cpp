// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/seccomp_filter.h"

#include "core/base/unique_fd.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cuda_agent::sandbox {

namespace {

/// Names, not numbers: a call that this libseccomp or machine does not know is skipped.
constexpr const char *denied[] = {
    // File systems and name spaces.
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns", "swapon", "swapoff",
    "quotactl", "quotactl_fd", "open_by_handle_at", "name_to_handle_at", "fanotify_init",
    "lookup_dcookie", "acct",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    // Kernel interfaces with a history of holes.
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "add_key", "request_key", "keyctl", "kexec_load", "kexec_file_load",
    "init_module", "finit_module", "delete_module", "create_module", "memfd_secret",
    // The machine.
    "reboot", "iopl", "ioperm", "modify_ldt", "vm86", "vm86old", "syslog", "settimeofday",
    "clock_settime", "clock_settime64", "stime", "sethostname", "setdomainname", "vhangup",
    "uselib", "_sysctl", "sysfs", "ustat", "nfsservctl"};

// Not in every libc's headers.
constexpr scmp_datum_t newCgroupNamespace = 0x02000000;

constexpr scmp_datum_t temporaryFile = 020000000; // of O_TMPFILE, without O_DIRECTORY
constexpr int changeModeAt2 = 452;                // fchmodat2: younger than libseccomp 2.5

/// The kernel looks at 32 bits of these arguments, so a filter must ignore the upper half.
constexpr scmp_datum_t lowHalf = 0xffffffffu;

/// Argument number `argument`, as far as `mask` goes, is `value`.
constexpr scmp_arg_cmp masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
    return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}
constexpr scmp_arg_cmp differs(unsigned argument, scmp_datum_t value) {
    return {argument, SCMP_CMP_NE, value, 0};
}

/// Collects the first failure, so that the rule list stays a list.
class Filter {
  public:
    Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW)) {}
    ~Filter() {
        if (context_)
            ::seccomp_release(context_);
    }
    Filter(const Filter &) = delete;
    Filter &operator=(const Filter &) = delete;

    template <typename... Comparisons>
    void deny(const char *name, int error, Comparisons... comparisons) {
        deny(::seccomp_syscall_resolve_name(name), error, comparisons...);
    }
    template <typename... Comparisons>
    void deny(int call, int error, Comparisons... comparisons) {
        if (!context_ || call == __NR_SCMP_ERROR)
            return;
        const int result =
            ::seccomp_rule_add(context_, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call,
                               sizeof...(comparisons), comparisons...);
        // A call of another machine (negative pseudo number) cannot be made here at all.
        if (result < 0 && call >= 0 && problem_.empty())
            problem_ = "call " + std::to_string(call) + ": " + std::strerror(-result);
    }

    Result<std::string> program() {
        if (!context_)
            return machineError("no system call filter: libseccomp gave no context");
        if (!problem_.empty())
            return machineError("no system call filter: {}", problem_);
        const UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC));
        if (!file)
            return machineError("no system call filter: {}", std::strerror(errno));
        if (const int result = ::seccomp_export_bpf(context_, file.get()); result < 0)
            return machineError("no system call filter: {}", std::strerror(-result));
        const auto size = ::lseek(file.get(), 0, SEEK_END);
        std::string bytes(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
        if (bytes.empty() || ::pread(file.get(), bytes.data(), bytes.size(), 0) != size)
            return machineError("no system call filter: it came out empty");
        return bytes;
    }

  private:
    scmp_filter_ctx context_;
    std::string problem_;
};

Result<std::string> build() {
    Filter filter;
    for (const char *name : denied)
        filter.deny(name, EPERM);

    filter.deny("clone3", ENOSYS);
    for (const scmp_datum_t flag :
         {scmp_datum_t{CLONE_NEWNS}, scmp_datum_t{CLONE_NEWUTS}, scmp_datum_t{CLONE_NEWIPC},
          scmp_datum_t{CLONE_NEWUSER}, scmp_datum_t{CLONE_NEWPID}, scmp_datum_t{CLONE_NEWNET},
          newCgroupNamespace})
        filter.deny("clone", EPERM, masked(0, flag, flag));
    // CLONE_NEWTIME shares its bit with clone's signal number and works in unshare and clone3 only.

    // A file that runs as its owner, put into a writable mount, would outlive the sandbox; where
    // the engine is root, its owner is root. The calls whose mode lies in memory do not exist here.
    for (const scmp_datum_t bit : {scmp_datum_t{S_ISUID}, scmp_datum_t{S_ISGID}}) {
        filter.deny("chmod", EPERM, masked(1, bit, bit));
        filter.deny("fchmod", EPERM, masked(1, bit, bit));
        filter.deny("fchmodat", EPERM, masked(2, bit, bit));
        filter.deny("creat", EPERM, masked(1, bit, bit));
        filter.deny("mknod", EPERM, masked(1, bit, bit));
        filter.deny("mknodat", EPERM, masked(2, bit, bit));
        for (const scmp_datum_t create : {scmp_datum_t{O_CREAT}, scmp_datum_t{temporaryFile}}) {
            filter.deny("open", EPERM, masked(1, create, create), masked(2, bit, bit));
            filter.deny("openat", EPERM, masked(2, create, create), masked(3, bit, bit));
        }
    }
    filter.deny("openat2", ENOSYS);
    filter.deny(changeModeAt2, ENOSYS);

    filter.deny("personality", EPERM, differs(0, 0));
    // Typing into the terminal that the engine may share.
    filter.deny("ioctl", EPERM, masked(1, lowHalf, TIOCSTI));
    filter.deny("ioctl", EPERM, masked(1, lowHalf, TIOCLINUX));
    filter.deny("socket", EAFNOSUPPORT, differs(0, AF_UNIX));
    filter.deny("socketpair", EAFNOSUPPORT, differs(0, AF_UNIX));
    return filter.program();
}

} // namespace

Result<std::string> seccompProgram() {
    static const Result<std::string> program = build();
    return program;
}

} // namespace cuda_agent::sandbox
