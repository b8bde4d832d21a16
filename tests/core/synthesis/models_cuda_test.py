# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of transformers on a GPU, at the sizes that are drawn for one: every class runs, is finite
and repeats itself; some are compiled. Prints how many gave the same bits twice.

Exits with 77 where there is no GPU."""

import sys
import unittest

import torch

from models_test import models, run, tensors
from maker.spec import Draw

BATCH = 4
COMPILED = 20  # of all, evenly spread: each takes seconds
TOLERANCE = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 8e-2}


class OnCuda(unittest.TestCase):
    def setUp(self):
        torch.set_grad_enabled(False)

    def made(self, entry, seed):
        """The element type's tolerance, the model and its inputs on the GPU."""
        task = entry.write(Draw(seed), BATCH)
        model, inputs = run(task.code)
        torch.cuda.empty_cache()
        return TOLERANCE[task.dtype], model.cuda(), [value.cuda() for value in inputs]

    def test_every_class(self):
        same = count = 0
        for entry in models.families():
            for seed in (21, 22):
                with self.subTest(entry.name, seed=seed):
                    tolerance, model, inputs = self.made(entry, seed)
                    one, other = tensors(model(*inputs)), tensors(model(*inputs))
                    for left, right in zip(one, other):
                        self.assertTrue(torch.isfinite(left).all())
                        self.assertLess(self.distance(left, right), tolerance)
                    same += all(torch.equal(left, right) for left, right in zip(one, other))
                    count += 1
        print(f"{same} of {count} tasks gave the same bits twice", file=sys.stderr)
        self.assertGreater(same, 0.95 * count)

    def test_compiled(self):
        for entry in models.families()[::max(1, len(models.families()) // COMPILED)]:
            with self.subTest(entry.name):
                torch.compiler.reset()
                tolerance, model, inputs = self.made(entry, 23)
                right = tensors(model(*inputs))
                for left, compiled in zip(right, tensors(torch.compile(model)(*inputs))):
                    self.assertLess(self.distance(left, compiled), tolerance)

    def distance(self, right, other):
        return ((right - other).double().norm() / right.double().norm()).item()


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("no GPU: skipped")
        sys.exit(77)
    unittest.main()
