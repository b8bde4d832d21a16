# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A backward pass: LayerNorm and GELU, differentiated by the input."""

import torch
import torch.nn as nn

rows = 512
cols = 768


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.ln = nn.LayerNorm(n)

    def forward(self, grad, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = torch.nn.functional.gelu(self.ln(x))
            (gx,) = torch.autograd.grad(y, [x], grad)
        return gx


def get_inputs():
    return [torch.randn(rows, cols), torch.randn(rows, cols)]


def get_init_inputs():
    return [cols]
