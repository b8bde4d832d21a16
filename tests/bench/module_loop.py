#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long an agent waits for verdicts on a workspace with host code, when it thinks between them: a session
of a scripted language model that edits the kernel of the skill's example each turn and has it judged, in full
strength and in training strength in turns. The first verdict is cold; medians are of the others.

usage: module_loop.py --program build/release/bin/cuda-agent [--device cpu|cuda] [--turns 9] [--thinking 5]
                      [--against OTHER/bin/cuda-agent]

--thinking: seconds between two verdicts. --against runs another build too and prints the ratios. Exit code 1
when a candidate was judged wrong.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = ROOT / "tests" / "core" / "endpoint" / "chat_server.py"
WORKSPACE = ROOT / "skills" / "module-candidates" / "candidates" / "residual_scale"
KERNEL = "kernels/residual_scale.cu"
STRENGTHS = ("full", "training")


def script(turns, thinking):
    """What the model says: files no compiler has seen, a verdict, a while of nothing."""
    def write(path, text=None):
        return ["Write", {"file_path": path, "content": text or (WORKSPACE / path).read_text()}]

    said = []
    for turn in range(turns):
        calls = [write("model_new.py"), write("kernels/residual_scale_binding.cpp")] if turn == 0 else []
        calls += [write(KERNEL, f"// {uuid.uuid4()}\n{(WORKSPACE / KERNEL).read_text()}"),
                  ["Verify", {"strength": STRENGTHS[turn % 2]}],
                  ["Bash", {"command": f"sleep {thinking}"}]]
        said.append({"text": f"Turn {turn + 1}.", "calls": calls})
    return said


def verdicts(program, arguments, turns, parent):
    """Those of one session, without the first."""
    folder = parent / uuid.uuid4().hex
    folder.mkdir()
    (folder / "script.json").write_text(json.dumps(script(turns, arguments.thinking)))
    with subprocess.Popen([sys.executable, "-B", SERVER, folder / "script.json"], stdout=subprocess.PIPE,
                          text=True) as server:
        try:
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            done = subprocess.run(
                [program.resolve(), "optimize", WORKSPACE / "task.py", "--device", arguments.device, "--policy",
                 "endpoint", "--base-url", url, "--model", "script", "--session", folder / "session", "--baselines",
                 parent / "baselines"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                env={**os.environ, "CUDA_AGENT_API_KEY": "none"})
        except OSError as error:
            raise SystemExit(f"cannot run {program}: {error.strerror}; build it, or name another with "
                             "--program") from error
        finally:
            server.kill()
    log = folder / "session" / "session.jsonl"
    events = [json.loads(line) for line in log.read_text().splitlines()[1:]] if log.exists() else []
    given = [event["data"]["verdict"] for event in events if event["type"] == "verdictGiven"]
    if len(given) < turns:
        raise SystemExit(f"{program}: exit {done.returncode}: {done.stderr[-1000:]}")
    return given[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--thinking", type=float, default=5)
    arguments = parser.parse_args()
    if arguments.turns < 3:
        parser.error("--turns: at least 3, one cold verdict and one of each strength")
    medians, wrong = {strength: [] for strength in STRENGTHS}, 0
    with tempfile.TemporaryDirectory() as folder:
        parent = pathlib.Path(folder)
        verdicts(arguments.program, arguments, 1, parent)  # whose baselines serve all
        for program in filter(None, (arguments.program, arguments.against)):
            given = verdicts(program, arguments, arguments.turns, parent)
            wrong += sum(not each["correct"] for each in given)
            for strength in STRENGTHS:
                own = [each for each in given if each["strength"] == strength]
                medians[strength].append(statistics.median(each["seconds"] for each in own))
                names = dict.fromkeys(name for each in own for name in each["phases"])
                phases = {name: statistics.median(each["phases"].get(name, 0) for each in own) for name in names}
                print(f"{strength:8} {medians[strength][-1]:5.2f} s  {program}\n         " +
                      ", ".join(f"{name} {seconds:.2f}" for name, seconds in phases.items()), flush=True)
    if arguments.against:
        for strength, (ours, theirs) in medians.items():
            print(f"{strength:8} ratio {ours / theirs:.2f}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
