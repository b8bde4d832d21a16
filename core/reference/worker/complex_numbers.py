# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Complex tensors of a traced graph as pairs of real ones (PyTorch's ComplexTensor), and Fourier
transforms as products with matrices of cosines and sines."""

import math

import torch
from torch._subclasses.complex_tensor import ComplexTensor
from torch._subclasses.complex_tensor._ops.common import COMPLEX_OPS_TABLE

aten = torch.ops.aten

LARGEST_MATRIX = 64  # rows of a product that is not cut into two
BY_ROOT, BY_SIZE = 1, 2  # of at::native::fft_norm_mode


def is_complex(x):
    return isinstance(x, (complex, ComplexTensor)) or isinstance(x, torch.Tensor) and x.is_complex()


def parts(x):
    """Real and imaginary part; None: 0."""
    if isinstance(x, ComplexTensor):
        return x.re, x.im
    return (x.real, x.imag) if x.is_complex() else (x, None)


def rotation(rows, columns, size, like, inverse):
    """cos and sin of -2 pi r c / size (of 2 pi r c / size for the inverse): [rows, columns]. Exact
    to the last place, as what is lost here is lost in every output."""
    r = torch.arange(rows, device=like.device)
    c = torch.arange(columns, device=like.device)
    turns = (r[:, None] * c[None, :]) % size
    angle = turns.to(torch.float64) * ((2 if inverse else -2) * math.pi / size)
    return torch.cos(angle).to(like.dtype), torch.sin(angle).to(like.dtype)


def times(re, im, cosine, sine):
    """Pointwise; `im` None: 0."""
    if im is None:
        return re * cosine, re * sine
    return re * cosine - im * sine, re * sine + im * cosine


def rotated(re, im, cosine, sine):
    """Products of the last dimension with symmetric matrices."""
    if im is None:
        return re @ cosine, re @ sine
    return re @ cosine - im @ sine, re @ sine + im @ cosine


def transform(re, im, inverse):
    """The discrete Fourier transform of the last dimension. Sizes that are products are cut in two
    (Cooley and Tukey, 1965): x[n2 j1 + j2] to X[k1 + n1 k2]."""
    size = re.shape[-1]
    first = max(d for d in range(1, math.isqrt(size) + 1) if size % d == 0)
    if size <= LARGEST_MATRIX or first == 1:
        return rotated(re, im, *rotation(size, size, size, re, inverse))
    second = size // first

    def shaped(x):
        return None if x is None else x.reshape(*x.shape[:-1], first, second).transpose(-1, -2)

    re, im = transform(shaped(re), shaped(im), inverse)  # [..., j2, k1]
    re, im = times(re, im, *rotation(second, first, size, re, inverse))
    re, im = transform(re.transpose(-1, -2), im.transpose(-1, -2), inverse)  # [..., k1, k2]
    return (re.transpose(-1, -2).reshape(*re.shape[:-2], size),
            im.transpose(-1, -2).reshape(*im.shape[:-2], size))


def along(re, im, dim, inverse):
    def last(x):
        return None if x is None else x.movedim(dim, -1)

    return tuple(x.movedim(-1, dim) for x in transform(last(re), last(im), inverse))


def scale(count, normalization):
    return {BY_ROOT: count**-0.5, BY_SIZE: 1 / count}.get(normalization, 1.0)


def scaled(x, factor):
    return x if factor == 1 else x * factor


def fft_c2c(x, dim, normalization, forward):
    re, im = parts(x)
    for each in dim:
        re, im = along(re, im, each, not forward)
    factor = scale(math.prod(x.shape[each] for each in dim), normalization)
    return ComplexTensor(scaled(re, factor), scaled(im, factor))


def fft_r2c(x, dim, normalization, onesided):
    re, im = along(x, None, dim[-1], False)
    if onesided:
        kept = x.shape[dim[-1]] // 2 + 1
        re, im = re.narrow(dim[-1], 0, kept), im.narrow(dim[-1], 0, kept)
    for each in dim[:-1]:
        re, im = along(re, im, each, False)
    factor = scale(math.prod(x.shape[each] for each in dim), normalization)
    return ComplexTensor(scaled(re, factor), scaled(im, factor))


def fft_c2r(x, dim, normalization, last_dim_size):
    re, im = parts(x)
    for each in dim[:-1]:
        re, im = along(re, im, each, True)
    re, im = re.movedim(dim[-1], -1), im.movedim(dim[-1], -1)
    kept = last_dim_size // 2 + 1
    cosine, sine = rotation(kept, last_dim_size, last_dim_size, re, True)
    # What is not there is the conjugate of what is.
    twice = torch.full((kept, 1), 2.0, dtype=re.dtype, device=re.device)
    k = torch.arange(kept, device=re.device)[:, None]
    alone = (k == 0) | (2 * k == last_dim_size)
    weight = torch.where(alone, 1.0, twice)
    result = re[..., :kept] @ (weight * cosine) - im[..., :kept] @ (weight * sine)
    count = last_dim_size * math.prod(x.shape[each] for each in dim[:-1])
    return scaled(result.movedim(-1, dim[-1]), scale(count, normalization))


def to_copy(x, *, dtype=None, **kwargs):
    if dtype is None or not dtype.is_complex or isinstance(x, ComplexTensor):
        return NotImplemented
    re = x.to(dtype.to_real())
    return ComplexTensor(re, torch.zeros_like(re))


def polar(size, angle):
    return ComplexTensor(size * torch.cos(angle), size * torch.sin(angle))


def slice_of(x, *which, **named):
    """A view: what is written into it is written into `x`, which PyTorch's own copy forgets."""
    re, im = (aten.slice.Tensor(part, *which, **named) for part in parts(x))
    result = ComplexTensor(re, im)
    result._re, result._im = re, im
    return result


def multiply_in_place(x, other):
    """PyTorch's own multiplies each part twice. The gradient of a transform to real numbers doubles
    a slice so."""
    if is_complex(other):
        return x.copy_(x * other)
    re, im = parts(x)
    return x.copy_(ComplexTensor(re * other, im * other))


TRANSFORMS = {
    aten._fft_r2c.default: fft_r2c,
    aten._fft_c2c.default: fft_c2c,
    aten._fft_c2r.default: fft_c2r,
}
# Of operators that take real tensors, for make_fx.
FORMULAS = {
    aten._fft_r2c.default: fft_r2c,
    aten._to_copy.default: to_copy,
    aten.complex.default: ComplexTensor,
    aten.polar.default: polar,
    aten.view_as_complex.default: lambda x: ComplexTensor(x.select(-1, 0), x.select(-1, 1)),
    aten._neg_view.default: torch.neg,
    aten.lift_fresh_copy.default: lambda x: x,
}
# Of those that take pairs, for ComplexTensor.
for operator in (aten._fft_c2c.default, aten._fft_c2r.default):
    COMPLEX_OPS_TABLE.setdefault(operator, TRANSFORMS[operator])
COMPLEX_OPS_TABLE[aten.slice.Tensor] = slice_of
for operator in (aten.mul_.Tensor, aten.mul_.Scalar):
    COMPLEX_OPS_TABLE[operator] = multiply_in_place
