# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidates that leave things behind: descriptors, memory, threads, files, processes.

Those of the corpus try to fool the judge; these answer rightly, or fail in a usual way, and are
careless. A limit may stop one that takes much ("random inputs") or let it through ("passed").
"""
import json

from corpus import BOTH, CPU, CUDA, Entry, shift
from families.process import LIBC, does

EITHER = ("passed", "random inputs")
RANDOM = ("random inputs",)
OWN = "own"
RIGHT = "y[i] = 2 * x[i] + 1;"
SYSTEM = """
extern "C" {
int pipe(int *);
int shmget(int, unsigned long, int);
void abort(void);
int pthread_create(unsigned long *, const void *, void *(*)(void *), void *);
}
static void *forever(void *) { for (;;) sleep(1000); }
"""


def with_scratch(files, elements):
    """The plan with a scratch buffer of so many floats that nothing reads."""
    plan = json.loads(files["plan.json"])
    plan["buffers"].append({"name": "room", "role": "scratch", "dtype": "float32",
                            "shape": [elements]})
    return files | {"plan.json": json.dumps(plan)}


def entry(name, files, expect, what, devices=CPU):
    return Entry(name, "shift", files, expect, what, OWN, devices=devices)


ENTRIES = [
    entry("descriptors without end", does(
        "int ends[2]; while (open(\"/dev/null\", 0) >= 0 && pipe(ends) == 0) { }", SYSTEM),
        EITHER + ("process",), "opens files and pipes until it may not, and closes none"),
    entry("sockets left open", does("for (int s = 0; s < 500; ++s) socket(1, 1, 0);"), EITHER,
          "opens Unix sockets"),
    entry("files in memory", does(
        "static char block[1 << 20]; for (int f = 0; f < 20; ++f) write((int)syscall(319, \"left\", "
        "0), block, sizeof block);"), EITHER, "keeps 20 MiB in files without a name"),
    entry("files all over", does(
        "char path[64]; for (int f = 0; f < 200; ++f) { snprintf(path, 64, f % 2 ? \"/tmp/left-%d\" "
        ": \"/dev/shm/left-%d\", f); const int d = open(path, 0101, 0666); write(d, path, 64); close("
        "d); }"), EITHER, "leaves 200 files in the temporary folder and in shared memory"),
    entry("segments of shared memory", does(
        "for (int s = 0; s < 20; ++s) shmget(0, 1 << 20, 01600);", SYSTEM), EITHER,
        "makes System V segments and removes none"),
    entry("threads without end", does(
        "unsigned long id; for (int t = 0; t < 200 && pthread_create(&id, nullptr, forever, nullptr) "
        "== 0; ++t) { }", SYSTEM), EITHER, "starts threads that never end"),
    entry("memory never freed", does(
        "for (int m = 0; m < 32; ++m) memset(malloc(1 << 24), 1, 1 << 24);"), EITHER,
        "takes half a gigabyte"),
    entry("a flood of output", does(
        "static char block[1 << 16]; memset(block, 'x', sizeof block); for (int m = 0; m < 400; ++m)"
        " write(2, block, sizeof block);"), EITHER, "writes 25 MiB to standard error"),
    entry("children that are not waited for", does(
        "for (int c = 0; c < 20; ++c) if (fork() == 0) _exit(0);"), EITHER,
        "leaves zombies to whoever comes"),
    entry("children that sleep", does(
        "for (int c = 0; c < 5; ++c) if (fork() == 0) { setsid(); sleep(900); _exit(0); }"), EITHER,
        "leaves sessions of their own"),
    entry("aborts", does("abort();", SYSTEM), RANDOM, "ends by SIGABRT"),
    entry("divides by zero", shift(
        "volatile int zero = 0; y[i] = (float)(i / zero);", LIBC), RANDOM, "ends by SIGFPE"),
    entry("stack without end", shift(
        "y[i] = deep(n);", "static float deep(int d) { volatile char b[1 << 14]; b[d & 16383] = 1; "
        "return deep(d + 1) + b[(d + 1) & 16383]; }"), RANDOM, "recurses until the stack ends"),
    # What poisons the context of a GPU, and what holds its memory when it ends.
    entry("an address far away", shift("y[i + ((long long)n << 20)] = 1;"), RANDOM,
          "an illegal address", devices=CUDA),
    entry("an address in between", shift("*(double *)((char *)y + 4 * (i / 2) + 4) = 1;"), RANDOM,
          "a misaligned address", devices=CUDA),
    entry("an assertion that fails", shift(RIGHT + " assert(i < n - 7);"), RANDOM,
          "a device-side assert", devices=CUDA),
    entry("a trap", shift(RIGHT + " if (i == n / 2) __trap();"), RANDOM, "ends the kernel",
          devices=CUDA),
    entry("one warp without end", shift(
        RIGHT + " if (i < 32) { volatile float *spin = y; while (spin[i] != 12345.0f) { } }"), RANDOM,
        "never ends", devices=CUDA),
    entry("gigabytes of scratch", with_scratch(shift(RIGHT), "N * 16384"),
          EITHER + ("request", "start"), "asks for 4 GiB that nothing reads", devices=CUDA),
    entry("gigabytes of scratch and a fault", with_scratch(
        shift("y[i + ((long long)n << 20)] = 1;"), "N * 16384"), RANDOM + ("request", "start"),
        "faults while it holds 4 GiB", devices=CUDA),
    entry("a name that is not there", shift("y[i] = 2 * xx[i] + 1;"), ("compile",),
          "a spelling mistake", devices=BOTH),
    entry("a bracket too few", shift("if (i == 0) { " + RIGHT), ("compile",),
          "the file ends too early", devices=BOTH),
    entry("hundreds of errors", shift("\n        ".join(f"a{i} = b{i};" for i in range(400))),
          ("compile",), "a compiler has much to say about it", devices=BOTH),
    entry("kernel of another name", shift(RIGHT) | {
        "kernels/k.cu": 'extern "C" __global__ void other(float *y) { y[0] = 1; }\n'},
        ("start", "compile", "request"), "the plan's entry is missing", devices=BOTH),
    entry("no plan in it", {"notes.txt": "nothing\n"}, ("request",), "a folder with other files",
          devices=BOTH),
    entry("plan cut off", shift(RIGHT) | {"plan.json": '{"version": 1, "name": "cut'},
          ("request",), "the JSON ends too early", devices=BOTH),
]
