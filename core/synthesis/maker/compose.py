# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The typed composer: chains of operators whose shapes and element types fit.

Each candidate comes from its own seed. Operators are drawn by how often they follow each other in
real model code; what a result looks like is found by running the step on meta tensors, never by a
formula of ours. The batch is chosen last, so that the whole takes the wanted time by estimate.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from maker import cost, writer
from maker.spec import ANY, BOOLEAN, FLOATING, INDEX, Value, is_prime, within

FIRST, SECOND = 8, 16  # batches that the costs are taken at
MOST_TRIES = 25        # operators that are tried behind a value
SMALLEST_RESULT = 64   # elements of a result, or as many as the batch has: something to compare


class NoTask(Exception):
    """This seed gives no task; the text says why."""


class Grower:
    """Makes one chain for a batch. `catalogue`: lists of operators by family. The same draws give the
    same chain for every batch."""

    def __init__(self, catalogue, patterns, draw, settings, batch):
        self.batch = batch
        self.catalogue = catalogue
        self.patterns = patterns
        self.draw = draw
        self.settings = settings

    def chain(self, count, dtype, backward, first=None):
        operator = first or self.start_operator(dtype, backward)
        value = operator.starts(self.draw, self.batch, dtype)
        if not fits(value, dtype):
            raise NoTask(f"{operator.name} does not begin with {value.dtype}")
        layout = self.layout(value)
        links = []
        start = value
        if count > 1 and first is None and self.draw.chance(0.3):
            # What a value is made for need not come first.
            before = self.next_link(start, links, "start", dtype, backward)
            if before is not None:
                links.append(before)
        wanted = operator if not links else None
        while len(links) < count:
            value = links[-1].result if links else start
            previous = links[-1].operator.family if links else "start"
            link = self.link(wanted, value, links) if wanted else \
                self.next_link(value, links, previous, dtype, backward)
            if link is None:
                raise NoTask("nothing fits behind " + (links[-1].operator.name if links else
                                                       f"the first value of {operator.name}"))
            wanted = None
            links.append(link)
        return writer.Chain(start, layout, links, dtype, backward)

    def start_operator(self, dtype, backward):
        family = self.family("start")
        for _ in range(MOST_TRIES):
            operators = [each for each in self.catalogue.get(family, ())
                         if each.differentiable or not backward]
            if operators:
                return self.operator(operators)
            family = self.family("start")
        raise NoTask("no operator begins a task")

    def family(self, previous):
        weights = self.patterns.transition_weights(previous)
        return self.draw.weighted({name: weight for name, weight in weights.items()
                                   if name in self.catalogue})

    def operator(self, operators):
        """By how often it is met in real code, and every one now and then."""
        if self.draw.chance(self.settings["even"]):
            return self.draw.choice(operators)
        weights = [each.weight * self.patterns.operator_weight(each.name) for each in operators]
        return self.draw.random.choices(operators, weights)[0]

    def layout(self, value):
        if value.domain in (INDEX,) or not self.draw.chance(self.settings["irregular"]):
            return "contiguous"
        if value.rank in (4, 5):
            return "channels_last"
        return "transposed" if value.rank > 2 else "contiguous"

    def next_link(self, value, links, previous, dtype, backward):
        for _ in range(MOST_TRIES):
            operators = [each for each in self.catalogue[self.family(previous)]
                         if each.differentiable or not backward]
            if not operators:
                continue
            operator = self.operator(operators)
            if links and operator.kind == links[-1].operator.kind:
                continue
            link = self.link(operator, value, links)
            if link is None:
                continue
            if backward and link.result.dtype not in FLOATING:
                continue
            return link
        return None

    def link(self, operator, value, links):
        """The operator behind a value, or None where it does not fit."""
        step = operator.follow(self.draw, value)
        if step is None:
            return None
        number = len(links)
        link = writer.Link(operator, step)
        if step.module:
            taken = {each.module for each in links}
            link.module = unique(step.name or operator.kind.replace(" ", "_"), taken)
        taken = {"x", "grad", "self"} | {name for each in links for name in each.extras.values()}
        for extra in step.extras:
            earlier = self.earlier(extra, links, number)
            if earlier is not None:
                link.skips[extra.name] = earlier
                continue
            name = unique(extra.name, taken)
            taken.add(name)
            link.extras[extra.name] = name
        link.result = run(step, value, value.dtype)
        if link.result is None or \
                math.prod(link.result.shape) < min(SMALLEST_RESULT, self.batch):
            return None
        return link

    def earlier(self, extra, links, number):
        """An earlier value that can stand in for a further input: a skip connection."""
        if extra.layout != "contiguous" or extra.domain == INDEX:
            return None
        fitting = [at for at in range(number - 1)
                   if links[at].result.shape == extra.shape and
                   links[at].result.dtype == extra.dtype and
                   within(links[at].result.domain, extra.domain)]
        if fitting and self.draw.chance(self.settings["skips"]):
            return self.draw.choice(fitting)
        return None


def fits(value, dtype):
    return value.dtype == dtype or not value.floating


def unique(name, taken):
    if name not in taken:
        return name
    return next(f"{name}{i}" for i in range(2, 99) if f"{name}{i}" not in taken)


def run(step, value, dtype):
    """The value that a step makes of another, by running it on meta tensors."""
    try:
        with cost.on_meta():
            names = {"torch": torch, "nn": nn, "F": F, "math": math, "x": tensor_of(value)}
            texts = {}
            for extra in step.extras:
                names[f"extra_{extra.name}"] = tensor_of(extra)
                texts[extra.name] = f"extra_{extra.name}"
            if step.module:
                names["module"] = eval(step.module, names).eval()
                if dtype in FLOATING and dtype != "float32":
                    names["module"].to(getattr(torch, dtype))
            result = eval(step.expression.format(x="x", m="module", **texts), names)
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, AssertionError):
        return None
    if not isinstance(result, torch.Tensor) or result.is_complex():
        return None
    name = str(result.dtype).removeprefix("torch.")
    domain = step.domain
    if not result.is_floating_point():
        domain = BOOLEAN if result.dtype == torch.bool else INDEX
    return Value(tuple(result.shape), name, domain if result.numel() else ANY,
                 step.below if domain == INDEX else 0)


def tensor_of(value):
    return torch.empty(value.shape, dtype=getattr(torch, value.dtype))


def choose_batch(draw, estimate_at, target, memory):
    """The batch whose estimate comes nearest to `target` seconds within `memory` bytes. Costs are
    taken as linear in the batch. `estimate_at(batch)` is a cost.Cost. Raises NoTask."""
    one, two = estimate_at(FIRST), estimate_at(SECOND)
    slope = (two.seconds - one.seconds) / (SECOND - FIRST)
    if slope <= 0:
        raise NoTask("its time does not follow the batch")
    batch = FIRST + (target - one.seconds) / slope
    growth = (two.memory - one.memory) / (SECOND - FIRST)
    if growth > 0:
        batch = min(batch, FIRST + (memory - one.memory) / growth)
    if batch < 1:
        raise NoTask("too large at any batch")
    return rounded(draw, int(batch))


def rounded(draw, batch):
    """A batch near the given one: mostly a power of two or a multiple of one, else as it is."""
    kind = draw.weighted({"power": 4, "multiple": 3, "odd": 2, "prime": 1})
    if batch < 4:
        return max(1, batch)
    if kind == "power":
        return 1 << round(math.log2(batch))
    if kind == "multiple":
        unit = max(1, 1 << (int(math.log2(batch)) - 2))
        return max(1, round(batch / unit)) * unit
    if kind == "odd":
        return batch | 1
    while not is_prime(batch):
        batch -= 1
    return batch
