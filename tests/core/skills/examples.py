# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The worked examples of the skills: found, run one process each, told as a table.

An example is a candidate beside a task.py in a folder skills/<skill>/candidates/<name>: a plan
(plan.json), a module (model_new.py), or a single file (single_*.py).
"""
import concurrent.futures
import dataclasses
import json
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]

# What a CPU device has no way to run; its compiler has to say so.
GPU_ONLY = {"wmma_matmul": (1, "tensor-core instructions"),
            "residual_scale/single_inline.py": (2, "needs a GPU"),
            "residual_scale/single_triton.py": (2, "needs a GPU")}


@dataclasses.dataclass
class Example:
    skill: str
    name: str
    folder: pathlib.Path
    candidate: pathlib.Path

    @property
    def task(self):
        return self.folder / "task.py"

    @property
    def rules(self):
        return "kernelbench" if self.candidate.suffix == ".py" else "published"


def find(skills=ROOT / "skills"):
    """All examples, in order."""
    found = []
    for path in sorted(pathlib.Path(skills).glob("*/candidates/*/*")):
        folder = path.parent
        if path.name in ("plan.json", "model_new.py"):
            found.append(Example(folder.parents[1].name, folder.name, folder, folder))
        elif path.match("single_*.py"):
            found.append(Example(folder.parents[1].name, f"{folder.name}/{path.name}", folder,
                                 path))
    return found


@dataclasses.dataclass
class Outcome:
    example: Example
    code: int
    seconds: float
    verdict: dict
    said: str

    def problem(self, device):
        """Why this is not what it should be, or None."""
        refused = GPU_ONLY.get(self.example.name) if device == "cpu" else None
        if refused:
            code, words = refused
            told = self.code == code and words in self.said
            return None if told else f"exit {self.code}, expected to be refused: {words}"
        if self.code == 0 and self.verdict.get("correct") is True:
            return None
        return self.verdict.get("problem") or self.said.strip()[-300:] or f"exit {self.code}"


def check(program, example, device, strength, settings=(), timeout=300, environment=None, timing=True):
    command = [str(program), "check", str(example.task), str(example.candidate),
               "--device", device, "--strength", strength, "--rules", example.rules, "--json"]
    for setting in settings:
        command += ["--set", setting]
    if not timing:
        command.append("--no-timing")
    start = time.monotonic()
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                             stdin=subprocess.DEVNULL, env=environment)
        code, out, said = run.returncode, run.stdout, run.stdout + run.stderr
    except subprocess.TimeoutExpired:
        code, out, said = -1, "", f"took longer than {timeout} s"
    try:
        verdict = json.loads(out)
    except json.JSONDecodeError:
        verdict = {}
    return Outcome(example, code, time.monotonic() - start, verdict, said)


def run_all(jobs, width):
    """Runs the functions `jobs` at most `width` at a time; outcomes in order."""
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        return list(pool.map(lambda job: job(), jobs))


def row(outcome, device):
    times = outcome.verdict.get("times", {})

    def microseconds(name):
        return f"{1e6 * times[name]['seconds']:10.1f}" if name in times else "         -"

    speedup = outcome.verdict.get("speedup", {}).get("compile")
    limit = outcome.verdict.get("fraction_of_limit")
    problem = outcome.problem(device)
    if problem:
        result = problem
    elif outcome.code == 0:
        result = ", ".join(outcome.verdict.get("flags", [])) or "ok"
    else:
        result = "refused, as it should"
    return (f"{outcome.example.skill:30} {outcome.example.name:32}"
            f" {microseconds('candidate')} {microseconds('eager')} {microseconds('compile')}"
            f" {'     -' if speedup is None else f'{speedup:6.2f}'}"
            f" {'     -' if limit is None else f'{100 * limit:5.0f}%'} {outcome.seconds:6.1f} {result}")


HEAD = (f"{'skill':30} {'example':32}  candidate us   eager us compile us  times  limit"
        "      s result")


def report(outcomes, device):
    """Prints the table; the number of examples that are not as they should be."""
    print(HEAD)
    for outcome in outcomes:
        print(row(outcome, device))
    wrong = sum(outcome.problem(device) is not None for outcome in outcomes)
    print(f"{len(outcomes)} examples, {wrong} not as they should be")
    return wrong
