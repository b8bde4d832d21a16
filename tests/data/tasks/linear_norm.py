# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

batch = 3
features = 8


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.norm = nn.BatchNorm1d(size)
        self.unused = nn.Parameter(torch.zeros(1000))
        self.table = torch.arange(size, dtype=torch.float32)  # neither parameter nor buffer

    def forward(self, x):
        return self.norm(self.linear(x)) + self.table


def get_inputs():
    return [torch.rand(batch, features)]


def get_init_inputs():
    return [features]
