#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the filter of a synthesis costs: candidates of a recipe are proposed once and taken through check, time
and compile by one filter process and by as many as there are cores.

usage: synthesis_bench.py --program build/release/bin/cuda-agent [--recipe training/recipes/tasks-cpu.toml]
                          [--candidates 48] [--processes 1 16] [--stages check time compile]
                          [--keep FOLDER] [--against OTHER/bin/cuda-agent]

Beside each rate stands what a plain program does: a Python with PyTorch that imports it once and then, for each
candidate, builds the model, draws its inputs and calls it a single time. The candidates are our own composer's, so that
program runs without a sandbox. --against filters the same candidates with another build in turns and prints the
ratio. --keep holds the proposals, so that another call filters the same ones; any folder of --propose-only will do.
Exit code 1 when a filter did not go through.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAGES = ("check", "time", "compile")


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def bare(folder, device):
    """Run by the Python that has PyTorch: seconds of its import, and of each candidate, as JSON."""
    start = time.perf_counter()
    import torch
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    torch.ones(1, device=device)
    found, importing = [], time.perf_counter() - start
    for candidate in lines(pathlib.Path(folder) / "candidates.jsonl"):
        if candidate["rejected"]:
            continue
        start = time.perf_counter()
        random.seed(1), torch.manual_seed(1)
        task = {"__name__": "task"}
        try:
            exec(compile(candidate["code"], "task.py", "exec"), task)
            with torch.device(device):
                model = task["Model"](*task["get_init_inputs"]()).eval().requires_grad_(False)
                inputs = task["get_inputs"]()
            model(*inputs)
            if device == "cuda":
                torch.cuda.synchronize()
        except Exception as error:  # those are the filter's to find
            print(f"candidate {candidate['index']}: {error}", file=sys.stderr)
        found.append(time.perf_counter() - start)
    print(json.dumps({"import": importing, "seconds": found}))


class Filtered:
    """One run of the filter over the proposals."""

    def __init__(self, arguments, program, proposals, processes):
        self.processes = processes
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="synthesis-bench-"))
        try:
            shutil.copytree(proposals, self.folder / "set")
            self.wanted = sum(not each["rejected"] for each in lines(proposals / "candidates.jsonl"))
            self._run(arguments, program)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, arguments, program):
        """The set is never full, so it ends where the next candidates would be proposed, or where the stages
        that are wanted are over."""
        progress, self.seen, log = self.folder / "set" / "progress.json", {}, self.folder / "log"
        with log.open("w") as output:
            process = subprocess.Popen(
                [program, "synthesize", arguments.recipe, "--out", self.folder / "set", "--tasks", str(10**6),
                 "--per-device", str(self.processes)], stdout=output, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL)
            begun = False
            while process.poll() is None:
                time.sleep(0.2)
                try:
                    now = json.loads(progress.read_text())
                except (OSError, ValueError):
                    continue
                begun = begun or now["stage"] in STAGES
                if begun:
                    self.seen = now
                if begun and now["stage"] not in arguments.stages:
                    process.send_signal(signal.SIGINT)
                    process.wait(60)
        self.outcomes = lines(self.folder / "set" / "checked.jsonl")
        if self.rate("check") == 0:
            raise SystemExit(f"{program}: nothing was filtered: {log.read_text()[-500:]}")

    def rate(self, stage):
        return self.seen.get("rates", {}).get(stage, 0.0)

    def of(self, stage):
        return [line for line in self.outcomes if line["stage"] == stage]

    def line(self, stage, plain):
        those = [line["took_seconds"] for line in self.of(stage)]
        if not those:
            return f"{stage:8} nobody came that far"
        each = statistics.mean(those)
        return (f"{stage:8} {self.rate(stage):7.2f} a second with {self.processes} processes; a process takes "
                f"{each:.3f} s each, median {statistics.median(those):.3f}, most {max(those):.2f}; "
                f"{each / plain:.1f} times a plain call")

    def parts(self):
        told = [line.get("parts", {}) for line in self.of("check")]
        names = list(dict.fromkeys(name for parts in told for name in parts))
        text = ", ".join(f"{name} {statistics.mean(parts.get(name, 0) for parts in told):.3f}" for name in names)
        compiled = [line["compile_seconds"] for line in self.of("compile") if "compile_seconds" in line]
        return text + (f"; torch.compile {statistics.mean(compiled):.2f}, median "
                       f"{statistics.median(compiled):.2f}" if compiled else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--recipe", type=pathlib.Path, default=ROOT / "training" / "recipes" / "tasks-cpu.toml")
    parser.add_argument("--candidates", type=int, default=48)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, len(os.sched_getaffinity(0))])
    parser.add_argument("--stages", choices=STAGES, nargs="+", default=STAGES)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--python", default=os.environ.get("CUDA_AGENT_PYTHON", ROOT / ".venv/bin/python"))
    arguments = parser.parse_args()
    held = tempfile.TemporaryDirectory(prefix="synthesis-bench-")
    proposals = arguments.keep or pathlib.Path(held.name) / "proposals"
    if not (proposals / "candidates.jsonl").exists():
        done = subprocess.run([arguments.program, "synthesize", arguments.recipe, "--out", proposals, "--tasks",
                               str(arguments.candidates), "--propose-only"], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{arguments.program}: {done.stderr[-500:]}")
    device = json.loads((proposals / "synthesis.json").read_text())["recipe"]["device"]
    done = subprocess.run([arguments.python, "-B", __file__, "--bare", proposals, device], capture_output=True,
                          text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise SystemExit(f"the plain program: {done.stderr[-500:]}")
    plain = json.loads(done.stdout)
    each = statistics.mean(plain["seconds"])
    print(f"plain    {1 / each:7.2f} a second by one process; {each:.3f} s each, median "
          f"{statistics.median(plain['seconds']):.3f}; {plain['import']:.2f} s until it can begin", flush=True)
    wrong = False
    for processes in dict.fromkeys(arguments.processes):
        runs = []
        for program in filter(None, (arguments.program, arguments.against)):
            runs.append(Filtered(arguments, program, proposals, processes))
            if arguments.against:
                print(program)
            for stage in arguments.stages:
                print(runs[-1].line(stage, each))
            print(f"         seconds of a check: {runs[-1].parts()}", flush=True)
            wrong = wrong or len(runs[-1].of("check")) != runs[-1].wanted
        if len(runs) == 2:
            print("ratio    " + ", ".join(f"{stage} {runs[0].rate(stage) / (runs[1].rate(stage) or 1):.2f}"
                                          for stage in arguments.stages))
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--bare"]:
        bare(*sys.argv[2:4])
    else:
        sys.exit(main())
