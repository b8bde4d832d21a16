# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of the reference worker's fp64 oracle. By hand: <python with torch> oracle_test.py"""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "core" / "reference"))

import torch  # noqa: E402

from worker import oracle  # noqa: E402

CPU = torch.device("cpu")


class OracleTest(unittest.TestCase):
    def test_everything_is_double(self):
        mode = oracle.InDouble(CPU)
        plain = torch.ones(3)  # a float32 attribute
        with mode:
            value = torch.ones(3, dtype=torch.float64) / 3
            rounded = value.to(torch.float32).half().float() + plain
            filled = torch.empty(2, dtype=torch.float32)
            filled.fill_(1 / 3)
        self.assertEqual(rounded.dtype, torch.float64)
        self.assertEqual(float(rounded[0]), 1 + 1 / 3)
        self.assertEqual(filled.dtype, torch.float64)
        self.assertEqual(mode.notes, [])

    def test_operator_without_double(self):
        @torch.library.custom_op("worker_test::single_only", mutates_args=())
        def single_only(x: torch.Tensor) -> torch.Tensor:
            if x.dtype == torch.float64:
                raise NotImplementedError("\"single_only\" not implemented for 'Double'")
            return x * 2

        mode = oracle.InDouble(CPU)
        with mode:
            result = single_only(torch.ones(3, dtype=torch.float64))
        self.assertEqual(result.dtype, torch.float64)
        self.assertEqual(result.tolist(), [2, 2, 2])
        self.assertEqual(len(mode.notes), 1)
        self.assertIn("no double implementation", mode.notes[0])

    def test_equal_elements_stay_as_they_come(self):
        x = torch.arange(400.0).remainder(3).reshape(2, 200)
        with oracle.InDouble(CPU):
            values, places = torch.sort(x, dim=1, descending=True)
            most, at = torch.topk(x, 70, dim=1)
            one = torch.topk(torch.tensor(2.0), 1)
        expected = x.double().sort(dim=1, descending=True, stable=True)
        self.assertTrue(torch.equal(values, expected.values))
        self.assertTrue(torch.equal(places, expected.indices))
        self.assertTrue(torch.equal(most, expected.values[:, :70]))
        self.assertTrue(torch.equal(at, expected.indices[:, :70]))
        self.assertEqual((float(one.values), int(one.indices)), (2.0, 0))

    def test_errors_of_the_task_pass(self):
        with self.assertRaises(RuntimeError), oracle.InDouble(CPU):
            torch.ones(2, 3) @ torch.ones(2, 3)

    def test_recurrent_layers_run_at_once_unless_their_sums_are_to_be_seen(self):
        class Given:
            device = CPU

            @staticmethod
            def forward(model, values):
                out, (state, cell) = model(*values)
                return [out, state, cell], False

        model = torch.nn.LSTM(6, 8, 2, bidirectional=True).requires_grad_(False).double()
        x = torch.randn(9, 3, 6, dtype=torch.float64)
        wanted, (state, cell) = model(x)
        seen = []

        class Counting(oracle.Disturbance):
            def result(self, func, args, result):
                seen.append(func)

        for disturbance in (None, Counting(0, torch.Generator())):
            outputs, _ = oracle.run_in_double(Given, model, [x], disturbance)
            for got, same in zip(outputs, (wanted, state, cell)):
                torch.testing.assert_close(got, same)
        self.assertGreater(len(seen), 9 * 4)  # steps, layers and directions

        class Sees(torch.utils._python_dispatch.TorchDispatchMode):
            operators = 0

            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                Sees.operators += 1
                return func(*args, **(kwargs or {}))

        with Sees(), oracle.RecurrentAtOnce():
            model(x)
        self.assertLess(Sees.operators, 9 * 4)


class DisturbanceTest(unittest.TestCase):
    def terms(self, run):
        """What is taken for the number of terms of each operator that sums."""
        class Listed(oracle.Disturbance):
            def __init__(self):
                super().__init__(2.0**-24, torch.Generator().manual_seed(1))
                self.seen = []

            def result(self, func, args, result):
                self.seen += [n for n in oracle.terms_of_each(func, args, result) if n > 1]

        listed = Listed()
        with oracle.InDouble(CPU, listed):
            run()
        return listed.seen

    def test_terms_of_sums(self):
        x = torch.randn(3, 8, 5, 5)
        one = torch.ones(8)
        for expected, run in ((600, x.sum), (25, lambda: x.mean((2, 3))), (8, lambda: x.softmax(1)),
                              (5, lambda: x.var(3)), (5, lambda: x.logsumexp(-1)), (8, lambda: x.cumsum(1)),
                              (5, lambda: torch.nn.functional.layer_norm(x, (5,))),
                              (100, lambda: torch.nn.functional.group_norm(x, 2, one, one)),
                              (600, lambda: torch.nn.functional.mse_loss(x, x + 1))):
            self.assertIn(expected, self.terms(run))
        for run in (x.relu, lambda: x + 1, lambda: x[:, :1].softmax(1), lambda: x[..., :1] @ x[:, :, :1],
                    lambda: torch.nn.functional.conv2d(x, x[0, :, :1, :1][:, None], groups=8)):
            self.assertEqual(self.terms(run), [])

    def test_terms_of_products(self):
        functional, x, w = torch.nn.functional, torch.randn(3, 8, 5, 5), torch.randn(8, 4, 3, 2)
        a, b = torch.randn(4, 7), torch.randn(7, 6)
        for expected, run in ((7, lambda: a @ b), (7, lambda: functional.linear(a, b.T, b[0])), (7, lambda: a @ b[:, 0]),
                              (5, lambda: x @ x), (7, lambda: torch.baddbmm(a[None, :, :6], a[None], b[None])),
                              (24, lambda: functional.conv2d(x, w, groups=2)),
                              (48, lambda: functional.conv_transpose2d(x, w)),
                              (24, lambda: functional.conv_transpose2d(x, w, groups=2)),
                              (24, lambda: functional.conv2d(x[0], w, groups=2))):
            self.assertEqual(self.terms(run), [expected])

    def test_terms_of_gradients(self):
        """Of the input, the filters and the bias."""
        for transposed, data, weight, size, expected in (
                (False, torch.randn(3, 4, 10, 10), torch.randn(8, 2, 2, 2), 5, [16, 75, 75]),
                (True, torch.randn(3, 4, 3, 3), torch.randn(4, 4, 2, 2), 6, [16, 27, 108])):
            grad = torch.randn(3, 8, size, size)
            self.assertEqual(self.terms(lambda: torch.ops.aten.convolution_backward(
                grad, data, weight, [8], [2, 2], [0, 0], [1, 1], transposed, [0, 0], 2,
                [True] * 3)), expected)

    def moved(self, columns, dtype=2.0**-24):
        """How far, relatively, noise moves sums of ones."""
        disturbance = oracle.Disturbance(dtype, torch.Generator().manual_seed(2))
        with oracle.InDouble(CPU, disturbance):
            sums = torch.ones(2000, columns, dtype=torch.float64).sum(1)
        return float((sums / columns - 1).abs().max())

    def test_sums_move_like_a_random_walk(self):
        unit = 2.0**-24
        for columns in (4, 256, 4096):
            self.assertAlmostEqual(self.moved(columns) / (unit * columns**0.5), 1, delta=0.01)
        self.assertAlmostEqual(self.moved(1 << 14) / (unit * 64), 1, delta=0.01)  # and no further
        # sums behind 16-bit results are float32's
        self.assertAlmostEqual(self.moved(256, 2.0**-11) / (unit * 16), 1, delta=0.01)


if __name__ == "__main__":
    unittest.main()
