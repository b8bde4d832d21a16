# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A backward pass: GroupNorm, differentiated by the input, weight and bias."""

import torch
import torch.nn as nn

batch = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(16))
        self.b = nn.Parameter(torch.rand(16))

    def forward(self, grad, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            w = self.w.detach().requires_grad_()
            b = self.b.detach().requires_grad_()
            y = torch.nn.functional.group_norm(x, 4, w, b)
            return torch.autograd.grad(y, [x, w, b], grad)


def get_inputs():
    return [torch.randn(batch, 16, 24, 24), torch.randn(batch, 16, 24, 24)]


def get_init_inputs():
    return []
