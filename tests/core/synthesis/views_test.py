# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules that move elements, run for real on the CPU."""

import collections
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "core/synthesis"), str(ROOT / "core/reference")]

import torch

from maker import views
from maker.record import Recorder
from maker.spec import Draw
from written_tasks import SEEDS, WrittenTasks, loaded

torch.set_num_threads(1)
SIZES = 200_000  # elements of all inputs that are computed


def task(seed, batch=2, dtype="float32", irregular=0.3):
    return views.write(Draw(f"views/{seed}"), batch, dtype, irregular)


def body(code):
    return [line.strip() for line in code.split("def forward")[1].split("\n\n")[0].split("\n")[1:]]


class Views(WrittenTasks, unittest.TestCase):
    write = staticmethod(task)

    def test_each_runs_its_operators_to_a_result_of_its_shape(self):
        count = 0
        for seed in range(SEEDS):
            made = task(seed)
            names = loaded(made.code)
            torch.manual_seed(seed)
            inputs = names["get_inputs"]()
            if sum(each.numel() for each in inputs) > SIZES:
                continue
            count += 1
            with Recorder() as recorder:
                result = names["Model"]()(*inputs)
            self.assertEqual(sorted(recorder.names), sorted(made.ops), seed)
            self.assertEqual(result.shape, made.shape, seed)
        self.assertGreater(count, SEEDS // 4)

    def test_several_views_follow_each_other(self):
        lengths = collections.Counter(len(body(task(seed).code)) for seed in range(SEEDS))
        self.assertGreaterEqual(min(lengths), 3)  # with the line that returns
        self.assertGreater(sum(count for length, count in lengths.items() if length >= 5), SEEDS // 2)

    def test_numbers_are_seldom_those_of_another_task(self):
        """Pads, parts and places are to be read, not known."""
        pads, parts, uneven = set(), set(), 0
        for seed in range(SEEDS):
            code = task(seed).code
            for text in re.findall(r"F.pad\(x, \(([^)]*)\)", code):
                numbers = tuple(map(int, text.strip(",").split(", ")))
                pads.add(numbers)
                uneven += len(set(numbers)) > 1
            parts.update(re.findall(r"\d*:\d+", code))
        self.assertGreater(len(pads), 60)
        self.assertGreater(uneven, len(pads) // 2)
        self.assertGreater(len(parts), 60)

    def test_some_inputs_lie_in_another_order(self):
        def ordered(irregular):
            return sum(not loaded(task(seed, irregular=irregular).code)["get_inputs"]()[0].is_contiguous()
                       for seed in range(60))

        self.assertEqual(ordered(0.0), 0)
        self.assertGreater(ordered(1.0), 30)


if __name__ == "__main__":
    unittest.main()
