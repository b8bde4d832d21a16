# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch, channels, side = 2, 3, 4


class Model(nn.Module):
    """The gradient of resizing volumes: exact neighbours, twice as many and not, and sums of 8."""

    def forward(self, grad, x):
        resize = nn.functional.interpolate
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            odd = resize(resize(x, size=(3, 5, 6), mode="nearest-exact"), size=8, mode="trilinear")
            y = resize(torch.tanh(x), scale_factor=2.0, mode="nearest-exact") * odd
            return torch.autograd.grad(y, [x], grad)[0]


def get_inputs():
    return [torch.randn(batch, channels, 2 * side, 2 * side, 2 * side),
            torch.randn(batch, channels, side, side, side)]


def get_init_inputs():
    return []
