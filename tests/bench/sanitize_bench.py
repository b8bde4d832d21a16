#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every plan example of the skills under the checks of the cpu device and prints how much longer a
checked call takes than a timed one. An example must be clean: what is found there is a false alarm.

usage: sanitize_bench.py --program build/release/bin/cuda-agent [--times] [--only NAME]

--times also times each candidate, which takes the time of its baselines. Exit code 1 when an example
is not clean.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPU_ONLY = {"wmma_matmul"}  # the cpu device has no tensor cores


def check(program, folder, *more):
    done = subprocess.run([program, "check", folder / "task.py", folder, "--device", "cpu",
                           "--strength", "training", "--json", *more], capture_output=True,
                          text=True, timeout=900, stdin=subprocess.DEVNULL)
    if not done.stdout.strip():
        raise RuntimeError(f"{folder.name}: exit {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    wrong = 0
    for plan in sorted((ROOT / "skills").glob("*/candidates/*/plan.json")):
        folder = plan.parent
        if folder.name in GPU_ONLY or arguments.only not in folder.name:
            continue
        verdict = check(arguments.program, folder, "--sanitize")
        report = verdict["sanitizer"]
        clean = verdict["correct"] and report["clean"]
        wrong += not clean
        text = f"{folder.name:20} {'clean' if clean else 'NOT CLEAN'}  {report['seconds']:7.3f} s"
        if arguments.times:
            times = check(arguments.program, folder)["times"]["candidate"]["seconds"]
            text += f"  plain {1e3 * times:8.3f} ms  {report['seconds'] / times:6.0f}x"
        print(text, flush=True)
        for finding in report["findings"]:
            print("   ", json.dumps(finding))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
