#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs `cuda-agent optimize` on KernelBench level-1 files from a checkout of yours and prints a table.

usage: kernelbench_level1.py --program build/release/bin/cuda-agent --tasks KernelBench/level1
                             --results results.jsonl [--only 19,23] [--seconds 540] [--gpus 1]

The 36 files are those of elementwise activations, softmax, normalisations, reductions, losses and
scaling. Results are appended as one verdict a line; files that already have one are skipped, so a
run that was cut off goes on. Several GPUs are worked by one process each.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time

NUMBERS = [5, *range(19, 41), 47, 48, 49, 51, 52, 53, 88, 94, 95, 96, 98, 99, 100]


def optimize(arguments, gpu, number, deadline):
    file = next(pathlib.Path(arguments.tasks).glob(f"{number}_*.py"))
    left = deadline - time.monotonic()
    if left < 20:
        return None
    folder = pathlib.Path(arguments.sessions) / str(number)
    command = [arguments.program, "optimize", str(file), "--device", "cuda", "--json",
               "--session", str(folder), "--turns", str(arguments.turns)]
    start = time.monotonic()
    environment = dict(os.environ)
    if arguments.gpus > 1:
        environment["CUDA_VISIBLE_DEVICES"] = str(gpu)
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=left, env=environment)
    except subprocess.TimeoutExpired:
        return {"number": number, "error": "out of time", "wall": time.monotonic() - start, "retry": True}
    wall = time.monotonic() - start
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "progress.txt").write_text(process.stderr)
    try:
        verdict = json.loads(process.stdout)
    except json.JSONDecodeError:
        verdict = {"error": {"message": process.stderr.strip().splitlines()[-1:]}}
    return {"number": number, "name": file.stem, "wall": wall, "exit": process.returncode, **verdict}


def row(result):
    times = result.get("times", {})
    milliseconds = lambda name: f"{1e3 * times[name]['seconds']:9.4f}" if name in times else "        -"
    speedup = result.get("speedup", {})
    problem = result.get("problem") or (result.get("error", {}).get("message") if isinstance(result.get("error"), dict) else result.get("error")) or ""
    return (f"{result['number']:4} {milliseconds('candidate')} {milliseconds('eager')} {milliseconds('compile')}"
            f" {speedup.get('compile', 0):7.3f} {result.get('fraction_of_limit', 0):6.3f} {result.get('reward', '-'):>3}"
            f" {result.get('best_turn', 0):3}/{result.get('turns', 0):<3} {result['wall']:6.1f}s {str(problem)[:60]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--results", required=True)
    parser.add_argument("--sessions", default=tempfile.mkdtemp(prefix="kernelbench-"))
    parser.add_argument("--only", default="")
    parser.add_argument("--turns", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--gpus", type=int, default=1)
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    results = pathlib.Path(arguments.results)
    done = {}
    if results.exists():
        for line in results.read_text().splitlines():
            entry = json.loads(line)
            done[entry["number"]] = entry
    wanted = [int(n) for n in arguments.only.split(",")] if arguments.only else NUMBERS
    work = queue.Queue()
    for number in wanted:
        if number not in done or done[number].get("retry"):
            work.put(number)

    def serve(gpu):
        while True:
            try:
                number = work.get_nowait()
            except queue.Empty:
                return
            result = optimize(arguments, gpu, number, deadline)
            if result is None:
                return
            done[number] = result
            print(row(result), flush=True)
            with results.open("a") as out:
                out.write(json.dumps(result) + "\n")

    with concurrent.futures.ThreadPoolExecutor(arguments.gpus) as pool:
        list(pool.map(serve, range(arguments.gpus)))
    print("\n  id  candidate     eager   compile speedup  limit rew  turn     wall")
    for number in wanted:
        if number in done:
            print(row(done[number]))
    judged = [done[n] for n in wanted if n in done]
    print(f"{len(judged)} judged, {sum(bool(r.get('correct')) for r in judged)} correct, "
          f"{sum(r.get('fraction_of_limit', 0) >= 0.95 for r in judged)} at the limit, "
          f"{sum(r.get('speedup', {}).get('compile', 0) > 1.05 for r in judged)} more than 5 % faster than torch.compile")
    return 0


if __name__ == "__main__":
    sys.exit(main())
