# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of forward passes, outside core ATen or with a formula there, as the simpler operators
that they stand for."""

import itertools
import math

import torch
from torch._decomp import decomposition_table

aten = torch.ops.aten

_BICUBIC = decomposition_table[aten.grid_sampler_2d.default]

# Decomposed they are long chains of computed positions and lookups, where what they do is one line.
RESIZING = [getattr(op, form)
            for op in (aten.upsample_nearest1d, aten.upsample_nearest2d, aten.upsample_nearest3d,
                       aten._upsample_nearest_exact1d, aten._upsample_nearest_exact2d,
                       aten._upsample_nearest_exact3d, aten.upsample_linear1d, aten.upsample_bilinear2d,
                       aten.upsample_trilinear3d, aten.upsample_bicubic2d)
            for form in ("vec", "default")]

HIGHEST_DEGREE = 16  # of a polynomial that is written out


def addmv(self, mat, vec, *, beta=1, alpha=1):
    product = aten.mv(mat, vec)
    if alpha != 1:
        product = product * alpha
    if beta == 0:  # then self may be anything
        return product
    return product + (self if beta == 1 else self * beta)


def round_decimals(self, *, decimals):
    factor = 10.0 ** abs(decimals)
    return torch.round(self * factor) / factor if decimals > 0 else torch.round(
        self / factor) * factor


def ldexp(x, other):
    """As PyTorch's own decomposition, which export leaves out; its powers of 2 are those of exp2."""
    if not other.dtype.is_floating_point:
        other = other.to(x.dtype if x.dtype.is_floating_point else torch.float32)
    return x * torch.exp2(other)


def power_of_scalar(base, exponent):
    """As PyTorch computes it of floating exponents: powers of 2, as in gradients of ldexp, are those of exp2."""
    if base == 2 and exponent.dtype.is_floating_point:
        return torch.exp2(exponent)
    return NotImplemented


def lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    gates = input_gates + hidden_gates
    if input_bias is not None:
        gates = gates + input_bias + hidden_bias
    enter, forget, cell, leave = gates.chunk(4, 1)
    enter, forget, leave = (torch.sigmoid(each) for each in (enter, forget, leave))
    cell = torch.tanh(cell)
    cy = forget * cx + enter * cell
    return leave * torch.tanh(cy), cy, torch.cat([enter, forget, cell, leave], 1)


def gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    reset, update, new = input_gates.chunk(3, 1)
    hidden_reset, hidden_update, hidden_new = hidden_gates.chunk(3, 1)
    reset = torch.sigmoid(reset + hidden_reset)
    update = torch.sigmoid(update + hidden_update)
    new = torch.tanh(new + reset * hidden_new)
    return (new + update * (hx - new),
            torch.cat([reset, update, new, hx, hidden_new], 1))


def cdist(x1, x2, p, compute_mode=None):
    """Distances by their definition; PyTorch takes a product of matrices for large ones and p = 2."""
    apart = (x1.unsqueeze(-2) - x2.unsqueeze(-3)).abs()
    if p == 0:
        return (apart != 0).to(x1.dtype).sum(-1)
    if p == 1:
        return apart.sum(-1)
    if p == 2:
        return (apart * apart).sum(-1).sqrt()
    if p == float("inf"):
        return apart.amax(-1)
    return (apart**p).sum(-1) ** (1 / p)


def _reflected(x, low, high):
    """Between `low` and `high`, there and back."""
    if low == high:
        return torch.zeros_like(x)
    off, span = (x - low).abs(), high - low
    turns = torch.floor(off / span)
    rest = off - turns * span
    return torch.where(turns % 2 == 0, rest, span - rest) + low


def grid_sampler(a, grid, mode, padding, align_corners):
    """Linear and nearest samples in two and three dimensions. PyTorch's own decomposition multiplies what
    lies outside by zero, which NaN survives; here, as in its kernels, that is not read."""
    sizes = a.shape[2:]
    if mode > 1:
        return _BICUBIC(a, grid, mode, padding, align_corners) if len(sizes) == 2 else NotImplemented
    places = []  # by dimension of `a`; the grid begins with the last
    for size, x in zip(sizes, reversed(grid.unbind(-1))):
        x = (x + 1) * ((size - 1) / 2) if align_corners else ((x + 1) * size - 1) / 2
        if padding == 2:
            x = _reflected(x, 0, size - 1) if align_corners else _reflected(x, -0.5, size - 0.5)
        places.append(x.clamp(0, size - 1) if padding else x)
    if mode == 1:
        corners = [[(torch.round(x), None) for x in places]]
    else:
        first = [torch.floor(x) for x in places]
        corners = itertools.product(*[((low, low + 1 - x), (low + 1, x - low))
                                      for low, x in zip(first, places)])
    batch = torch.arange(a.shape[0], device=a.device).reshape(-1, *[1] * (a.dim() - 1))
    channel = torch.arange(a.shape[1], device=a.device).reshape(-1, *[1] * len(sizes))
    total = None
    for corner in corners:
        inside, weight = None, None
        for (at, share), size in zip(corner, sizes):
            here = (at >= 0) & (at < size)
            inside = here if inside is None else inside & here
            weight = share if weight is None else weight * share
        inside = inside.unsqueeze(1)
        read = a[batch, channel, *[torch.where(inside, at.unsqueeze(1), 0).to(torch.int64)
                                   for at, _ in corner]]
        if weight is not None:
            read = read * weight.unsqueeze(1)
        read = torch.where(inside, read, 0)
        total = read if total is None else total + read
    return total


def scaled_bessel_i(order):
    """exp(-|x|) I(x): beyond 60, where I leaves the range of float, its asymptotic series
    (Abramowitz and Stegun 9.7.1)."""
    bessel = (aten.i0, aten.special_i1)[order]
    first, second, third = ((1 / 8, 9 / 128, 225 / 3072), (-3 / 8, -15 / 128, -315 / 3072))[order]

    def formula(x):
        size = x.abs()
        small = torch.exp(-size) * bessel(torch.clamp(x, -60, 60))
        inverse = 1 / size
        series = 1 + inverse * (first + inverse * (second + inverse * third))
        large = torch.rsqrt(2 * math.pi * size) * series
        return torch.where(size > 60, large if order == 0 else large * torch.sign(x), small)

    return formula


def signbit(x):
    if not x.dtype.is_floating_point:
        return x < 0
    return torch.copysign(torch.ones_like(x), x) < 0  # of zeros and NaN, too


def polynomial(first, step):
    """Of a degree that is a number: PyTorch's recurrences. `first` gives degree 1, `step(x, k,
    last, before)` degree k + 1."""

    def formula(x, n):
        if n != int(n) or n > HIGHEST_DEGREE:
            return NotImplemented
        if n <= 0:
            return torch.zeros_like(x) if n < 0 else torch.ones_like(x)
        before, last = torch.ones_like(x), first(x)
        for k in range(1, int(n)):
            before, last = last, step(x, k, last, before)
        return last

    return formula


def _chebyshev(first):
    return polynomial(first, lambda x, k, last, before: 2 * x * last - before)


def _shifted(formula):
    return lambda x, n: formula(x + x - 1, n)


CHEBYSHEV = {"t": _chebyshev(lambda x: x), "u": _chebyshev(lambda x: 2 * x),
             "v": _chebyshev(lambda x: 2 * x - 1), "w": _chebyshev(lambda x: 2 * x + 1)}


def pad_circular(x, pad):
    """One lookup, where PyTorch writes the middle and copies the borders out of it. What a size below
    0 cuts off is not wrapped around."""
    dims = len(pad) // 2
    places = [None] * (x.dim() - dims)
    for k in range(dims):
        d, first = k - dims, 2 * (dims - 1 - k)  # the sizes begin with the last dimension
        before, after = pad[first], pad[first + 1]
        if min(before, after) < 0:
            x = x.narrow(d, max(-before, 0), x.shape[d] + min(before, 0) + min(after, 0))
        place = torch.arange(-max(before, 0), x.shape[d] + max(after, 0), device=x.device)
        if max(before, after) > 0:
            place = torch.remainder(place, x.shape[d])
        places.append(place.reshape(-1, *[1] * (-1 - d)) if d < -1 else place)
    return aten.index(x, places)


FORMULAS = {
    aten.addmv.default: addmv,
    aten.round.decimals: round_decimals,
    aten.ldexp.Tensor: ldexp,
    aten.pow.Scalar: power_of_scalar,
    aten._thnn_fused_lstm_cell.default: lstm_cell,
    aten._thnn_fused_gru_cell.default: gru_cell,
    aten._cdist_forward.default: cdist,
    aten.signbit.default: signbit,
    aten.special_i0e.default: scaled_bessel_i(0),
    aten.special_i1e.default: scaled_bessel_i(1),
    aten.grid_sampler_2d.default: grid_sampler,
    aten.grid_sampler_3d.default: grid_sampler,
    aten.special_hermite_polynomial_h.n_scalar: polynomial(
        lambda x: 2 * x, lambda x, k, last, before: 2 * x * last - 2 * k * before),
    aten.special_hermite_polynomial_he.n_scalar: polynomial(
        lambda x: x, lambda x, k, last, before: x * last - k * before),
    aten.special_laguerre_polynomial_l.n_scalar: polynomial(
        lambda x: 1 - x,
        lambda x, k, last, before: ((2 * k + 1 - x) * last - k * before) / (k + 1)),
    aten.special_legendre_polynomial_p.n_scalar: polynomial(
        lambda x: x, lambda x, k, last, before: ((2 * k + 1) * x * last - k * before) / (k + 1)),
} | {
    getattr(aten, f"special_chebyshev_polynomial_{kind}").n_scalar: formula
    for kind, formula in CHEBYSHEV.items()
} | {
    getattr(aten, f"special_shifted_chebyshev_polynomial_{kind}").n_scalar: _shifted(formula)
    for kind, formula in CHEBYSHEV.items()
}


# Those whose gradients are better taken of what PyTorch makes of them: sums instead of scattered
# additions.
FORWARD_ONLY = {aten._pad_circular.default: pad_circular}


def adapt(table, formulas):
    """`formulas` in a table of PyTorch's, and nothing for what a graph has whole."""
    table.update(formulas)
    for op in RESIZING:
        table.pop(op, None)
    return table
