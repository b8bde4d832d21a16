# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convolution, batch norm in evaluation and relu."""

import torch
import torch.nn as nn

batch = 4
channels = 16
filters = 24
size = 28


class Model(nn.Module):
    def __init__(self, channels: int, filters: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(filters)
        self.norm.weight.data.uniform_(0.5, 1.5)
        self.norm.bias.data.uniform_(-0.5, 0.5)
        self.norm.running_mean.uniform_(-0.5, 0.5)
        self.norm.running_var.uniform_(0.5, 1.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(self.conv(x)))


def get_inputs():
    return [torch.randn(batch, channels, size, size)]


def get_init_inputs():
    return [channels, filters]
