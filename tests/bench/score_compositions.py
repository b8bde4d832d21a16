#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scores the planner on compositions it has not seen: `cuda-agent optimize` on each, and a table.

usage: score_compositions.py --program build/release/bin/cuda-agent --results results.jsonl
                             [--seed 1] [--count 40] [--scale small|large] [--device cpu|cuda]
                             [--turns 6] [--jobs 1] [--gpus 1] [--timeout 240] [--only 3,7]

The tasks are those of `compositions.py`. Results are appended, one JSON line a task; tasks that
have one are skipped, so a run that was cut off goes on. Outcomes: `correct`; `refused`: the planner
named what it cannot do; `wrong`: no candidate was right; `machine`: everything else. Exit code 0
when none is wrong or machine.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile
import time

import compositions

REFUSAL = "the planner cannot do"
OUTCOMES = ("correct", "refused", "wrong", "machine")


def optimize(arguments, task, session, environment):
    """One verdict, with what was printed while it came about."""
    command = [arguments.program, "optimize", str(task), "--device", arguments.device, "--json", "--no-memory",
               "--session", str(session), "--turns", str(arguments.turns)]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        answer, progress = process.communicate(timeout=arguments.timeout)
        error = (progress.strip().splitlines() or ["no output"])[-1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # the program ends its sandboxes itself
        answer, progress = process.communicate()
        error = f"no end within {arguments.timeout:.0f} s"
    session.mkdir(parents=True, exist_ok=True)
    (session / "progress.txt").write_text(progress)
    try:
        verdict = json.loads(answer)
    except json.JSONDecodeError:
        verdict = {"error": {"message": error}}
    failures = [line[4:] for line in progress.splitlines() if line.startswith("  = ") and not line.startswith("  = correct")]
    return {"wall": time.monotonic() - start, "exit": process.returncode, "failures": failures, **verdict}


def judged(result):
    """(outcome, reason)."""
    message = result.get("error", {}).get("message", "")
    if result.get("correct"):
        return "correct", ""
    if REFUSAL in message:
        return "refused", message.split(REFUSAL)[1].strip(" :")
    if "correct" in result:
        return "wrong", (result.get("failures") or [result.get("problem", "")])[-1]
    return "machine", message or result.get("problem", "no verdict")


def row(result):
    times = result.get("times", {})
    milliseconds = lambda name: f"{1e3 * times[name]['seconds']:9.4f}" if name in times else "        -"
    speedup = lambda name: f"{result['speedup'][name]:6.2f}" if name in result.get("speedup", {}) else "     -"
    outcome, reason = judged(result)
    return (f"{result['number']:4} {outcome:8} {milliseconds('candidate')} {milliseconds('eager')} {milliseconds('compile')}"
            f" {speedup('eager')} {speedup('compile')} {result.get('fraction_of_limit', 0):6.3f} {result['wall']:6.1f}s"
            f" {(reason or result['steps'])[:110]}")


def mean(results, baseline):
    factors = [r["speedup"][baseline] for r in results if r.get("correct") and r.get("speedup", {}).get(baseline, 0) > 0]
    return math.exp(sum(map(math.log, factors)) / len(factors)) if factors else float("nan")


def summary(results):
    counts = collections.Counter(judged(result)[0] for result in results)
    lines = [f"{len(results)} compositions: " + ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES),
             f"geometric mean of the correct: {mean(results, 'eager'):.2f} x eager, {mean(results, 'compile'):.2f} x torch.compile; "
             f"{sum(r.get('correct', False) and r.get('speedup', {}).get('compile', 0) > 1.05 for r in results)} more than 5 % faster "
             f"than torch.compile"]
    operators = collections.Counter(name for result in results if judged(result)[0] == "refused"
                                    for name in sorted(set(re.findall(r"\w+\.\w+\.\w+", judged(result)[1]))))
    shaky = [result["number"] for result in results if result.get("correct") and result.get("failures")]
    if shaky:
        lines.append(f"correct, but after candidates that were not: {', '.join(map(str, shaky))}")
    lines += [f"refused {count} times: {name}" for name, count in operators.most_common()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--results", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--scale", choices=sorted(compositions.ELEMENTS), default="small")
    parser.add_argument("--device", choices=("cpu", "cuda", "auto"), default="auto")
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=1, help="tasks at a time; they disturb each other's times on one device")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs that the jobs take in turns")
    parser.add_argument("--seconds", type=float, default=math.inf, help="no task is started after this")
    parser.add_argument("--timeout", type=float, default=240, help="seconds for one task")
    parser.add_argument("--only", default="", help="numbers of tasks, with commas")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for tasks and sessions; else they are removed")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    wanted = [int(n) for n in arguments.only.split(",")] if arguments.only else list(range(arguments.count))
    done = {}
    if arguments.results.exists():
        for line in arguments.results.read_text().splitlines():
            entry = json.loads(line)
            if (entry["seed"], entry["scale"]) == (arguments.seed, arguments.scale):
                done[entry["number"]] = entry
    work = queue.Queue()
    for number in wanted:
        if number not in done or judged(done[number])[0] == "machine":
            work.put(number)

    def serve(job, folder):
        environment = dict(os.environ)
        if arguments.gpus > 1:
            environment["CUDA_VISIBLE_DEVICES"] = str(job % arguments.gpus)
        while time.monotonic() < deadline:
            try:
                number = work.get_nowait()
            except queue.Empty:
                return
            task = folder / f"{number:03}.py"
            task.write_text(compositions.compose(arguments.seed, number, arguments.scale))
            steps = task.read_text().splitlines()[1].lstrip("# ")
            result = {"number": number, "seed": arguments.seed, "scale": arguments.scale, "steps": steps,
                      **optimize(arguments, task, folder / f"session-{number:03}", environment)}
            result["outcome"], result["reason"] = judged(result)
            done[number] = result
            print(row(result), flush=True)
            with arguments.results.open("a") as out:
                out.write(json.dumps(result) + "\n")

    with tempfile.TemporaryDirectory(prefix="compositions-") as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            list(pool.map(lambda job: serve(job, folder), range(arguments.jobs)))
    print("\n  id outcome  candidate     eager   compile  eager   comp  limit    wall  reason or steps   (milliseconds, speed-ups)")
    results = [done[n] for n in wanted if n in done]
    for result in results:
        print(row(result))
    print(summary(results))
    return 1 if any(judged(r)[0] in ("wrong", "machine") for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
