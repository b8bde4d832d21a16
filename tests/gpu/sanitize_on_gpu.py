#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded faults under `cuda-agent check --sanitize --device cuda` (compute-sanitizer): each must be found
with its kind and its line, and an honest kernel must be clean. Prints a table.

usage: sanitize_on_gpu.py --program build/release/bin/cuda-agent [--only NAME;...]
                          [--device cuda] [--module FOLDER] [--results results.json]

With --device cpu the same cases run under the checks of the cpu device. --module: a module candidate
with its task.py beside it, which must be clean too. Exit code 1 when something is not as expected, 77
without a GPU or without compute-sanitizer.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

TASK = """import torch

N = 4096


class Model(torch.nn.Module):
    def forward(self, x):
        return 2 * x


def get_inputs():
    return [torch.randn(N)]


def get_init_inputs():
    return []
"""
HEAD = ('extern "C" __global__ void k(const float *x, float *y, int n) {\n'
        "    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n")
TILE = ("    __shared__ float s[256];\n"
        "    s[t] = x[i];\n"
        "    __syncthreads();\n"
        "    y[i] = 2 * s[t ^ 64] - s[t ^ 64] + 2 * x[i] - s[t ^ 64];\n")

# name: (body, kinds that may be reported, line; 0: any). The body begins on line 3.
CASES = {
    "honest": ("    y[i] = 2 * x[i];\n", set(), 0),
    "honest with shared memory": (TILE, set(), 0),
    "input, one past the end": ("    y[i] = 2 * x[i] + 0 * x[i + 1];\n", {"out-of-bounds"}, 3),
    "input, one past the end, kept": ("    const float more = x[i + 1];\n"
                                      "    y[i] = 2 * x[i] + (more == 1e30f);\n",
                                      {"out-of-bounds"}, 3),
    "output, one past the end": ("    y[i] = 2 * x[i];\n    if (i == n - 1)\n"
                                 "        y[i + 1] = 0;\n", {"out-of-bounds"}, 5),
    "negative index": ("    y[i] = 2 * x[i] + (x[i - 3] == 1e30f);\n", {"out-of-bounds"}, 3),
    "output read before it is written": ("    y[i] += 2 * x[i];\n", {"uninitialised"}, 3),
    "misaligned vector": ("    y[i] = 2 * x[i];\n    if (i == 0)\n"
                          "        *(float4 *)(y + 1) = *(const float4 *)(x + 4);\n",
                          {"misaligned"}, 5),
    "missing barrier": (TILE.replace("    __syncthreads();\n", ""), {"race"}, 0),
    "divergent barrier": ("    if (t < 100)\n        __syncthreads();\n"
                          "    y[i] = 2 * x[i];\n    if (t >= 100)\n        __syncthreads();\n",
                          {"barrier"}, 0),
}


def plan():
    return json.dumps({
        "version": 1, "name": "double", "symbols": {"N": "in0.numel"},
        "buffers": [{"name": "in0", "role": "input", "index": 0},
                    {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
                     "shape": ["N"]}],
        "steps": [{"kind": "kernel", "source": "kernels/k.cu", "entry": "k",
                   "grid": ["cdiv(N, 256)"], "block": [256],
                   "args": [{"buffer": "in0"}, {"buffer": "out0"}, {"int32": "N"}]}]})


def check(arguments, task, candidate):
    start = time.monotonic()
    done = subprocess.run([arguments.program, "check", task, candidate, "--device",
                           arguments.device, "--sanitize", "--strength", "training", "--json"],
                          capture_output=True, text=True, timeout=1200, stdin=subprocess.DEVNULL)
    try:
        report = json.loads(done.stdout).get("sanitizer")
    except ValueError:
        report = None
    return done, report, time.monotonic() - start


def problem(done, report, kinds, line):
    """What is not as it has to be, or empty."""
    if report is None:
        return f"exit {done.returncode}, no report: {done.stderr.strip()[-300:]}"
    if report["notes"]:
        return "; ".join(report["notes"])
    found = report["findings"]
    if not kinds:
        return "; ".join(f"{each['kind']}: {each['message'][:120]}" for each in found)
    if done.returncode != 1:
        return f"exit {done.returncode}"
    fitting = [each for each in found if each["kind"] in kinds]
    if not fitting:
        return f"no {'/'.join(kinds)} among {[each['kind'] for each in found]}"
    if line and line not in [each["line"] for each in fitting]:
        return f"line {[each['line'] for each in fitting]} instead of {line}"
    if any(each["file"] != "kernels/k.cu" for each in fitting):
        return f"file {fitting[0]['file']!r}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="names, separated by ;")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--module", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.program = arguments.program.resolve()
    only = [name for name in arguments.only.split(";") if name]
    failed, results = 0, {}
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        task = folder / "task.py"
        task.write_text(TASK)
        for name, (body, kinds, line) in CASES.items():
            if only and name not in only:
                continue
            candidate = folder / name.replace(" ", "_").replace(",", "")
            (candidate / "kernels").mkdir(parents=True)
            (candidate / "kernels" / "k.cu").write_text(HEAD + body + "}\n")
            (candidate / "plan.json").write_text(plan())
            done, report, seconds = check(arguments, task, candidate)
            if done.returncode == 3 and report is None:
                print("skipped:", done.stderr.strip().splitlines()[-1])
                return 77
            wrong = problem(done, report, kinds, line)
            results[name] = {"seconds": seconds, "report": report, "problem": wrong}
            print(f"{'ok  ' if not wrong else 'FAIL'} {seconds:6.1f} s  {name:34} {wrong}", flush=True)
            failed += bool(wrong)
        if arguments.module:
            done, report, seconds = check(arguments, arguments.module / "task.py", arguments.module)
            wrong = problem(done, report, set(), 0)
            results["module"] = {"seconds": seconds, "report": report, "problem": wrong}
            print(f"{'ok  ' if not wrong else 'FAIL'} {seconds:6.1f} s  {arguments.module} {wrong}")
            failed += bool(wrong)
    if arguments.results:
        arguments.results.write_text(json.dumps(results, indent=1))
    print(f"{len(results) - failed} of {len(results)} as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
