# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogue on a GPU: every operator with some millions of elements, in every element type that
it says it goes on from, the same from call to call but for the order of sums (cuDNN adds by atomics
in some convolutions and gradients), and where it says so in backward, too.

Exits with 77 where there is no GPU."""

import math
import sys
import unittest

import torch

from operators_test import Run, dtype_of, started
from maker.operators.catalogue import all_operators

DEVICE = "cuda"
WANTED_ELEMENTS = 8_000_000  # of the first input: enough that blocks of a kernel race
MOST_ELEMENTS = 200_000_000
SEEDS = 2
CALLS = 3


def scaled(operator, seed, dtype):
    """A value of about the wanted size and its step."""
    value, step = started(operator, seed, 2, dtype)
    if step is None:
        return None
    row = max(1, math.prod(value.shape[1:]))
    batch = max(2, min(4096, WANTED_ELEMENTS // row))
    value, step = started(operator, seed, batch, dtype)
    meta = Run(step, value, "meta", dtype_of(operator, value))
    while meta.elements() + meta().numel() > MOST_ELEMENTS and batch > 2:
        batch //= 2
        value, step = started(operator, seed, batch, dtype)
        meta = Run(step, value, "meta", dtype_of(operator, value))
    return value, step


def same(one, other):
    """Equal, or as far apart as sums in another order may be."""
    if torch.equal(one, other):
        return True
    if not one.is_floating_point():
        return False
    allowed = 1e-4 if one.dtype == torch.float32 else 1e-2
    return float((one.float() - other.float()).abs().max()) <= allowed * float(one.abs().max())


class OnCuda(unittest.TestCase):
    def test_each(self):
        for operator in all_operators():
            for dtype in ("float32", "float16", "bfloat16"):
                for seed in range(SEEDS if dtype == "float32" else 1):
                    with self.subTest(operator.name, dtype=dtype, seed=seed):
                        drawn = scaled(operator, seed, dtype)
                        if drawn is None or drawn[0].dtype not in (dtype, "bool", "int64"):
                            continue
                        self.check(operator, *drawn)
                        torch.cuda.empty_cache()

    def check(self, operator, value, step):
        run = Run(step, value, DEVICE, dtype_of(operator, value))
        result = run()
        if result.is_floating_point():
            self.assertTrue(bool(result.isfinite().all()), f"not finite: {step} {value}")
            self.assertGreater(float(result.abs().max()), 1e-4, f"vanishes: {step} {value}")
        for _ in range(CALLS):
            self.assertTrue(same(result, run()), f"not deterministic: {step} {value}")
        if operator.differentiable and value.floating:
            self.check_backward(run, step, value)

    def check_backward(self, run, step, value):
        """Of the value, of further inputs and of parameters."""
        names = {name: each.detach().requires_grad_()
                 if isinstance(each, torch.Tensor) and each.is_floating_point() else each
                 for name, each in run.names.items()}
        leaves = [each for each in names.values()
                  if isinstance(each, torch.Tensor) and each.requires_grad]
        leaves += list(run.module.parameters()) if run.module is not None else []
        first = None
        for _ in range(CALLS):
            outcome = eval(run.text, dict(names))
            torch.manual_seed(3)
            grads = torch.autograd.grad(outcome, leaves, torch.randn_like(outcome))
            first = first or grads
            for one, other in zip(first, grads):
                self.assertTrue(bool(one.isfinite().all()),
                                f"derivative not finite: {step} {value}")
                self.assertTrue(same(one, other),
                                f"derivative not deterministic: {step} {value}")


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("no GPU")
        sys.exit(77)
    unittest.main()
