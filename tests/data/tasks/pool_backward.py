# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch, channels, side = 2, 3, 8


class Model(nn.Module):
    """Gradients of maximum pools: windows that overlap, and tiles."""

    def forward(self, grad, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            over = nn.functional.max_pool2d(torch.relu(x), 3, 2, 1)
            return torch.autograd.grad(over + nn.functional.max_pool2d(x, 2), [x], grad)[0]


def get_inputs():
    return [torch.randn(batch, channels, side // 2, side // 2),
            torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return []
