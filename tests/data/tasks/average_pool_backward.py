# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch, channels, side = 2, 3, 8


class Model(nn.Module):
    """Gradients of average pools: windows that overlap, and adaptive ones that differ in size."""

    def forward(self, grad, small, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            wide = nn.functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
            few = nn.functional.adaptive_avg_pool2d(x, 3)
            return torch.autograd.grad([wide, few], [x], [grad, small])[0]


def get_inputs():
    return [torch.randn(batch, channels, side // 2, side // 2),
            torch.randn(batch, channels, 3, 3), torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return []
