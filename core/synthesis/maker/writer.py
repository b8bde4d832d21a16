# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a chain of operators as a task in KernelBench form."""

import re
from dataclasses import dataclass, field

from maker.spec import (ANY, BOOLEAN, INDEX, NON_NEGATIVE, POSITIVE, PROBABILITY, UNIT, Extra,
                        Operator, Step, Value)

NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
BATCH = "batch_size"


@dataclass
class Link:
    """One operator of a chain, behind the result of the one before."""

    operator: Operator
    step: Step
    module: str = ""                           # attribute on self
    extras: dict = field(default_factory=dict)  # the step's name of an extra: name in forward()
    skips: dict = field(default_factory=dict)   # the step's name of an extra: number of the link
    result: Value = None


@dataclass
class Chain:
    start: Value
    layout: str  # of the first input
    links: list
    dtype: str
    backward: bool = False


def maker_of(extra):
    """Python that draws a tensor."""
    shape = list(extra.shape)
    swap = extra.layout == "transposed" and len(shape) > 1
    if swap:
        shape[-1], shape[-2] = shape[-2], shape[-1]
    sizes = ", ".join(str(size) for size in shape) if shape else "()"
    dtype = "" if extra.dtype in ("float32", "int64", "bool") else f", dtype=torch.{extra.dtype}"
    text = {
        ANY: f"torch.randn({sizes}{dtype})",
        POSITIVE: f"torch.rand({sizes}{dtype}) + 0.1",
        NON_NEGATIVE: f"torch.rand({sizes}{dtype})",
        UNIT: f"torch.rand({sizes}{dtype}) * 0.9 + 0.05",
        PROBABILITY: f"torch.softmax(torch.randn({sizes}{dtype}), dim=-1)",
        BOOLEAN: f"torch.rand({sizes}) > 0.5",
        INDEX: f"torch.randint(0, {extra.below}, ({sizes}{',' if len(shape) == 1 else ''}))",
    }[extra.domain]
    if not swap and extra.layout != "channels_last":
        return text
    if " " in text.split("(")[0] or text.endswith(("0.1", "0.05", "0.5")):
        text = f"({text})"
    if swap:
        return text + ".transpose(-1, -2)"
    kind = {4: "channels_last", 5: "channels_last_3d"}.get(len(shape))
    return f"{text}.to(memory_format=torch.{kind})" if kind else text


def write(chain):
    """The task's text, its sizes as numbers."""
    inputs = [("x", Extra("x", chain.start.shape, chain.start.dtype, chain.start.domain,
                          chain.layout, chain.start.below))]
    for link in chain.links:
        for extra in link.step.extras:
            if extra.name in link.extras:
                inputs.append((link.extras[extra.name], extra))
    modules = [(link.module, link.step.module) for link in chain.links if link.step.module]
    kept = {number for link in chain.links for number in link.skips.values()}
    body = []
    for number, link in enumerate(chain.links):
        if number - 1 in kept:  # what the link before has left is wanted later
            body.append(f"{skip_name(number - 1)} = x")
        names = dict(link.extras) | {name: skip_name(at) for name, at in link.skips.items()}
        body.append("x = " + link.step.expression.format(x="x", m=f"self.{link.module}", **names))
    if not chain.backward:
        return module(inputs, modules, body, "x", chain.dtype)
    result = chain.links[-1].result
    leaves = ["x0"] + [name for name, extra in inputs[1:]
                       if extra.domain not in (BOOLEAN, INDEX)]
    return module(inputs, modules, ["x0 = x", *body], "x", chain.dtype,
                  Extra("grad", result.shape, result.dtype), leaves)


def module(inputs, held, body, result, dtype, grad=None, leaves=()):
    """The text of a module. `inputs`: pairs of a name and an Extra, `held`: of an attribute and what
    makes it, `body`: lines of forward(), `result`: the name of what they compute. With `grad`, an
    Extra of the result's shape, forward() takes that first and gives the result and the gradients of
    `leaves`."""
    names = [name for name, _ in inputs]
    if grad:
        # The gradient that comes in has the result's shape.
        inputs = [("grad", grad), *inputs]
        wanted = [name for name, extra in inputs[1:] if extra.domain not in (BOOLEAN, INDEX)]
        body = [*(f"{name} = {name}.detach().requires_grad_()" for name in wanted), *body]
        leaves = ", ".join(leaves)
        if held:  # a model that is only run is loaded without derivatives
            body.insert(0, "self.requires_grad_()")
            leaves += ", *self.parameters()"
        # The result, too: the gradients of what is linear do not depend on its inputs.
        body = ["with torch.enable_grad():", *("    " + line for line in body),
                f"    return [{result}.detach(), *torch.autograd.grad({result}, [{leaves}], grad)]"]
        names = ["grad", *names]
    else:
        body = [*body, f"return {result}"]
    lines = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F", "", "",
             "class Model(nn.Module):"]
    if held:
        lines += ["    def __init__(self):", "        super().__init__()"]
        lines += [f"        self.{name} = {text}" for name, text in held]
        if dtype != "float32":
            lines.append(f"        self.to(torch.{dtype})")
        lines.append("")
    lines.append(f"    def forward(self, {', '.join(names)}):")
    lines += ["        " + line for line in body]
    made = [maker_of(extra) for _, extra in inputs]
    lines += ["", "", "def get_inputs():"]
    if len(made) <= 2:  # no matter how many digits the batch has
        lines.append(f"    return [{', '.join(made)}]")
    else:
        lines += ["    return [", *(f"        {text}," for text in made), "    ]"]
    lines += ["", "", "def get_init_inputs():", "    return []", ""]
    return tidy("\n".join(lines))


@dataclass
class Task:
    """`code` with its sizes as numbers; the rest as candidates have it."""

    code: str
    shape: tuple  # of the result
    ops: list
    kinds: list
    families: list


def written(code, shape, used):
    """The task of a module that is no chain. `used`: (name, kind, family) of each operator."""
    return Task(code, shape, *(list(column) for column in zip(*used)))


def skip_name(number):
    return "skip" if number < 0 else f"skip{number}"


def tidy(text):
    """Imports only what is used."""
    for alias, line in (("F.", "import torch.nn.functional as F\n"),):
        if alias not in text.replace(line, ""):
            text = text.replace(line, "")
    return text


class BatchUnclear(Exception):
    """The texts for two batches differ in more than numbers that follow the batch."""


def name_batch(one, first, other, second):
    """`one`, a text for the batch `first`, with its numbers that follow the batch written by a
    constant of the module, as `other`, the text for the batch `second`, shows them. Raises
    BatchUnclear."""
    ours, theirs = list(NUMBER.finditer(one)), list(NUMBER.finditer(other))
    if NUMBER.sub("0", one) != NUMBER.sub("0", other):
        raise BatchUnclear("the texts differ in more than numbers")
    parts, at = [], 0
    for mine, its in zip(ours, theirs):
        parts.append(one[at:mine.start()])
        at = mine.end()
        a, b = int(mine.group()), int(its.group())
        parts.append(mine.group() if a == b else follow(a, b, first, second))
    text = "".join([*parts, one[at:]])
    head, model = text.split("\n\n\nclass Model", 1)
    return f"{head}\n\n{BATCH} = {first}\n\n\nclass Model{model}"


def follow(a, b, first, second):
    """An expression of the batch that is `a` for `first` and `b` for `second`."""
    step, rest = divmod(b - a, second - first)
    offset = a - step * first
    if rest == 0 and step > 0:
        text = BATCH if step == 1 else f"{step} * {BATCH}"
        return text if offset == 0 else f"{text} {'+' if offset > 0 else '-'} {abs(offset)}"
    for divisor in range(2, 65):
        if first // divisor == a and second // divisor == b:
            return f"{BATCH} // {divisor}"
    raise BatchUnclear(f"{a} and {b} for batches of {first} and {second}")
