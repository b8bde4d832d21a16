# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A convolution with what often follows it: batch normalisation, ReLU and max pooling.

The convolution is a library step; one kernel normalises, rectifies and pools what it reads.
"""

import torch
import torch.nn as nn

batch_size = 4
channels = 8
filters = 16
height = 37
width = 41


class Model(nn.Module):
    def __init__(self, channels: int, filters: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, kernel_size=3, padding=1)
        self.norm = nn.BatchNorm2d(filters)
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.pool(torch.relu(self.norm(self.conv(x))))


def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return [channels, filters]
