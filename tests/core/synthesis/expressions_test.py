# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of formulas, run for real on the CPU."""

import ast
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "core/synthesis"), str(ROOT / "core/reference")]

import torch

from maker import expressions
from maker.record import Recorder
from maker.spec import Draw
from written_tasks import SEEDS, WrittenTasks, loaded

torch.set_num_threads(1)
SIZES = 40_000  # elements of an input that are computed
# The function that a layer calls, which is what is recorded.
CALLS = {f"torch.nn.{layer}": f"torch.nn.functional.{function}" for layer, function in (
    ("Linear", "linear"), ("Conv2d", "conv2d"), ("LayerNorm", "layer_norm"),
    ("RMSNorm", "rms_norm"), ("BatchNorm2d", "batch_norm"), ("GroupNorm", "group_norm"))}


def task(seed, batch=2, dtype="float32", backward=False):
    return expressions.write(Draw(f"expressions/{seed}"), batch, dtype, backward)


class Expressions(WrittenTasks, unittest.TestCase):
    write = staticmethod(task)

    def small_ones(self, backward=False):
        """Seed, task, model and inputs of those that are computed soon."""
        count = 0
        for seed in range(SEEDS):
            made = task(seed, backward=backward)
            names = loaded(made.code)
            torch.manual_seed(seed)
            inputs = names["get_inputs"]()
            if inputs[0].numel() > SIZES:
                continue
            count += 1
            yield seed, made, names["Model"](), inputs
        self.assertGreater(count, SEEDS // 4)

    def test_each_runs_its_operators_to_a_finite_result_of_its_shape(self):
        for seed, made, model, inputs in self.small_ones():
            with Recorder() as recorder:
                result = model(*inputs)
            called = [CALLS.get(name, name) for name in made.ops]
            self.assertEqual(sorted(recorder.names), sorted(called), seed)
            self.assertEqual(result.shape, made.shape, seed)
            self.assertTrue(torch.isfinite(result).all(), seed)

    def test_each_value_is_read(self):
        for seed in range(SEEDS):
            tree = ast.parse(task(seed).code)
            forward = next(node for node in ast.walk(tree)
                           if isinstance(node, ast.FunctionDef) and node.name == "forward")
            read = {node.id for node in ast.walk(forward)
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
            named = {argument.arg for argument in forward.args.args[1:]} | {
                node.id for node in ast.walk(forward)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            self.assertLessEqual(named, read, seed)
            held = {node.attr for node in ast.walk(tree)
                    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
            used = {node.attr for node in ast.walk(forward) if isinstance(node, ast.Attribute)}
            self.assertLessEqual(held, used, seed)

    def test_gradients_are_given_with_the_result(self):
        for _, made, model, inputs in self.small_ones(backward=True):
            result, *gradients = model(*inputs)
            wanted = [*inputs[1:], *model.parameters()]
            self.assertEqual([each.shape for each in gradients], [each.shape for each in wanted])
            self.assertEqual(result.shape, made.shape)

    def test_some_have_layers_first_or_between(self):
        first, between = 0, 0
        for seed in range(SEEDS):
            code = task(seed).code
            body = code.split("def forward")[1].split("\n")[1:]
            layered = [line for line in body if re.search(r" = self\.\w+\(", line)]
            first += bool(layered) and layered[0] == body[0]
            between += any(line != body[0] for line in layered)
        self.assertGreater(first, SEEDS // 8)
        self.assertGreater(between, SEEDS // 10)

    def test_half_precision_is_of_parameters_too(self):
        for seed in range(SEEDS):
            names = loaded(task(seed, dtype="bfloat16").code)
            for each in names["Model"]().parameters():
                self.assertEqual(each.dtype, torch.bfloat16)

    def test_brackets_are_where_they_are_needed(self):
        for text, strength in (("a", 3), ("torch.exp(-a + b)", 3), ("a * f(b + c)", 2),
                               ("a + b * c", 1), ("-a", 1), ("(a + b) * c", 2), ("1e-5", 3)):
            self.assertEqual(expressions.strength(text), strength, text)


if __name__ == "__main__":
    unittest.main()
