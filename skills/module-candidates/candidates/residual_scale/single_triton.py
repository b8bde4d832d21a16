# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same operator as one KernelBench file in Triton.

Usage: --rules kernelbench, on a GPU. Version 1: one program a row, the features in blocks.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def residual_scale(x, r, s, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < n
        at = row * n + column
        value = tl.load(x + at, mask=inside) + tl.load(s + column, mask=inside) * tl.load(
            r + at, mask=inside)
        tl.store(out + at, value, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(features))

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        residual = residual.contiguous()
        out = torch.empty_like(x)
        n = self.scale.numel()
        if out.numel():
            residual_scale[(out.numel() // n,)](x, residual, self.scale, out, n, BLOCK=1024)
        return out
