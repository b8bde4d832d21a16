// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The first program of a sandbox: puts itself under Landlock and becomes the program that was asked
// for. bubblewrap cannot do this, since a process under Landlock may not mount any more.
//
// Usage: entry VERSION RULE... -- PROGRAM [ARGUMENT...]
// VERSION is what the kernel answered to landlock_create_ruleset(2), at least 2. Everything may be
// read and executed. A rule is a letter and a path: "w/tmp" for a place where anything may be done,
// "f/dev" for one whose files may be written (and sent ioctls) but where none may be made.
// Descriptor 10, where it is open, is told what went wrong before the program ran.
//
// No C library: it is copied into every sandbox and started before every program, so it must be
// small. Built on its own, without the flags of the rest (core/sandbox/CMakeLists.txt).

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/stat.h>

#if defined(__x86_64__)
__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call enter\n");

static long call(long number, long a, long b, long c, long d, long e) {
    long result = number;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n"
        "_start:\n"
        "    mov x29, xzr\n"
        "    mov x0, sp\n"
        "    bl enter\n");

static long call(long number, long a, long b, long c, long d, long e) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
}
#else
#error "no system calls known for this machine"
#endif

enum { reportFd = 10, badDescriptor = -9 };

// Kernels are newer and older than the headers of this machine, so the bits are named here.
#define ALL_OF_VERSION_1 ((1ull << 13) - 1)
#define REFER (1ull << 13)
#define TRUNCATE (1ull << 14)
#define IOCTL_DEVICE (1ull << 15)
#define EXECUTE (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_FOLDER (1ull << 3)
#define ON_FILES (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE)
#define READING (EXECUTE | READ_FILE | READ_FOLDER)

struct Ruleset {
    unsigned long long files;
    unsigned long long network; // since version 4: bind and connect of TCP
    unsigned long long scopes;  // since version 6: abstract Unix sockets, signals
};

static unsigned long length(const char *text) {
    unsigned long count = 0;
    while (text[count] != 0)
        ++count;
    return count;
}

static void say(int fd, const char *text) {
    call(__NR_write, fd, (long)text, (long)length(text), 0, 0);
}

__attribute__((noreturn)) static void giveUp(const char *what, const char *subject, long error) {
    // Only where nobody listens is it the standard error output's.
    const int fd =
        call(__NR_fcntl, reportFd, F_GETFD, 0, 0, 0) == badDescriptor ? 2 : (int)reportFd;
    char digits[8];
    char *at = digits + sizeof digits - 1;
    *at = 0;
    for (long rest = -error; at > digits && (rest > 0 || *at == 0); rest /= 10)
        *--at = (char)('0' + rest % 10);
    say(fd, what);
    say(fd, subject);
    say(fd, ": error ");
    say(fd, at);
    say(fd, "\n");
    for (;;)
        call(__NR_exit_group, 127, 0, 0, 0, 0);
}

static void allow(long ruleset, const char *path, unsigned long long rights) {
    const long fd = call(__NR_openat, AT_FDCWD, (long)path, 010000000 | O_CLOEXEC, 0, 0); // O_PATH
    if (fd < 0)
        giveUp("Landlock: cannot open ", path, fd);
    struct statx status;
    const long known =
        call(__NR_statx, fd, (long)"", 0x1000, STATX_TYPE, (long)&status); // AT_EMPTY_PATH
    if (known < 0)
        giveUp("Landlock: cannot look at ", path, known);
    if ((status.stx_mode & 0170000) != 0040000)
        rights &= ON_FILES;
    const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = (int)fd};
    const long added =
        call(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, (long)&rule, 0, 0);
    if (added < 0)
        giveUp("Landlock: no rule for ", path, added);
    call(__NR_close, fd, 0, 0, 0, 0);
}

__attribute__((noreturn, used)) void enter(long *stack) {
    const long count = stack[0];
    char **const arguments = (char **)(stack + 1);
    char **const environment = arguments + count + 1;
    call(__NR_fcntl, reportFd, F_SETFD, FD_CLOEXEC, 0, 0);
    if (count < 4)
        giveUp("usage: entry VERSION RULE... -- PROGRAM", "", 0);
    int version = 0;
    for (const char *digit = arguments[1]; *digit >= '0' && *digit <= '9' && version < 1000;
         ++digit)
        version = version * 10 + (*digit - '0');

    struct Ruleset handled = {ALL_OF_VERSION_1 | REFER, 0, 0};
    unsigned long size = sizeof handled.files;
    if (version >= 3)
        handled.files |= TRUNCATE;
    if (version >= 4) {
        handled.network = 3;
        size = 2 * sizeof handled.files;
    }
    if (version >= 5)
        handled.files |= IOCTL_DEVICE;
    if (version >= 6) {
        handled.scopes = 3;
        size = sizeof handled;
    }
    const long ruleset = call(__NR_landlock_create_ruleset, (long)&handled, (long)size, 0, 0, 0);
    if (ruleset < 0)
        giveUp("Landlock: no rules of version ", arguments[1], ruleset);
    allow(ruleset, "/", READING);
    long at = 2;
    for (; at < count && !(arguments[at][0] == '-' && arguments[at][1] == '-'); ++at) {
        const char *const rule = arguments[at];
        const unsigned long long rights =
            rule[0] == 'w' ? handled.files : READING | (handled.files & ON_FILES);
        allow(ruleset, rule + 1, rights);
    }
    if (at + 1 >= count)
        giveUp("no program was given", "", 0);
    call(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const long restricted = call(__NR_landlock_restrict_self, ruleset, 0, 0, 0, 0);
    if (restricted < 0)
        giveUp("Landlock: the rules cannot be set", "", restricted);
    call(__NR_close, ruleset, 0, 0, 0, 0);
    char **const program = arguments + at + 1;
    giveUp("cannot run ", program[0],
           call(__NR_execve, (long)program[0], (long)program, (long)environment, 0, 0));
}
