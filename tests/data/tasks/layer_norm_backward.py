# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
import torch.nn as nn

rows = 64


class Model(nn.Module):
    """A backward pass: forward() differentiates."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(96)

    def forward(self, grad, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = nn.functional.gelu(self.norm(x))
            return torch.autograd.grad(y, [x], grad)[0]


def get_inputs():
    return [torch.randn(rows, 96), torch.randn(rows, 96)]


def get_init_inputs():
    return []
