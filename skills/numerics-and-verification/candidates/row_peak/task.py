# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The largest value of each row and where it stands, NaN included."""

import torch
import torch.nn as nn

rows = 200
columns = 777


class Model(nn.Module):
    def forward(self, x: torch.Tensor):
        return torch.max(x, dim=-1)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
