# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators as simpler ones, beside PyTorch's own. By hand: <python with torch> formulas_test.py"""

import itertools
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "core" / "reference"))

import torch  # noqa: E402

from torch._subclasses.complex_tensor import ComplexTensor  # noqa: E402
from worker import backward, complex_numbers, forward, oracle, recurrence  # noqa: E402

aten = torch.ops.aten


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64)


class FormulasTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def assert_same(self, got, want, message=""):
        self.assertEqual(len(got), len(want))
        for mine, theirs in zip(got, want):
            torch.testing.assert_close(mine, theirs, msg=lambda text: f"{message}: {text}")

    def test_convolution_backward(self):
        for dims, transposed, groups, stride, padding, dilation in itertools.product(
                (1, 2, 3), (False, True), (1, 2, 4), (1, 2), (0, 1), (1, 2)):
            filters = (4, 8 // groups) if transposed else (8, 4 // groups)
            x, weight = draw(2, 4, *[9] * dims), draw(*filters, *[3] * dims)
            how = ([stride] * dims, [padding] * dims, [dilation] * dims, transposed,
                   [1 if transposed and stride == 2 else 0] * dims, groups)
            grad = torch.randn_like(aten.convolution(x, weight, None, *how))
            arguments = (grad, x, weight, [8], *how, [True] * 3)
            self.assert_same(backward.convolution_backward(*arguments),
                             aten.convolution_backward(*arguments), how)

    def test_signs_and_what_is_shrunk(self):
        nan = float("nan")
        x = torch.tensor([1.5, -2.0, 0.0, -0.0, nan, -nan, float("inf"), -0.5, 0.5])
        for each in (x, x.half(), torch.tensor([3, -4, 0])):
            self.assert_same([forward.signbit(each)], [torch.signbit(each)])
        grad = torch.arange(9.0) + 1
        wanted = aten.hardshrink_backward(grad, x, 0.5)
        self.assert_same([backward.shrink_backward(grad, x, 0.5)], [wanted])

    def test_powers_of_two_times(self):
        """Of all types, which the type of the result depends on, and out of range."""
        floats = torch.tensor([1.5, -0.0, float("inf"), float("nan"), 3e-39, 7.0])
        numbers = torch.tensor([3, -4, 200, 0, -1, 130])
        powers = (numbers, numbers.int(), floats, 30 * torch.randn(6))
        for x, other in itertools.product((floats, floats.half(), floats.double(), numbers), powers):
            torch.testing.assert_close(forward.ldexp(x, other), torch.ldexp(x, other), equal_nan=True)

    def test_powers_of_a_number(self):
        exponents = torch.tensor([1.5, -0.0, float("inf"), float("nan"), 3e-39, -140.0, 130.0])
        for each in (exponents, exponents.half(), exponents.double()):
            torch.testing.assert_close(forward.power_of_scalar(2, each), torch.pow(2, each), equal_nan=True)
        self.assertIs(forward.power_of_scalar(3, exponents), NotImplemented)
        self.assertIs(forward.power_of_scalar(2, torch.tensor([3])), NotImplemented)

    def test_grid_samplers(self):
        """With numbers that are none in the image, too: what lies outside is not read."""
        for dims, mode, padding, align in itertools.product((2, 3), (0, 1, 2), (0, 1, 2), (False, True)):
            operator = (aten.grid_sampler_2d, aten.grid_sampler_3d)[dims - 2].default
            image = draw(2, 3, *range(5, 5 + dims))
            grid = 1.3 * torch.tanh(draw(2, *[6] * dims, dims))
            grid[0] = grid[0].round()  # corners and centres
            if mode == 2 and dims == 3:
                self.assertIs(forward.grid_sampler(image, grid, mode, padding, align), NotImplemented)
                continue
            how = (grid, mode, padding, align)
            self.assert_same([forward.grid_sampler(image, *how)], [operator(image, *how)], (dims, *how[1:]))
            if mode == 2:
                continue
            image[:, :, 0] = float("nan")
            torch.testing.assert_close(forward.grid_sampler(image, *how)[1], operator(image, *how)[1],
                                       equal_nan=True)

    def exported(self, model, inputs):
        """What a recurrent model gives, what its description gives, and the operators of that."""
        model = model.eval()
        others = torch.export.default_decompositions()
        table = torch.export.default_decompositions()
        table.update(recurrence.formulas(others))
        with torch.no_grad():
            wanted = model(*inputs)
            program = torch.export.export(model, inputs, strict=False).run_decompositions(table)
            got = program.module()(*inputs)
        operators = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
        leaves = torch.utils._pytree.tree_leaves
        return leaves(wanted), leaves(got), operators

    def test_circular_padding(self):
        """Sizes that cut off, too, and none at all; a border as wide as what it continues."""
        for dims, sizes in itertools.product((1, 2, 3), ((0, 0), (1, 2), (4, 0), (-1, 3), (2, -2))):
            x = draw(2, 3, *range(4, 4 + dims))
            pad = [*sizes, *[0, 1] * (dims - 1)]
            self.assert_same([forward.pad_circular(x, pad)],
                             [torch.nn.functional.pad(x, pad, mode="circular")], pad)

    def test_recurrent_layers(self):
        """In single precision, which is what the planner has kernels for."""
        nn = torch.nn
        x = torch.randn(9, 11, 6)
        for layer, more in ((nn.LSTM, {}), (nn.GRU, {}), (nn.RNN, {}),
                            (nn.RNN, {"nonlinearity": "relu"})):
            for layers, both, first, bias in itertools.product((1, 2), (False, True), (False, True),
                                                               (False, True)):
                model = layer(6, 8, layers, bias=bias, batch_first=first, bidirectional=both, **more)
                states = torch.randn(layers * (1 + both), 9 if first else 11, 8)
                state = (states, states + 1) if layer is nn.LSTM else states
                wanted, got, operators = self.exported(model, (x, state))
                self.assertEqual(operators.count("cuda_agent.recurrence.default"), layers)
                for theirs, mine in zip(wanted, got):
                    torch.testing.assert_close(mine, theirs)

    def test_recurrent_layers_without_kernels(self):
        """Others are written out step by step, as PyTorch does: what is wider, few steps, sizes that
        are no multiple of four."""
        nn = torch.nn
        x = torch.randn(9, 3, 6)
        for model, inputs in ((nn.GRU(6, 7), (x,)), (nn.RNN(6, 8), (x[:4],)),
                              (nn.GRU(6, 8).double(), (x.double(),))):
            wanted, got, operators = self.exported(model, inputs)
            self.assertNotIn("cuda_agent.recurrence.default", operators)
            for theirs, mine in zip(wanted, got):
                torch.testing.assert_close(mine, theirs)

    def test_attention_backward(self):
        attend = torch.nn.functional.scaled_dot_product_attention
        for causal, biased, scale in ((False, False, None), (True, False, 0.3), (False, True, None)):
            q, k, v = (draw(2, 3, size, 8).requires_grad_() for size in (5, 7, 7))
            bias = draw(1, 3, 5, 7).requires_grad_() if biased else None
            out = attend(q, k, v, attn_mask=bias, is_causal=causal, scale=scale)
            grad = torch.randn_like(out)
            wanted = [each for each in (q, k, v, bias) if each is not None]
            found = backward.attention_backward(grad, q, k, v, bias, causal, scale)
            self.assert_same(found[:len(wanted)], torch.autograd.grad(out, wanted, grad))

    def test_attention_operators(self):
        """As PyTorch calls them; with dropout they stay as they are."""
        aten_op = aten._scaled_dot_product_flash_attention_for_cpu_backward.default
        q, k, v = (torch.randn(2, 3, 6, 8) for _ in range(3))
        out, logsumexp = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, True)
        grad = torch.randn_like(out)
        formula = backward.FORMULAS[aten_op]
        for found, want in zip(formula(grad, q, k, v, out, logsumexp, 0.0, True),
                               aten_op(grad, q, k, v, out, logsumexp, 0.0, True), strict=True):
            torch.testing.assert_close(found, want)
        self.assertIs(formula(grad, q, k, v, out, logsumexp, 0.5, True), NotImplemented)
        shared = backward.attention_backward(grad, q, k[:, :1], v[:, :1], None, False, None)
        self.assertIs(shared, NotImplemented)

    def test_recurrent_cells(self):
        """Forward and backward formulas belong to each other: theirs run on a GPU only."""
        hidden = 4
        for cell, gates in ((torch.nn.LSTMCell, 4), (torch.nn.GRUCell, 3)):
            cell = cell(hidden, hidden, dtype=torch.float64)
            x, hx, cx = (draw(3, hidden) for _ in range(3))
            lstm = gates == 4
            inputs = (x @ cell.weight_ih.T).detach().requires_grad_()
            inner = (hx @ cell.weight_hh.T).detach().requires_grad_()
            state = (cx if lstm else hx).requires_grad_()
            formula = forward.lstm_cell if lstm else forward.gru_cell
            made = formula(inputs, inner, state, cell.bias_ih, cell.bias_hh)
            theirs = cell(x, (hx, cx)) if lstm else (cell(x, hx),)
            self.assert_same(made[:len(theirs)], theirs)
            grads = [torch.randn_like(each) for each in theirs]
            wanted = [inputs, inner, state, cell.bias_ih, cell.bias_hh]
            want = torch.autograd.grad(made[:len(theirs)], wanted, grads)
            if lstm:
                of_gates, of_cell, of_bias = backward.lstm_cell_backward(
                    *grads, cx, made[1], made[2], True)
                found = (of_gates, of_gates, of_cell, of_bias, of_bias)
            else:
                found = backward.gru_cell_backward(grads[0], made[1], True)
            self.assert_same(found, want)

    def test_polynomials(self):
        x = draw(200) * 2
        formulas = {op: formula for op, formula in forward.FORMULAS.items()
                    if "polynomial" in str(op)}
        self.assertEqual(len(formulas), 12)
        for op, formula in formulas.items():
            for degree in (-1, 0, 1, 2, 3, 5):
                self.assert_same([formula(x, degree)], [op(x, degree)], f"{op} of degree {degree}")
            self.assertIs(formula(x, forward.HIGHEST_DEGREE + 1), NotImplemented)

    def test_distances(self):
        x, y = draw(2, 5, 7), draw(2, 6, 7)
        for p in (0, 1, 2, 3.0, float("inf")):
            self.assert_same([forward.cdist(x, y, p)], [torch.cdist(x, y, p)], p)

    def test_bessel_functions_beyond_the_range_of_float(self):
        x = torch.cat([torch.randn(1000) * 40, torch.tensor([0.0, 60, -61, 300, 1e30, torch.inf])])
        for order, theirs in enumerate((torch.special.i0e, torch.special.i1e)):
            self.assert_same([forward.scaled_bessel_i(order)(x)], [theirs(x)])

    def test_others(self):
        x = draw(50) * 100
        for decimals in (2, -1):
            self.assert_same([forward.round_decimals(x, decimals=decimals)],
                             [torch.round(x, decimals=decimals)])
        matrix, vector, start = draw(4, 6), draw(6), draw(4)
        self.assert_same([forward.addmv(start, matrix, vector, beta=0.5, alpha=2)],
                         [torch.addmv(start, matrix, vector, beta=0.5, alpha=2)])
        nothing = torch.full_like(start, torch.nan)
        self.assert_same([forward.addmv(nothing, matrix, vector, beta=0)], [matrix @ vector])


class FourierTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def same(self, found, want):
        torch.testing.assert_close(torch.complex(*complex_numbers.parts(found)), want)

    def test_transforms(self):
        fft = torch.fft
        for size in (1, 2, 5, 12, 96, 101, 1000, 1024):
            x = draw(3, size)
            z = torch.complex(draw(3, size), draw(3, size))
            pair = ComplexTensor(z.real, z.imag)
            for mode, name in enumerate(("backward", "ortho", "forward")):
                self.same(complex_numbers.fft_r2c(x, [1], mode, True), fft.rfft(x, norm=name))
            self.same(complex_numbers.fft_r2c(x, [1], 0, False), fft.fft(x))
            self.same(complex_numbers.fft_c2c(pair, [1], 0, True), fft.fft(z))
            self.same(complex_numbers.fft_c2c(pair, [1], 2, False), fft.ifft(z))
            half = ComplexTensor(z.real[:, :size // 2 + 1], z.imag[:, :size // 2 + 1])
            torch.testing.assert_close(complex_numbers.fft_c2r(half, [1], 2, size),
                                       fft.irfft(z[:, :size // 2 + 1], n=size))

    def test_what_is_written_into_a_slice_is_in_the_whole(self):
        """The gradient of a transform to real numbers doubles a slice of another."""
        z = torch.complex(draw(3, 8), draw(3, 8))
        pair = ComplexTensor(z.real, z.imag)
        pair.narrow(1, 1, 6).mul_(2)
        z.narrow(1, 1, 6).mul_(2)
        self.same(pair, z)
        pair.mul_(1j)
        self.same(pair, z * 1j)

    def test_several_dimensions(self):
        x = draw(2, 6, 8, 10)
        dims = [1, 2, 3]
        there = torch.fft.rfftn(x, dim=dims)
        self.same(complex_numbers.fft_r2c(x, dims, 0, True), there)
        pair = ComplexTensor(there.real.clone(), there.imag.clone())
        torch.testing.assert_close(complex_numbers.fft_c2r(pair, dims, 2, 10), x)

    def test_the_oracle_takes_them_apart(self):
        """What they make of infinities is compared with what the library makes of them."""
        x = draw(3, 12)

        def forward():
            there = torch.fft.fft(x.to(torch.complex128))
            return torch.fft.irfft(there[:, :7] * 2, n=12), there.abs()

        with oracle.Unfused():
            found = forward()
        for mine, theirs in zip(found, forward()):
            torch.testing.assert_close(mine, theirs)
        self.assertTrue(oracle.is_fused(aten._fft_r2c.default))

    def test_single_precision_is_nearly_that_of_the_library(self):
        for size in (1000, 1024, 1021):
            x = torch.randn(64, size)
            exact = torch.fft.rfft(x.double())

            def worst(y):
                return float((y - exact).abs().max())

            pair = complex_numbers.fft_r2c(x, [1], 0, True)
            self.assertLess(worst(torch.complex(pair.re, pair.im)), 4 * worst(torch.fft.rfft(x)))


if __name__ == "__main__":
    unittest.main()
