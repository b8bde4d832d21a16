#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs `cuda-agent optimize` on KernelBench files from a checkout of yours and prints a table.

usage: kernelbench.py --program build/release/bin/cuda-agent --tasks KernelBench --results results.jsonl
                      [--levels 1,2] [--only 1/19,2/3] [--numerics default] [--turns 6] [--gpus 1]

KernelBench is the folder that holds level1, level2, ...; `--only memory` chooses the 36 level-1 files of
elementwise activations, softmax, normalisations, reductions, losses and scaling. Results are appended as
one verdict a line; files that already have one are skipped, so a run that was cut off goes on. Each GPU is
worked by `--per-gpu` processes: one measures while others prepare (the engine's leases see to it). Four
are right for products and losses; of convolutions over gigabytes two fit at once, and the stock times of
more of them suffer too: PyTorch takes slower algorithms where it finds no memory for its fast ones.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time

MEMORY = [f"1/{n}" for n in (5, *range(19, 41), 47, 48, 49, 51, 52, 53, 88, 94, 95, 96, 98, 99, 100)]


def all_tasks(arguments):
    """{"1/19": file}, in the order of levels and numbers."""
    tasks = {}
    for level in arguments.levels.split(","):
        files = pathlib.Path(arguments.tasks, f"level{level}").glob("[0-9]*_*.py")
        for file in sorted(files, key=lambda path: int(path.name.split("_")[0])):
            tasks[f"{level}/{file.name.split('_')[0]}"] = file
    return tasks


def error_of(result):
    error = result.get("error")
    text = error.get("message", "") if isinstance(error, dict) else error
    return str(result.get("problem") or text or "")


def optimize(arguments, gpu, task, file, deadline):
    left = min(deadline - time.monotonic(), arguments.longest)
    if left < 20:
        return None
    folder = pathlib.Path(arguments.sessions) / task.replace("/", "-")
    command = [arguments.program, "optimize", str(file), "--device", "cuda", "--json", "--no-memory", "--session", str(folder),
               "--turns", str(arguments.turns), "--numerics", arguments.numerics]
    environment = dict(os.environ)
    if arguments.gpus > 1:
        environment["CUDA_VISIBLE_DEVICES"] = str(gpu)
    start = time.monotonic()
    folder.parent.mkdir(parents=True, exist_ok=True)
    said = []

    def listen(stream):
        with folder.with_suffix(".txt").open("w") as out:
            for line in stream:
                said.append(line.rstrip("\n"))
                out.write(f"{time.monotonic() - start:7.2f} {line}")

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    listener = threading.Thread(target=listen, args=(process.stderr,))
    listener.start()
    timer = threading.Timer(left, process.terminate)
    timer.start()
    output = process.stdout.read()
    process.wait()
    cut_off = not timer.is_alive()
    timer.cancel()
    listener.join()
    wall = time.monotonic() - start
    if cut_off:
        return {"task": task, "name": file.stem, "error": "out of time", "wall": wall,
                "retry": deadline - time.monotonic() < 5}
    try:
        verdict = json.loads(output)
    except json.JSONDecodeError:
        verdict = {"error": {"message": " ".join(said[-1:])}}
    if not verdict.get("correct") and "error" not in verdict:
        ends = [line for line in said if line.startswith(("  = ", "ended: "))]
        verdict["error"] = " | ".join(line.strip() for line in ends[-2:])
    return {"task": task, "name": file.stem, "wall": wall, "exit": process.returncode, **verdict}


def speedup(result):
    return result.get("speedup", {}).get("compile", 0) if result.get("correct") else 0


def at_limit(result):
    return bool(result.get("correct")) and result.get("fraction_of_limit", 0) >= 0.95


def row(result):
    times = result.get("times", {})
    milliseconds = lambda name: f"{1e3 * times[name]['seconds']:9.4f}" if name in times else "        -"
    return (f"{result['task']:>6} {milliseconds('candidate')} {milliseconds('eager')} {milliseconds('compile')}"
            f" {speedup(result):7.3f} {result.get('fraction_of_limit', 0):6.3f} {result.get('reward', '-'):>3}"
            f" {result.get('best_turn', 0):3}/{result.get('turns', 0):<3} {result['wall']:6.1f}s"
            f" {result['name'][:34]:34} {error_of(result)[:150]}")


def summary(name, results):
    if not results:
        return f"{name}: nothing judged"
    correct = [r for r in results if r.get("correct")]
    faster = [r for r in correct if speedup(r) > 1.05]
    won = [r for r in correct if speedup(r) > 1.05 or at_limit(r)]
    logs = [math.log(speedup(r)) for r in correct if speedup(r) > 0]
    mean = math.exp(sum(logs) / len(logs)) if logs else 0
    return (f"{name}: {len(results)} judged, {len(correct)} correct, {len(faster)} more than 5 % faster than"
            f" torch.compile, {len(won)} so or at the limit, geometric mean {mean:.2f}x torch.compile")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--results", required=True)
    parser.add_argument("--levels", default="1,2")
    parser.add_argument("--only", default="", help="1/19,2/3 or 'memory'")
    parser.add_argument("--numerics", default="default")
    parser.add_argument("--sessions", default=tempfile.mkdtemp(prefix="kernelbench-"))
    parser.add_argument("--turns", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=540, help="for all of it")
    parser.add_argument("--longest", type=float, default=150, help="seconds of one task")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--per-gpu", type=int, default=1)
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    tasks = all_tasks(arguments)
    only = MEMORY if arguments.only == "memory" else [task for task in arguments.only.split(",") if task]
    wanted = only or list(tasks)
    if unknown := [task for task in wanted if task not in tasks]:
        parser.error(f"no such files below {arguments.tasks}: {', '.join(unknown)}")
    results = pathlib.Path(arguments.results)
    done = {}
    if results.exists():
        for line in results.read_text().splitlines():
            entry = json.loads(line)
            done[entry["task"]] = entry
    work = queue.Queue()
    for task in wanted:
        if task not in done or done[task].get("retry"):
            work.put(task)

    alone = queue.Queue()  # two of them did not fit on one GPU

    def serve(worker, from_queue, shared):
        while True:
            try:
                task = from_queue.get_nowait()
            except queue.Empty:
                return
            result = optimize(arguments, worker % arguments.gpus, task, tasks[task], deadline)
            if result is None:
                return
            if shared and not result.get("correct") and "memory" in error_of(result):
                alone.put(task)
                continue
            done[task] = result
            print(row(result), flush=True)
            with results.open("a") as out:
                out.write(json.dumps(result) + "\n")

    for from_queue, workers in ((work, arguments.gpus * arguments.per_gpu), (alone, arguments.gpus)):
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            shared = from_queue is work and arguments.per_gpu > 1
            list(pool.map(lambda worker: serve(worker, from_queue, shared), range(workers)))
    print("\n  task candidate     eager   compile speedup  limit rew  turn     wall")
    for task in wanted:
        if task in done:
            print(row(done[task]))
    judged = [done[task] for task in wanted if task in done and not done[task].get("retry")]
    reasons = collections.Counter(error_of(r)[:100] for r in judged if not r.get("correct"))
    for reason, count in reasons.most_common(40):
        print(f"{count:4} x {reason}")
    for level in arguments.levels.split(","):
        print(summary(f"level {level}", [r for r in judged if r["task"].startswith(level + "/")]))
    print(summary("all", judged))
    return 0


if __name__ == "__main__":
    sys.exit(main())
