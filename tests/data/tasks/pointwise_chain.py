# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn

rows = 8
columns = 4 * 16
limit = columns / 8.0
eps: float = 1e-3
enabled = True


class Model(nn.Module):
    def forward(self, x):
        print("a task may print")
        return torch.relu(x * limit + eps) - 0.5


def get_inputs():
    return [torch.rand(rows, columns) - 0.5]


def get_init_inputs():
    return []
