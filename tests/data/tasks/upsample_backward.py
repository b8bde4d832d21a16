# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch, channels, side = 2, 3, 6


class Model(nn.Module):
    """The gradient of a resizing to twice the size."""

    def forward(self, grad, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = nn.functional.interpolate(torch.tanh(x), scale_factor=2.0, mode="nearest")
            return torch.autograd.grad(y, [x], grad)[0]


def get_inputs():
    return [torch.randn(batch, channels, 2 * side, 2 * side), torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return []
