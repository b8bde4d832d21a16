# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of the reference worker's other ways. By hand: <python with torch> ways_test.py"""

import math
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "core" / "reference"))

import torch  # noqa: E402

from worker import ways  # noqa: E402


def numbers(outputs):
    return [output.flatten().tolist() for output in outputs]


class WaysTest(unittest.TestCase):
    def outputs(self, tf32, forward):
        calls = []

        def counted():
            calls.append(1)
            return [forward()]

        tried = ways.Ways(tf32)
        first = [list(outputs) for outputs in tried.run(counted)]
        second = [list(outputs) for outputs in tried.run(counted)]
        self.assertEqual(len(first), len(second))
        return first, len(calls)

    def test_convolutions_run_with_channels_last(self):
        image, weight = torch.randn(2, 3, 8, 9), torch.randn(4, 3, 3, 3)
        layouts = []

        def forward():
            with torch.no_grad():
                result = torch.conv2d(image, weight)
            layouts.append(result.is_contiguous())
            return result.view(2, -1)  # a view of what the model knows as contiguous

        found, calls = self.outputs(False, forward)
        self.assertEqual((len(found), calls), (2, 4))  # the other one rounds to TF32
        self.assertTrue(all(layouts))
        torch.testing.assert_close(found[0][0], torch.conv2d(image, weight).view(2, -1))

    def test_attention_runs_unfused_where_products_may_round(self):
        q, k, v = torch.randn(3, 1, 2, 16, 8)
        forward = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)  # noqa: E731
        found, calls = self.outputs(True, forward)
        self.assertEqual((len(found), calls), (1, 3))  # once to look, then once each time
        torch.testing.assert_close(found[0][0], forward())
        self.assertEqual(self.outputs(False, forward), ([], 1))

    def test_other_tasks_have_no_other_way(self):
        self.assertEqual(self.outputs(True, lambda: torch.randn(3, 4).softmax(1)), ([], 1))

    def test_nearest_tf32_numbers(self):
        given = [1 + 2.0**-11, -1 - 2.0**-11, 1 + 2.0**-12, 3.0, 0.0, math.inf, -math.inf, 3.4e38]
        x = torch.tensor(given)
        want = [1 + 2.0**-10, -1 - 2.0**-10, 1.0, 3.0, 0.0, math.inf, -math.inf]
        self.assertEqual(ways.rounded_to_tf32(x).tolist()[:-1], want)
        self.assertEqual(x.tolist()[0], given[0])
        self.assertTrue(abs(float(ways.rounded_to_tf32(x)[-1]) / 3.4e38 - 1) <= 2.0**-11)
        nan = torch.tensor([0x7FFFFFFF], dtype=torch.int32).view(torch.float32)
        self.assertTrue(ways.rounded_to_tf32(nan).isnan().all())

    def test_convolutions_and_products_round_where_the_mode_says(self):
        fine = 1 + 2.0**-12  # TF32 does not have it
        x = torch.full((1, 1, 3), fine)
        kernel = torch.full((1, 1, 1), 2.0)
        matrix = torch.full((2, 2), fine)

        def forward():
            half = torch.nn.functional.conv1d(x.bfloat16(), kernel.bfloat16())
            return [torch.nn.functional.conv1d(x, kernel), matrix @ torch.eye(2), half.float()]

        plain = numbers(forward())
        self.assertEqual(plain[0], [2 * fine] * 3)
        with ways.Rounded(products=False):
            self.assertEqual(numbers(forward()), [[2.0] * 3, plain[1], plain[2]])
        with ways.Rounded(products=True):
            self.assertEqual(numbers(forward()), [[2.0] * 3, [1.0] * 4, plain[2]])

    def test_only_what_differs_is_run(self):
        runs = []

        def forward_of(operator):
            def forward():
                runs.append(operator)
                return [operator()]
            return forward

        def count(operator, tf32):
            one = ways.Ways(tf32)
            outputs = list(one.run(forward_of(operator)))
            list(one.run(forward_of(operator)))
            return len(outputs), len(runs)

        x = torch.ones(1, 1, 4, 4)
        kernel = torch.ones(1, 1, 2, 2)
        self.assertEqual(count(lambda: x + 1, True), (0, 1))  # looked at once
        runs.clear()
        self.assertEqual(count(lambda: torch.conv2d(x, kernel), False), (2, 4))
        runs.clear()
        line = torch.ones(1, 1, 4)
        self.assertEqual(count(lambda: torch.conv1d(line, line), False), (1, 3))
        runs.clear()
        self.assertEqual(count(lambda: torch.ones(2, 2) @ torch.ones(2, 2), False), (0, 1))
        runs.clear()
        self.assertEqual(count(lambda: torch.ones(2, 2) @ torch.ones(2, 2), True), (1, 3))


if __name__ == "__main__":
    unittest.main()
