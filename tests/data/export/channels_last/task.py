# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch = 3
size = 12


class Model(nn.Module):
    """A grouped convolution of pictures, then a transposed one with a bias."""

    def __init__(self, channels: int):
        super().__init__()
        self.down = nn.Conv2d(4, channels, 3, stride=2, padding=1, groups=2, bias=False)
        self.up = nn.ConvTranspose2d(channels, 5, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x):
        return self.up(self.down(x))


def get_inputs():
    return [torch.randn(batch, 4, size, size)]


def get_init_inputs():
    return [6]
