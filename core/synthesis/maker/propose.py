# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate number i of a recipe: a function of recipe, seed and i."""

import hashlib
import math

import torch

from maker import compose, cost, expressions, views, writer
from maker.compose import NoTask
from maker.spec import BOOLEAN, FLOATING, INDEX, Draw

MOST_ATTEMPTS = 60
# Refused by PyTorch while a text of ours runs on meta tensors: another attempt is made.
REFUSALS = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, AssertionError,
            AttributeError, KeyError)


class Proposer:
    """`recipe`: {"seed", "device" "cpu"|"cuda", "seconds" [least, most], "memory_bytes",
    "sources" {name: weight}, "operators" {"1".."5": weight}, "dtypes" {name: weight},
    "backward", "irregular", "even", "skips" (probabilities), "small_batch"}."""

    def __init__(self, recipe, operators, patterns, models):
        self.recipe = recipe
        self.operators = operators
        self.patterns = patterns
        self.models = models
        self.catalogue = {}
        for operator in operators:
            self.catalogue.setdefault(operator.family, []).append(operator)

    def propose(self, index):
        """The candidate as README.md has it, without "rejected"; or {"index", "gave_up": why} after
        many attempts."""
        if not self.recipe["sources"]:
            return {"index": index, "gave_up": "the recipe has no source but the endpoint"}
        why = ""
        # Once for all attempts: what fails more often would else come up less often.
        source = Draw(f"{self.recipe['seed']}/{index}").weighted(self.recipe["sources"])
        for attempt in range(MOST_ATTEMPTS):
            seed = f"{self.recipe['seed']}/{index}/{attempt}"
            try:
                candidate = self.attempt(seed, source)
            except (NoTask, writer.BatchUnclear, *REFUSALS) as error:
                why = f"{type(error).__name__}: {str(error)[:200]}"
                continue
            identity = hashlib.sha256(candidate["code"].encode()).hexdigest()[:16]
            return {"index": index, "id": identity, "attempts": attempt + 1} | candidate
        return {"index": index, "gave_up": why}

    def attempt(self, seed, source):
        draw = Draw(seed)
        # Few are slow: a set of a given size then costs the fewest seconds.
        least, most = self.recipe["seconds"]
        lowest, highest = least * 1.5, most / 2
        part = draw.random.random()
        target = 1 / (1 / lowest - part * (1 / lowest - 1 / highest))
        if source == "transformers":
            return self.block(seed, target)
        if source == "expressions":
            return self.expression(seed, target)
        if source == "views":
            return self.view(seed, target)
        return self.composed(seed, source, target)

    def composed(self, seed, source, target):
        def grow(batch):
            draw = Draw(seed + "/chain")
            dtype = draw.weighted(self.recipe["dtypes"])
            count = 1 if source == "torch" else int(draw.weighted(self.recipe["operators"]))
            backward = draw.chance(self.recipe["backward"])
            grower = compose.Grower(self.catalogue, self.patterns, draw, self.recipe, batch)
            # Every operator is met alone as often as any other.
            first = draw.choice(self.operators) if source == "torch" else None
            if backward and first is not None and not first.differentiable:
                backward = False
            chain = grower.chain(count, dtype, backward, first)
            return chain, writer.write(chain)

        chain, _ = grow(compose.FIRST)
        if not any(value.dtype in FLOATING for value in (chain.start, chain.links[-1].result)):
            raise NoTask("no floating point in it")
        if chain.backward and (chain.start.domain in (BOOLEAN, INDEX) or
                               chain.links[-1].result.dtype not in FLOATING):
            raise NoTask("nothing to differentiate")
        batch = self.batch_for(seed, lambda size: grow(size)[1], target, chain.dtype)
        chain, text = grow(batch)
        code = writer.name_batch(text, batch, grow(2 * batch)[1], 2 * batch)
        return self.candidate(
            code, source=source, ops=[link.operator.name for link in chain.links],
            kinds=[link.operator.kind for link in chain.links],
            families=[link.operator.family for link in chain.links], dtype=chain.dtype,
            backward=chain.backward)

    def expression(self, seed, target):
        def write(batch):
            draw = Draw(seed + "/expression")
            dtype = draw.weighted(self.recipe["dtypes"])
            backward = draw.chance(self.recipe["backward"])
            return expressions.write(draw, batch, dtype, backward), dtype, backward

        return self.written("expressions", write, seed, target)

    def view(self, seed, target):
        def write(batch):
            draw = Draw(seed + "/view")
            dtype = draw.weighted(self.recipe["dtypes"])
            return views.write(draw, batch, dtype, self.recipe["irregular"]), dtype, False

        return self.written("views", write, seed, target)

    def written(self, source, write, seed, target):
        """The candidate of `write(batch)`, which gives a task of ours, its dtype, and whether it has
        a backward pass."""
        _, dtype, backward = write(compose.FIRST)
        batch = self.batch_for(seed, lambda size: write(size)[0].code, target, dtype)
        task = write(batch)[0]
        code = writer.name_batch(task.code, batch, write(2 * batch)[0].code, 2 * batch)
        return self.candidate(code, source=source, ops=task.ops, kinds=task.kinds,
                              families=task.families, dtype=dtype, backward=backward)

    def block(self, seed, target):
        families = self.models.families()
        entry = Draw(seed + "/which").choice(families)

        def write(batch):
            return entry.write(Draw(seed + "/block"), batch, host=self.recipe["device"] == "cpu")

        batch = self.batch_for(seed, lambda size: write(size).code, target, "float32")
        task = write(batch)
        return self.candidate(task.code, source="transformers", ops=list(task.ops),
                              kinds=[entry.kind], families=["transformers " + entry.family],
                              dtype=task.dtype, backward=False, small=task.small)

    def batch_for(self, seed, text_at, target, dtype):
        """The batch for which the task, `text_at(batch)`, takes about `target` seconds."""
        return compose.choose_batch(
            Draw(seed + "/batch"),
            lambda size: cost.estimate(text_at(size), self.recipe["device"])[0], target,
            self.recipe["memory_bytes"] / self.margin(dtype))

    def margin(self, dtype):
        """What a check holds at a time, in multiples of what a call does."""
        return 4 if dtype == "float32" else 5

    def candidate(self, code, **fields):
        estimate, outputs = cost.estimate(code, self.recipe["device"])
        least, most = self.recipe["seconds"]
        if not least <= estimate.seconds <= most:
            raise NoTask(f"estimated at {estimate.seconds:.2e} s")
        if estimate.memory > self.recipe["memory_bytes"]:
            raise NoTask("too large")
        if not finite_sizes(outputs):
            raise NoTask("no tensors come out")
        small = {writer.BATCH: str(Draw(code).integer(2, 4))} \
            if f"\n{writer.BATCH} = " in code else {}
        return {"small": small} | fields | {"code": code, "estimated_seconds": estimate.seconds,
                                            "estimated_bytes": estimate.memory}


def finite_sizes(outputs):
    if isinstance(outputs, torch.Tensor):
        outputs = [outputs]
    return isinstance(outputs, (tuple, list)) and len(outputs) > 0 and all(
        isinstance(value, torch.Tensor) and math.prod(value.shape) > 0 for value in outputs)
