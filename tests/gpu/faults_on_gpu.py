#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of candidates on this machine's GPU: each must be told apart from a wrong answer and cost
only its own candidate, also while others are judged on the same GPU; then a quarantine is set, shown,
refused by and lifted. Prints a table.

usage: faults_on_gpu.py --program build/release/bin/cuda-agent [--only NAME;...] [--jobs 3]
                        [--results results.json]

Exit code 1 when anything is not as expected. The cache folder is a temporary one.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TASK = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x * 2 + 1

def get_inputs():
    return [torch.randn(4096, 1024)]

def get_init_inputs():
    return []
"""

PLAN = {
    "version": 1, "name": "scale and shift", "symbols": {"N": "in0.numel"},
    "buffers": [
        {"name": "in0", "role": "input", "index": 0},
        {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
         "shape": ["in0.shape[0]", "in0.shape[1]"]}],
    "steps": [{"kind": "kernel", "source": "kernels/k.cu", "entry": "k", "grid": ["cdiv(N, 256)"],
               "block": [256], "args": [{"buffer": "in0"}, {"buffer": "out0"}, {"int32": "N"}]}],
}

RIGHT = "y[i] = 2 * x[i] + 1;"

MODULE = """
import os
import time

import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def forward(self, x):
        {body}
"""

# name: (kernel body, or module body after "module:", expected exit code, expected kinds of fault)
CASES = {
    "right": (RIGHT, 0, None),
    "wrong": ("y[i] = 2 * x[i];", 1, None),
    "illegal address": ("y[i + ((long long)n << 20)] = 1;", 1, ["illegal_address"]),
    "misaligned address": ("*(double *)((char *)y + 4 * (i / 2) + 4) = 1;", 1, ["illegal_address"]),
    "null pointer": ("*(volatile int *)(long long)(x[i] * 0) = 1;", 1, ["illegal_address"]),
    "endless kernel": ("volatile float *spin = y; while (spin[i] != 12345.0f) { }", 1, ["hang"]),
    "endless in one warp": (RIGHT + " if (i < 32) { volatile float *spin = y; "
                            "while (spin[i] != 12345.0f) { } }", 1, ["hang"]),
    "device-side assert": (RIGHT + " assert(i < n - 7);", 1, ["assertion"]),
    "trap": (RIGHT + " if (i == n / 2) __trap();", 1, ["illegal_instruction"]),
    "stack without end": ("volatile float room[120000]; room[i % 120000] = x[i]; "
                          "y[i] = 2 * room[i % 120000] + 1;", None, ["out_of_memory", "launch"]),
    "module: out of memory": ("torch.empty(1 << 42, dtype=torch.uint8, device=x.device)\n"
                              "        return x * 2 + 1", 1, ["out_of_memory"]),
    "module: host memory": ("self.kept = [b\"x\" * (1 << 28) for _ in range(1000)]\n"
                            "        return x * 2 + 1", 1, ["out_of_memory"]),
    "module: worker exits": ("os._exit(0)", 1, ["died"]),
    "module: worker is killed": ("os.kill(os.getpid(), 9)", 1, ["died"]),
    "module: endless": ("time.sleep(1000)", 1, ["hang"]),
    # The descriptors of CUDA's driver go with it.
    "module: closes its channel": ("os.closerange(3, 64)\n        return x * 2 + 1", 1,
                                   ["died", "illegal_instruction"]),
}


class Bench:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.cache = folder / "cache"
        self.task = folder / "task.py"
        self.task.write_text(TASK)

    def run(self, *arguments):
        environment = dict(os.environ, CUDA_AGENT_CACHE=str(self.cache),
                           CUDA_AGENT_DATA=str(self.folder / "data"))
        return subprocess.run([str(self.program), *map(str, arguments)], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=500, env=environment)

    def candidate(self, name, body):
        own = self.folder / name.replace(" ", "_").replace(":", "")
        if own.exists():
            return own if not name.startswith("module") else own / "model.py"
        own.mkdir()
        if name.startswith("module"):
            (own / "model.py").write_text(MODULE.format(body=body))
            return own / "model.py"
        (own / "kernels").mkdir()
        (own / "plan.json").write_text(json.dumps(PLAN))
        (own / "kernels/k.cu").write_text(
            'extern "C" __global__ void k(const float *x, float *y, int n) {\n'
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"    if (i >= n) return;\n    {body}\n}}\n")
        return own

    def check(self, name):
        body, code, kinds = CASES[name]
        start = time.monotonic()
        done = self.run("check", self.task, self.candidate(name, body), "--device", "cuda",
                        "--rules", "kernelbench", "--json")
        try:
            verdict = json.loads(done.stdout)
        except json.JSONDecodeError:
            verdict = {}
        kind = verdict.get("fault", {}).get("kind")
        if code is None:  # the device may have room for it
            good = (done.returncode == 0 and kind is None) or \
                (done.returncode == 1 and kind in kinds)
        else:
            good = done.returncode == code and (kind in kinds if kinds else kind is None)
        return {"name": name, "good": good, "exit": done.returncode, "fault": kind,
                "seconds": round(time.monotonic() - start, 1),
                "said": (verdict.get("problem") or done.stderr).strip()[-300:]}


def report(result):
    print(f"{'ok  ' if result['good'] else 'FAIL'} {result['name']:<28} exit {result['exit']} "
          f"{result['fault'] or '-':<20} {result['seconds']:>6} s  {result['said'][:110]!r}",
          flush=True)
    return result


def quarantine(bench):
    """A device that was put away by hand."""
    def step(name, done, code, words):
        said = done.stdout + done.stderr
        return report({"name": name, "good": done.returncode == code and words in said,
                       "exit": done.returncode, "fault": None, "seconds": 0,
                       "said": said.strip()[-300:]})

    folder = bench.cache / "quarantine"
    results = [report({"name": "none after all that", "good": not folder.exists(), "exit": 0,
                       "fault": None, "seconds": 0, "said": ""})]
    gpus = sorted(pathlib.Path("/dev").glob("nvidia[0-9]*"))
    device = "cuda" + gpus[0].name.removeprefix("nvidia") if gpus else "cuda0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{device}.json").write_text(json.dumps(
        {"device": device, "reason": "put away by a test", "time": time.time()}))
    check = ["check", bench.task, bench.candidate("right", RIGHT), "--device", "cuda"]
    results.append(step("check is refused", bench.run(*check), 3, "put away by a test"))
    results.append(step("doctor shows it", bench.run("doctor"), 0, "is in quarantine since"))
    start = time.monotonic()
    lifted = bench.run("doctor", "--lift-quarantine", device)
    results.append(step("doctor lifts it", lifted, 0, "its quarantine is lifted"))
    print(f"     a probe takes {time.monotonic() - start:.2f} s")
    results.append(step("check goes on", bench.run(*check), 0, "correct"))
    return results


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--results", type=pathlib.Path)
    arguments = parser.parse_args()
    names = [name for name in arguments.only.split(";") if name] or list(CASES)
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(arguments.program.resolve(), pathlib.Path(temporary))
        results = []
        if "right" in names:  # fills the caches, so that the others measure judging
            results.append(report(bench.check("right")))
            names.remove("right")
        # Faulting and sound candidates at the same time: nobody's fault may be another's.
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            work = [name for each in names for name in ([each, "right"] if each != "wrong"
                                                        else [each])]
            results += [report(result) for result in pool.map(bench.check, work)]
        results += quarantine(bench)
    if arguments.results:
        arguments.results.write_text(json.dumps(results, indent=1) + "\n")
    bad = [result["name"] for result in results if not result["good"]]
    print(f"{len(results) - len(bad)} of {len(results)} as expected"
          + (f"; not: {', '.join(bad)}" if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
