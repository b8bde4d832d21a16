#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a verdict costs: one correct plan judged several times by one judge, in both strengths. The first
verdict compiles and is cold, the others are warm; below each line stand the median seconds of its phases.

usage: judge_cost.py --program build/release/bin/cuda-agent [--device cpu|cuda] [--repeats 8]
                     [--set NAME=VALUE ...] [--against OTHER/bin/cuda-agent]

The task is a linear layer with gelu and a residual; without --set it is sized for 1 ms on an H200, by its
operations, and takes as long on two cores. --against judges with another build in turns, and prints the ratio. Exit code 1 when the
candidate is judged wrong or nothing could be judged.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CANDIDATE = ROOT / "skills" / "gemm-and-epilogues" / "candidates" / "linear_gelu"
SIZES = {"cuda": ["rows=2048", "inner=4096", "features=2048"],
         "cpu": ["rows=128", "inner=320", "features=384"]}


def verdicts(program, arguments, strength):
    """All verdicts of one process: the first is cold."""
    command = [program, "check", CANDIDATE / "task.py", *[CANDIDATE] * (arguments.repeats + 1),
               "--device", arguments.device, "--strength", strength, "--json"]
    for each in arguments.set or SIZES[arguments.device]:
        command += ["--set", each]
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=1800)
    except OSError as error:
        raise SystemExit(f"cannot run {program}: {error.strerror}; build it, or name another with "
                         "--program") from error
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(found) != arguments.repeats + 1:
        raise SystemExit(f"{program}: exit {done.returncode}: {done.stderr[-500:]}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--device", choices=tuple(SIZES), default="cpu")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--set", action="append", metavar="NAME=VALUE")
    arguments = parser.parse_args()
    print(f"{'strength':9} {'call':>9} {'cold':>7} {'median':>7} {'least':>7} {'most':>7}  program")
    wrong = 0
    for strength in ("training", "full"):
        medians = []
        for program in filter(None, (arguments.program, arguments.against)):
            cold, *warm = verdicts(program, arguments, strength)
            wrong += sum(not each["correct"] for each in (cold, *warm))
            seconds = [each["seconds"] for each in warm]
            medians.append(statistics.median(seconds))
            call = warm[-1].get("times", {}).get("candidate", {}).get("seconds", float("nan"))
            print(f"{strength:9} {1e3 * call:6.3f} ms {cold['seconds']:5.2f} s {medians[-1]:5.2f} s "
                  f"{min(seconds):5.2f} s {max(seconds):5.2f} s  {program}", flush=True)
            names = list(dict.fromkeys(name for each in warm for name in each.get("phases", {})))
            print("          " + ", ".join(
                f"{name} {statistics.median(each['phases'].get(name, 0) for each in warm):.3f}"
                for name in names), flush=True)
        if len(medians) == 2:
            print(f"{strength:9} ratio {medians[0] / medians[1]:.2f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
