#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports candidates, builds what was written with this machine's nvcc, runs its tests and its
benchmark, and prints a table. Run it with the Python that has torch.

usage: export_on_gpu.py --program build/release/bin/cuda-agent [--candidate TASK.py=FOLDER ...]
                        [--device cuda|cpu] [--samples N]

Without --candidate: those of tests/data/export (library steps, half precision, much shared memory,
clusters of blocks, channels last, constants). Candidates are exported unverified; the packages' own
tests judge them. Where those die by a signal, each is run alone and after those that leave something
in the process: which die then, and where, is printed.
Exit code 1 when any of them fails.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "export"


class Failed(Exception):
    pass


def run(what, *command, **more):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, timeout=500, **more)
    said = result.stdout + result.stderr
    if result.returncode != 0:
        raise Failed(f"{what} failed (exit {result.returncode}):\n{said[-6000:]}")
    return said


def build(arguments, folder, number, task, candidate):
    """Exports and installs one candidate; returns its project, where it went and the seconds."""
    project = folder / f"project{number}"
    target = folder / f"target{number}"
    run("export", arguments.program, "export", candidate, "--task", task, "--device",
        arguments.device, "--unverified", "--to", project)
    begin = time.monotonic()
    run("pip", sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps",
        "--no-index", "--target", target, project,
        env=dict(os.environ, TORCH_CUDA_ARCH_LIST=os.environ.get("TORCH_CUDA_ARCH_LIST", "9.0")))
    return project, target, time.monotonic() - begin


def find_the_dead(command, project, environment):
    """Which tests of a package die by a signal alone or after another one, and what they say."""
    names = re.findall(r"    def (test_\w+)", (project / "tests/test_operator.py").read_text())
    debugger = shutil.which("gdb")
    report = []
    # PyTorch's compiler and its backward threads stay in the process after these.
    for before in ((), ("test_compiles_as_one_graph",), ("test_opcheck",),
                   ("test_gradients_are_those_of_the_reference",)):
        for name in names:
            chosen = [f"Operator.{each}" for each in (*before, name)]
            result = subprocess.run([*command, *chosen], capture_output=True, text=True,
                                    cwd=project, env=environment, stdin=subprocess.DEVNULL)
            if result.returncode >= 0:
                continue
            said = result.stderr.split("Extension modules:")[0]
            report.append(f"-- {' '.join(chosen)}: signal {-result.returncode}\n{said[-2500:]}")
            if debugger and len(report) == 1:
                traced = subprocess.run(
                    [debugger, "-batch", "-ex", "run", "-ex", "bt 60", "--args", *command, *chosen],
                    capture_output=True, text=True, cwd=project, env=environment,
                    stdin=subprocess.DEVNULL)
                report.append(traced.stdout[-6000:])
    return "\n".join(report) or "no test dies alone, nor after those that compile"


def try_out(arguments, project, target):
    environment = dict(os.environ, PYTHONPATH=str(target))
    begin = time.monotonic()
    command = [sys.executable, "-X", "faulthandler", "-W", "ignore::DeprecationWarning",
               "tests/test_operator.py"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=project, env=environment,
                            stdin=subprocess.DEVNULL, timeout=500)
    said = result.stdout + result.stderr
    if result.returncode < 0:
        raise Failed(f"tests died by signal {-result.returncode}:\n{said[-6000:]}\n"
                     f"{find_the_dead(command, project, environment)}")
    if result.returncode != 0:
        raise Failed(f"tests failed (exit {result.returncode}):\n{said[-6000:]}")
    tests = re.search(r"Ran (\d+) tests", said)
    if not tests or int(tests[1]) < 9:
        raise Failed("the tests did not run:\n" + said[-3000:])
    seconds = time.monotonic() - begin
    times = run("benchmark", sys.executable, "benchmark.py", "--samples", arguments.samples,
                cwd=project, env=environment)
    return f"{tests[1]} tests passed in {seconds:.0f} s\n{times.rstrip()}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--candidate", action="append", default=[], metavar="TASK.py=FOLDER")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--samples", type=int, default=30)
    arguments = parser.parse_args()
    pairs = [pair.split("=", 1) for pair in arguments.candidate] or \
        [(DATA / name / "task.py", DATA / name)
         for name in ("mixed", "channels_last", "constants",
                      *(("cluster",) if arguments.device == "cuda" else ()))]
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        with concurrent.futures.ThreadPoolExecutor(4 if arguments.device == "cuda" else 1) as pool:
            built = [pool.submit(build, arguments, folder, number, *pair)
                     for number, pair in enumerate(pairs)]
        for (task, candidate), future in zip(pairs, built):
            print(f"== {candidate}")
            try:
                project, target, seconds = future.result()
                print(f"built in {seconds:.0f} s\n{try_out(arguments, project, target)}")
            except Failed as problem:
                failed += 1
                print(problem)
    print("all passed" if failed == 0 else f"{failed} of {len(pairs)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
