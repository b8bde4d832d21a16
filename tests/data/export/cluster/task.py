# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

rows = 4096
columns = 8192


class Model(nn.Module):
    """Each row backwards, in half precision, times a weight per column."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.rand(columns).half() + 0.5)

    def forward(self, x):
        return x.flip(-1) * self.weight


def get_inputs():
    return [torch.randn(rows, columns).half()]


def get_init_inputs():
    return []
