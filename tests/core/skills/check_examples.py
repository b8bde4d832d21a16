# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs `cuda-agent check` on the CPU device for every worked example of the skills.

usage: check_examples.py --program build/release/bin/cuda-agent [--only NAME,...] [--jobs 2]

Each is a process of its own; all but those that need a GPU must be correct, and those must be
refused with the reason. A copy of one with a wrong sign must be found wrong, so that this test is
known to be able to fail.
"""
import argparse
import functools
import pathlib
import shutil
import sys
import tempfile

import examples


def broken_copy(folder):
    """scaled_bias_relu with the bias subtracted."""
    good = next(e for e in examples.find() if e.name == "scaled_bias_relu")
    copy = pathlib.Path(folder) / "scaled_bias_relu"
    shutil.copytree(good.folder, copy)
    kernel = copy / "kernels" / "bias_relu.cu"
    text = kernel.read_text()
    assert text.count("x[i] + bias") == 1
    kernel.write_text(text.replace("x[i] + bias", "x[i] - bias"))
    return examples.Example(good.skill, good.name, copy, copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    chosen = [e for e in examples.find() if not arguments.only or e.name in arguments.only.split(",")]
    if not chosen:
        print("no example of that name")
        return 1
    run = functools.partial(examples.check, arguments.program, device="cpu", strength="training",
                            timing=False)
    with tempfile.TemporaryDirectory() as folder:
        jobs = [functools.partial(run, e) for e in chosen]
        if not arguments.only:
            jobs.append(functools.partial(run, broken_copy(folder)))
        outcomes = examples.run_all(jobs, arguments.jobs)
    wrong = 0
    if not arguments.only:
        broken = outcomes.pop()
        if broken.code != 1 or broken.verdict.get("correct") is not False:
            print(f"a wrong kernel was not found wrong: exit {broken.code}\n{broken.said}")
            wrong = 1
    wrong += examples.report(outcomes, "cpu")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
