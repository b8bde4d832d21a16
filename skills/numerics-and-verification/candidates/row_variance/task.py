# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variance of rows whose mean is far from zero: where the sum of squares loses its digits."""

import torch
import torch.nn as nn

rows = 200
columns = 1000


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.var(x, dim=-1)


def get_inputs():
    return [torch.randn(rows, columns) + 300.0]


def get_init_inputs():
    return []
