#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs `cuda-agent check --device cuda` on every worked example of the skills and prints a table.

usage: check_skills.py --program build/release/bin/cuda-agent [--skills skills] [--small]
                       [--only NAME,...] [--strength full] [--jobs 1] [--results results.json]

Tasks are sized for a CPU; here they get sizes that fill a large GPU, unless --small is given.
Exit code 1 when an example is not correct. Several jobs share the GPU's lease, so they overlap in
what does not need it only.
"""
import argparse
import functools
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "core" / "skills"))
import examples  # noqa: E402

# NAME=VALUE overrides of each task's constants: about 0.5 GB moved, or 0.3 to 1 ms of products.
LARGE = {
    "bias_gelu": ["rows=32768", "features=2048"],
    "column_sum": ["rows=65536", "columns=2048"],
    "conv_bn_relu": ["batch=64", "channels=64", "filters=128", "size=56"],
    "depthwise3x3": ["batch=32", "channels=256", "height=96", "width=96"],
    "half_linear_relu": ["rows=8192", "inner=1024", "features=4096"],
    "layer_norm_warp": ["rows=65536", "features=1024"],
    "linear_gelu": ["rows=8192", "inner=512", "features=4096"],
    "mse_mean": ["rows=65536", "columns=1024"],
    "residual_scale": ["rows=65536", "features=768"],
    "row_peak": ["rows=65536", "columns=1024"],
    "row_variance": ["rows=65536", "columns=1024"],
    "scaled_bias_relu": ["rows=65536", "features=1000"],
    "softmax_rows": ["rows=16384", "columns=4096"],
    "transpose_scale": ["batch=16", "rows=2048", "columns=2048"],
    "wmma_matmul": ["rows=2048", "inner=512", "columns=2048"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--skills", type=pathlib.Path, default=examples.ROOT / "skills")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--strength", choices=("full", "training"), default="full")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=pathlib.Path)
    arguments = parser.parse_args()
    chosen = [e for e in examples.find(arguments.skills)
              if not arguments.only or e.folder.name in arguments.only.split(",")]
    if not chosen:
        print(f"no example in {arguments.skills}")
        return 1
    jobs = [functools.partial(examples.check, arguments.program, e, "cuda", arguments.strength,
                              () if arguments.small else LARGE[e.folder.name]) for e in chosen]
    # The first alone: it measures the card's ceilings, which the others then find.
    outcomes = [jobs[0](), *examples.run_all(jobs[1:], arguments.jobs)]
    if arguments.results:
        arguments.results.write_text(json.dumps(
            {o.example.name: o.verdict or {"said": o.said} for o in outcomes}, indent=1))
    return 1 if examples.report(outcomes, "cuda") else 0


if __name__ == "__main__":
    sys.exit(main())
