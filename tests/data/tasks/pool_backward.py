# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch, channels, side = 2, 3, 8


class Model(nn.Module):
    """Gradients of pools: windows that overlap, tiles, and adaptive ones."""

    def forward(self, grad, small, x):
        functional = nn.functional
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            over = functional.max_pool2d(torch.relu(x), 3, 2, 1)
            tiles = functional.avg_pool2d(x, 2) + functional.max_pool2d(x, 2)
            wide = functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
            few = functional.adaptive_avg_pool2d(x, 2)
            total = (over * grad).sum() + (tiles * grad).sum() + (wide * grad).sum()
            return torch.autograd.grad(total + (few * small).sum(), [x])[0]


def get_inputs():
    return [torch.randn(batch, channels, side // 2, side // 2), torch.randn(batch, channels, 2, 2),
            torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return []
