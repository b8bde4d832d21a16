# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch, channels, side = 4, 3, 6


class Model(nn.Module):
    """Batch normalisation by the statistics of the batch, backward to its input and its parameters."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels, track_running_stats=False)
        nn.init.uniform_(self.norm.weight)

    def forward(self, grad, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            weight = self.norm.weight.detach().requires_grad_()
            bias = self.norm.bias.detach().requires_grad_()
            y = nn.functional.batch_norm(x, None, None, weight, bias, training=True)
            return torch.autograd.grad(torch.relu(y), [x, weight, bias], grad)


def get_inputs():
    return [torch.randn(batch, channels, side, side), torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return []
