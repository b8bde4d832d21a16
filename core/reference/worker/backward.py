# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of backward passes as the simpler operators that they stand for."""

import torch
from torch._decomp import core_aten_decompositions, decomposition_table

from .oracle import is_backward

aten = torch.ops.aten


def convolution_backward(grad, x, weight, bias_sizes, stride, padding, dilation, transposed,
                         output_padding, groups, output_mask):
    """The adjoint convolutions of torch.nn.grad, where there is one group. (For the weight: batch
    and channels change places, so do stride and dilation.)"""
    if transposed or groups != 1:
        return NotImplemented
    dims = range(x.dim() - 2)
    stride, padding, dilation = (list(values) * len(dims) if len(values) == 1 else list(values)
                                 for values in (stride, padding, dilation))
    kernel = weight.shape[2:]
    rest = [x.shape[2 + i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1 -
            (grad.shape[2 + i] - 1) * stride[i] for i in dims]
    grads = [None, None, None]
    if output_mask[0]:
        grads[0] = aten.convolution(grad, weight, None, stride, padding, dilation, True, rest, 1)
    if output_mask[1]:
        wide = aten.convolution(x.transpose(0, 1), grad.transpose(0, 1), None, dilation, padding,
                                stride, False, [0] * len(dims), 1).transpose(0, 1)
        for i in dims:
            wide = aten.slice(wide, 2 + i, 0, kernel[i])
        grads[1] = wide
    if output_mask[2]:
        grads[2] = grad.sum([0, *[2 + i for i in dims]])
    return tuple(grads)


def core_table():
    """Core ATen's decompositions and those of backward operators, some of which are left whole
    there."""
    table = {func: formula for func, formula in decomposition_table.items()
             if isinstance(func, torch._ops.OpOverload) and is_backward(func)}
    table |= dict(core_aten_decompositions().items())
    table[aten.convolution_backward.default] = convolution_backward
    return table
