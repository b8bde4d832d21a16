# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

columns = 24


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.Scale = torch.linspace(0.5, 1.5, columns)  # no parameter, no buffer

    def forward(self, x):
        return x * self.Scale


class Model(nn.Module):
    """A tensor that is an attribute and one that forward() makes."""

    def __init__(self):
        super().__init__()
        self.inner = Scaled()
        self.bias = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        powers = torch.tensor([1.0, 2.0, 4.0], device=x.device).repeat(columns // 3)
        return torch.tanh(self.inner(x) + self.bias) * powers


def get_inputs():
    return [torch.randn(5, columns)]


def get_init_inputs():
    return []
