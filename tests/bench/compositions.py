#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes random PyTorch tasks in KernelBench form: compositions that no planner has seen.

usage: compositions.py FOLDER [--seed 1] [--count 40] [--scale small|large]

A task composes 2 to 5 steps, each chosen among those that the shape, the dtype and the range of
values so far allow, so every task runs, is finite and is not constant by construction. The same
seed gives the same files. `small` tasks take 0.5 to 20 ms on a CPU, `large` ones move tens to
hundreds of megabytes. `score_compositions.py` runs the planner on them.
"""
import argparse
import math
import pathlib
import random

from composition_steps import (casts, library, loss, normalisation, pointwise, reduction, reshaping, residual,
                               softmax, unknown, with_operand)
from composition_values import ELEMENTS, HALVES, Task

STEPS = {pointwise: 30, with_operand: 14, residual: 10, casts: 5, reduction: 20, softmax: 8,
         normalisation: 12, reshaping: 13, library: 3, unknown: 1.5}


def first_input(task):
    """Odd, prime and round sizes; sometimes half precision, sometimes not contiguous."""
    rng = task.rng
    low, high = ELEMENTS[task.scale]
    elements = math.exp(rng.uniform(math.log(low), math.log(high)))
    rank = rng.choices((1, 2, 3, 4, 5), (1, 5, 4, 3, 1))[0]
    extents = (2, 3, 4, 5, 7, 8) if task.scale == "tiny" else (2, 3, 4, 5, 7, 8, 12, 13, 16, 17, 31, 32, 48, 64)
    shape = [rng.choice(extents) for _ in range(rank)]
    grown = rng.randrange(rank)
    if rank == 2 and task.scale != "tiny" and rng.random() < 0.8:
        shape[1 - grown] = rng.choice((31, 64, 97, 128, 251, 256, 509, 512, 1000, 1021, 1024, 2048))
    rest = max(1, int(elements / math.prod(shape[:grown] + shape[grown + 1:])))
    if rank > 2 and rest > 512:  # two long dimensions rather than one very long
        second = rng.choice([d for d in range(rank) if d != grown])
        more = rng.choice((29, 32, 61, 64))
        shape[second], rest = shape[second] * more, max(2, rest // more)
    shape[grown] = max(2, rest // 64 * 64 if rng.random() < 0.5 and rest > 64 else rest | 1)
    names = {1: ["length"], 2: ["rows", "columns"], 3: ["batch", "steps", "features"],
             4: ["batch", "channels", "height", "width"], 5: ["batch", "channels", "depth", "height", "width"]}[rank]
    task.sizes.update(zip(names, shape))
    dtype = rng.choices(("float32", "float16", "bfloat16"), (8, 1, 1))[0]
    kind = rng.choice(("randn", "randn", "rand"))
    expression = None
    if rank >= 2 and rng.random() < 0.15:
        turned = (*shape[:-2], shape[-1], shape[-2])
        expression = rng.choice((f"torch.{kind}({task.text(turned)}).transpose(-1, -2)",
                                 f"torch.{kind}({task.text(shape[:-1])}, 2 * {task.size(shape[-1])})[..., ::2]"))
    x = task.input(shape, kind, dtype, expression)
    task.steps.append(f"{kind}{list(shape)} {dtype}{' strided' if expression else ''}")
    return x


def compose(seed, number, scale):
    """The text of one task."""
    rng = random.Random(f"{seed}/{number}/{scale}")
    while True:
        task = Task(rng, scale)
        x = first_input(task)
        task.values.append(x)
        done, length = 0, rng.randint(2, 5)
        for _ in range(40):
            if done == length:
                break
            step = rng.choices(list(STEPS), list(STEPS.values()))[0]
            if done == length - 1 and rng.random() < 0.2:
                step = loss
            lists = task.inputs, task.init, task.lines, task.steps
            before = [len(each) for each in lists]
            y = step(task, x)
            if y is None or y.dtype not in ("float32", *HALVES):
                for each, count in zip(lists, before):
                    del each[count:]
                continue
            x = y
            task.values.append(x)
            done += 1
        if done == length:
            return render(task, x, seed, number)


def render(task, x, seed, number):
    result = x.name
    others = [v.name for v in task.values[1:-1] if math.prod(v.shape) > 1]
    if others and task.rng.random() < 0.12:
        result = f"{x.name}, {task.rng.choice(others)}"
    init = "".join(f"        {line}\n" for line in task.init)
    constructor = f"    def __init__(self):\n        super().__init__()\n{init}\n" if init else ""
    sizes = "".join(f"{name} = {value}\n" for name, value in task.sizes.items())
    body = "".join(f"        {line}\n" for line in task.lines)
    return f"""# Composition {number} of seed {seed}:
# {", ".join(task.steps)}
import torch
import torch.nn.functional as F
from torch import nn

{sizes}

class Model(nn.Module):
{constructor}    def forward(self, {", ".join(name for name, _ in task.inputs)}):
{body}        return {result}


def get_inputs():
    return [{", ".join(draw for _, draw in task.inputs)}]


def get_init_inputs():
    return []
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--scale", choices=sorted(ELEMENTS), default="small")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for number in range(arguments.count):
        (arguments.folder / f"{number:03}.py").write_text(compose(arguments.seed, number, arguments.scale))


if __name__ == "__main__":
    main()
