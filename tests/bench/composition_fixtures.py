#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records tiny compositions as fixtures of the planner's test, which really runs the schedules for
both devices on the CPU, without a judge and in seconds:

    .venv/bin/python tests/bench/composition_fixtures.py FOLDER [--seed 1] [--count 40 | --task FILE]
    CUDA_AGENT_PLANNER_FIXTURES=FOLDER build/release/tests/test_policy

What the planner refuses fails there too, with the operators' names; so does each wrong candidate.
The tolerance is 20 times the error of PyTorch itself. bfloat16 borders are left out: the test has
no numbers of that type.
"""
import argparse
import json
import math
import pathlib
import sys
import warnings

import torch

import compositions

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "core" / "reference"))
from worker.graph import Describer  # noqa: E402
from worker.loader import Task  # noqa: E402
from worker.oracle import double_model, run_in_double  # noqa: E402
from worker.source import Source  # noqa: E402


def numbers(tensor):
    """The elements in the order of memory."""
    flat = torch.as_strided(tensor, (tensor.numel(),), (1,), tensor.storage_offset())
    short = lambda x: float(f"{x:.9g}") if math.isfinite(x) else str(x)
    return [short(x) if isinstance(x, float) else x for x in flat.tolist()]


def record(file):
    """The fixture of one task, or None where the test cannot hold its types."""
    task = Task(Source(str(file), {}), torch.device("cpu"))
    describer = Describer(task)
    description = describer.describe()
    ports = description["inputs"] + description["outputs"] + description["parameters"]
    if description["graph"] is None or any(port["dtype"] == "bfloat16" for port in ports):
        return None
    arguments = task.draw(3)
    same, _ = task.forward(task.model, arguments)
    doubles = [a.double() if a.is_floating_point() else a for a in arguments]
    oracle, _ = run_in_double(task, double_model(task), doubles)
    error = 0.0
    for ours, exact in zip(same, oracle):
        largest = exact.double().abs().max().item()
        error = max(error, (ours.double() - exact.double()).abs().max().item() / max(largest, 1e-30))
    return {"description": description, "inputs": [numbers(a) for a in arguments],
            "parameters": {name: numbers(tensor) for name, tensor in describer.parameters},
            "outputs": [numbers(t.double().contiguous()) for t in oracle], "tolerance": 20 * error + 1e-5}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--task", type=pathlib.Path, action="append", help="record this task instead; may be repeated")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of torch about itself
    arguments.folder.mkdir(parents=True, exist_ok=True)
    files = arguments.task or []
    for number in range(0 if files else arguments.count):
        files.append(arguments.folder / f"composition_{arguments.seed}_{number:03}.py")
        files[-1].write_text(compositions.compose(arguments.seed, number, "tiny"))
    for file in files:
        fixture = record(file)
        if fixture:
            (arguments.folder / f"{file.stem}.json").write_text(json.dumps(fixture) + "\n")


if __name__ == "__main__":
    main()
