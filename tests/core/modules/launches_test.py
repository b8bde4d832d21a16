#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The library that stands between a candidate's launches and the CUDA run time, with a run time that
only counts. Needs CUDA_AGENT_LAUNCHES=<library> and a C compiler."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LIBRARY = pathlib.Path(os.environ["CUDA_AGENT_LAUNCHES"]).resolve()

RUN_TIME = """
typedef struct { unsigned x, y, z; } dim3;
int kernels, graphs, last;
int __cudaLaunchKernel(void *k, dim3 g, dim3 b, void **a, unsigned long s, void *t) {
    ++kernels; last = g.x + b.z; return k && a && !t ? (int)s : -1; }
int cudaLaunchKernelExC(void *c, void *k, void **a) { ++kernels; return c && k && a ? 7 : -1; }
int cudaGraphLaunch(void *g, void *s) { ++graphs; return g && s ? 9 : -1; }
"""
CALLER = """
typedef struct { unsigned x, y, z; } dim3;
int __cudaLaunchKernel(void *, dim3, dim3, void **, unsigned long, void *);
int cudaLaunchKernelExC(void *, void *, void **);
int cudaGraphLaunch(void *, void *);
static volatile int sink; static int some;
// As nvcc makes it: one host function for a kernel, whoever launches it.
__attribute__((noinline)) static int stub(void) { void *a;
    int r = __cudaLaunchKernel(&a, (dim3){1, 1, 1}, (dim3){1, 1, 1}, &a, 3, 0); sink = r; return r; }
int twice(void) { int r = stub(); sink = r; r = 10 * r + stub(); sink = r; return r; }
int first(void) { void *a; int r = __cudaLaunchKernel(&a, (dim3){40, 1, 1}, (dim3){1, 1, 2}, &a, 5, 0);
                  sink = r; return r; }
int second(void) { void *a; int r = cudaLaunchKernelExC(&a, &a, &a); sink = r; return r; }
int graph(void) { int r = cudaGraphLaunch(&some, &some); sink = r; return r; }
"""
CHILD = """
import ctypes, sys
folder = sys.argv[1]
names = ctypes.CDLL(folder + '/libcudart.so.13')
own = ctypes.CDLL(folder + '/cuda_extension.so')
other = ctypes.CDLL(folder + '/libother.so')
judge = ctypes.CDLL(None)
def count(): return ctypes.c_int.in_dll(names, 'kernels').value
def places():
    text = ctypes.create_string_buffer(1000)
    n = judge.cuda_agent_host_places(text, ctypes.c_size_t(1000))
    found = text.value.decode().split()
    assert n == len(text.value.decode().splitlines()), text.value
    return text.value.decode().splitlines()
assert own.first() == 5 and own.second() == 7 and own.graph() == 9 and count() == 2
assert ctypes.c_int.in_dll(names, 'last').value == 42
judge.cuda_agent_host_leave_out(-1)
assert own.first() == 0 and own.second() == 0 and own.graph() == 0 and own.first() == 0
assert count() == 2 and ctypes.c_int.in_dll(names, 'graphs').value == 1
assert other.first() == 5 and count() == 3, 'what others launch passes'
found = places()
assert len(found) == 3 and found[0].startswith('cuda_extension.so+0x') and found[2] == 'a graph'
judge.cuda_agent_host_leave_out(1)
assert own.first() == 5 and own.second() == 0 and own.graph() == 9 and count() == 4
judge.cuda_agent_host_leave_out(-1)
assert own.twice() == 0 and len(places()) == 2, 'two places that launch the same kernel'
judge.cuda_agent_host_leave_out(0)
assert own.twice() == 3
judge.cuda_agent_host_leave_out(1)
assert own.twice() == 30
judge.cuda_agent_host_leave_out(-1)
own.first(), own.second(), own.graph()
judge.cuda_agent_host_leave_out(-2)
assert own.second() == 7 and len(places()) == 3
print('done')
"""


class Launches(unittest.TestCase):
    def test_leaves_out_what_the_candidate_launches(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            for name, text, more in (("libcudart.so.13", RUN_TIME, []),
                                     ("cuda_extension.so", CALLER, ["-l:libcudart.so.13"]),
                                     ("libother.so", CALLER, ["-l:libcudart.so.13"])):
                subprocess.run(["cc", "-shared", "-fPIC", "-O1", f"-Wl,-soname,{name}", "-x", "c", "-",
                                "-o", folder / name, "-x", "none", f"-L{folder}", *more,
                                f"-Wl,-rpath,{folder}"], input=text.encode(), check=True)
            run = subprocess.run([sys.executable, "-c", CHILD, folder], capture_output=True,
                                 text=True, env={**os.environ, "LD_PRELOAD": str(LIBRARY)})
            self.assertEqual((run.returncode, run.stdout), (0, "done\n"), run.stderr)

    def test_without_a_run_time_a_launch_is_an_error(self):
        run = subprocess.run([sys.executable, "-c", "import ctypes\nassert ctypes.CDLL(None)."
                              "cudaGraphLaunch(None, None) == 500"], capture_output=True, text=True,
                             env={**os.environ, "LD_PRELOAD": str(LIBRARY)})
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_shows_nothing_but_its_own_names(self):
        names = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True,
                               text=True, check=True).stdout.split("\n")
        for line in filter(None, names):
            self.assertRegex(line.split()[-1].split("@")[0], r"^(cuda|__cudaLaunchKernel)")


if __name__ == "__main__":
    unittest.main()
