# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogue of operators, run for real on the CPU with one or two batch elements, and the names
that a recorder gives them."""

import math
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "core/synthesis"), str(ROOT / "core/reference")]

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from maker.operators.catalogue import all_operators
from maker.record import Recorder
from maker.spec import (ANY, BOOLEAN, FAMILIES, FLOATING, INDEX, NON_NEGATIVE, POSITIVE,
                        PROBABILITY, UNIT, Draw, Value, within)

torch.set_num_threads(1)
SEEDS = 6
MOST_ELEMENTS = 2_000_000
MOST_OPERATIONS = 3e8
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def tensor(value, device, generator=None):
    """A tensor as the composer would write it."""
    dtype = getattr(torch, value.dtype)
    if device == "meta":
        return torch.empty(value.shape, dtype=dtype, device="meta")
    shape = list(value.shape)
    swap = getattr(value, "layout", "") == "transposed"
    if swap:
        shape[-1], shape[-2] = shape[-2], shape[-1]
    with torch.device(device):
        made = drawn(value, shape, generator).to(dtype)
    return made.transpose(-1, -2) if swap else made


def drawn(value, shape, generator):
    uniform = torch.rand(shape, generator=generator)
    return {
        ANY: lambda: torch.randn(shape, generator=generator),
        POSITIVE: lambda: uniform + 0.1,
        NON_NEGATIVE: lambda: uniform,
        UNIT: lambda: uniform * 0.9 + 0.05,
        PROBABILITY: lambda: torch.softmax(uniform, -1),
        BOOLEAN: lambda: uniform > 0.5,
        INDEX: lambda: torch.randint(0, value.below, shape, generator=generator),
    }[value.domain]()


class Run:
    """A step behind a value, on one device."""

    def __init__(self, step, value, device, dtype):
        generator = None if device == "meta" else torch.Generator(device).manual_seed(1)
        self.names = {"torch": torch, "nn": nn, "F": F, "math": math, "x": tensor(value, device,
                                                                                 generator)}
        for extra in step.extras:
            self.names["extra_" + extra.name] = tensor(extra, device, generator)
        self.module = None
        if step.module:
            with torch.device(device):
                torch.manual_seed(1)
                self.module = eval(step.module, self.names)
            if dtype in FLOATING:
                self.module.to(getattr(torch, dtype))
            self.names["module"] = self.module
        self.text = step.expression.format(
            x="x", m="module", **{extra.name: "extra_" + extra.name for extra in step.extras})

    def elements(self):
        parameters = self.module.parameters() if self.module else ()
        return sum(each.numel() for each in [*self.names.values(), *parameters]
                   if isinstance(each, torch.Tensor))

    def __call__(self):
        with torch.no_grad():
            return eval(self.text, dict(self.names))


def started(operator, seed, batch, dtype="float32"):
    """A value that the operator begins a task with, and its step, or None."""
    draw = Draw(f"{operator.name}/{seed}")
    value = operator.starts(draw, batch, dtype)
    return value, operator.follow(draw, value)


def dtype_of(operator, value):
    return value.dtype if value.dtype in FLOATING else "float32"


class Catalogue(unittest.TestCase):
    def test_there_are_many_and_names_are_unique(self):
        operators = all_operators()
        names = [operator.name for operator in operators]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 400)
        self.assertGreaterEqual(len({operator.kind for operator in operators}), 250)
        self.assertEqual({operator.family for operator in operators}, set(FAMILIES))
        self.assertEqual(names, [operator.name for operator in all_operators()])

    def test_each_runs(self):
        """Shapes of every seed on meta, values and the recorded name of the smallest on the CPU."""
        skipped = []
        for operator in all_operators():
            with self.subTest(operator.name):
                drawn = [started(operator, seed, 2) for seed in range(SEEDS)]
                steps = [(value, step) for value, step in drawn if step is not None]
                self.assertGreaterEqual(len(steps), SEEDS // 2, "does not follow its own start")
                sizes = []
                for number, (value, step) in enumerate(steps):
                    run = Run(step, value, "meta", dtype_of(operator, value))
                    with FlopCounterMode(display=False) as counter:
                        result = run()
                    self.check_result(result, step)
                    if operator.differentiable:
                        self.derivative(run)
                    self.assertLessEqual(math.prod(value.shape[1:]), 4.2e6)
                    self.assertLessEqual(result.numel() / 2, 4.2e7, step)
                    sizes.append((run.elements() + result.numel(), counter.get_total_flops(),
                                  number))
                smallest = min(sizes)
                if smallest[0] > MOST_ELEMENTS or smallest[1] > MOST_OPERATIONS:
                    skipped.append(operator.name)
                    continue
                self.check_values(operator, *steps[smallest[2]])
        self.assertLessEqual(len(skipped), 40, skipped)

    def check_result(self, result, step):
        self.assertIsInstance(result, torch.Tensor, step)
        self.assertFalse(result.is_complex(), step)
        wanted = {BOOLEAN: (torch.bool,), INDEX: (torch.int64,)}.get(
            step.domain, (torch.float32, torch.float16, torch.bfloat16))
        self.assertIn(result.dtype, wanted, step)

    def check_values(self, operator, value, step):
        run = Run(step, value, "cpu", dtype_of(operator, value))
        recorder = Recorder(run.module)
        with recorder:
            result = run()
        self.assertEqual(recorder.names, [operator.name], step)
        self.check_result(result, step)
        if result.is_floating_point():
            self.assertTrue(bool(result.isfinite().all()), f"not finite: {step} {value}")
            self.assertGreater(float(result.abs().float().max()), 1e-4, f"vanishes: {step}")
        if result.numel() > 32:
            self.assertFalse(bool((result == result.flatten()[0]).all()),
                             f"constant: {step} {value}")
        self.check_domain(result, step)
        again = Run(step, value, "cpu", dtype_of(operator, value))()
        self.assertTrue(torch.equal(result, again), f"differs from call to call: {step}")
        if operator.differentiable:
            self.check_derivative(Run(step, value, "cpu", value.dtype), step)

    def check_derivative(self, run, step):
        grads = self.derivative(run)
        self.assertTrue(all(bool(grad.isfinite().all()) for grad in grads),
                        f"derivative not finite: {step}")
        self.assertGreater(float(grads[0].abs().max()), 0, f"derivative vanishes: {step}")

    def derivative(self, run):
        """With respect to the value, all further inputs and all parameters, as a task asks."""
        names = {name: each.detach().requires_grad_()
                 if isinstance(each, torch.Tensor) and each.is_floating_point() else each
                 for name, each in run.names.items()}
        leaves = [each for each in names.values()
                  if isinstance(each, torch.Tensor) and each.requires_grad]
        leaves += list(run.module.parameters()) if run.module is not None else []
        outcome = eval(run.text, names)
        torch.manual_seed(2)
        return torch.autograd.grad(outcome, leaves, torch.randn_like(outcome))

    def check_domain(self, result, step):
        if step.domain == INDEX:
            self.assertGreater(step.below, 0, step)
            self.assertTrue(0 <= int(result.min()) and int(result.max()) < step.below, step)
        elif step.domain != BOOLEAN and step.domain != ANY:
            low = float(result.min())
            self.assertGreaterEqual(low, 0, step)
            if within(step.domain, POSITIVE):
                self.assertGreater(low, 0, step)
            if within(step.domain, UNIT):
                self.assertLess(float(result.max()), 1, step)
            if step.domain == PROBABILITY:
                self.assertLess(float((result.sum(-1) - 1).abs().max()), 1e-2, step)

    def test_following_does_not_depend_on_the_batch(self):
        for operator in all_operators():
            for seed in range(SEEDS):
                with self.subTest(operator.name, seed=seed):
                    (one, first), (other, second) = (started(operator, seed, batch)
                                                     for batch in (3, 5))
                    self.assertEqual(one.shape[0], 3)
                    self.assertEqual(one.shape[1:], other.shape[1:])
                    self.assertEqual(first is None, second is None)
                    if first is not None:
                        self.same_but_for_the_batch(first, second)

    def same_but_for_the_batch(self, first, second):
        self.assertEqual(NUMBER.sub("", first.expression), NUMBER.sub("", second.expression))
        self.assertEqual(first.module, second.module)
        self.assertEqual(first.domain, second.domain)
        pairs = list(zip(NUMBER.findall(first.expression), NUMBER.findall(second.expression)))
        self.assertEqual(len(first.extras), len(second.extras))
        for one, other in zip(first.extras, second.extras):
            self.assertEqual((one.name, one.dtype, one.domain, one.layout, len(one.shape)),
                             (other.name, other.dtype, other.domain, other.layout,
                              len(other.shape)))
            pairs += list(zip(one.shape, other.shape)) + [(one.below, other.below)]
        for a, b in pairs:
            growth = int(b) - int(a)
            self.assertTrue(growth >= 0 and growth % 2 == 0, (a, b, first, second))

    def test_what_follows_fits(self):
        """Behind values of all ranks, with sizes of one, odd ones and small ones."""
        values = [Value((2, *shape), dtype, domain) for shape, dtype, domain in (
            ((1,), "float32", ANY), ((7,), "float32", ANY), ((33, 1), "float32", ANY),
            ((1, 65), "float32", POSITIVE), ((17, 24), "bfloat16", ANY), ((3, 9), "float32", UNIT),
            ((5, 5), "float32", ANY), ((16, 100), "float16", NON_NEGATIVE),
            ((3, 8, 8), "float32", ANY), ((1, 4, 13), "float32", UNIT),
            ((64, 1, 1), "float32", POSITIVE), ((48, 12, 12), "float16", ANY),
            ((2, 3, 5, 7), "float32", ANY), ((4, 1, 6, 6), "bfloat16", POSITIVE),
            ((9, 4), "bool", BOOLEAN), ((8, 2, 2), "bool", BOOLEAN), ((4096,), "float32", ANY),
            ((8, 16), "int64", INDEX), ((), "float32", ANY), ((2, 3), "float32", PROBABILITY))]
        values = [Value(value.shape, value.dtype, value.domain, 8 if value.dtype == "int64" else 0)
                  for value in values]
        for operator in all_operators():
            for value in values:
                for seed in range(2):
                    step = operator.follow(Draw(f"{operator.name}/{value}/{seed}"), value)
                    if step is not None:
                        with self.subTest(operator.name, value=value, step=step):
                            run = Run(step, value, "meta", dtype_of(operator, value))
                            self.check_result(run(), step)

    def test_most_follow_what_others_leave(self):
        values = [Value((2, *shape)) for shape in ((4096,), (128, 256), (64, 48, 48), (512,),
                                                   (16, 1024), (32, 28, 28), (3, 224, 224))]
        following = [operator.name for operator in all_operators()
                     if any(operator.follow(Draw(f"{operator.name}/{seed}"), value) is not None
                            for value in values for seed in range(3))]
        self.assertGreaterEqual(len(following), len(all_operators()) * 2 / 3)

    def test_half_precision(self):
        """What says that it goes on from 16-bit numbers does so, on meta tensors."""
        for operator in all_operators():
            for dtype in ("float16", "bfloat16"):
                with self.subTest(operator.name, dtype=dtype):
                    value, step = started(operator, 1, 2, dtype)
                    if step is not None and value.dtype == dtype:
                        run = Run(step, value, "meta", dtype)
                        self.check_result(run(), step)


if __name__ == "__main__":
    unittest.main()
