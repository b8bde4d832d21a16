# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A linear layer with what often follows it: Swish, a residual and a clamp.

The product is a library step; the rest is one kernel that reads it once.
"""

import torch
import torch.nn as nn

rows = 192
features = 251  # a prime number: no multiple of a vector width
outputs = 320


class Model(nn.Module):
    def __init__(self, features: int, outputs: int):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        return torch.clamp(y * torch.sigmoid(y) + residual, -2.0, 2.0)


def get_inputs():
    return [torch.randn(rows, features), torch.randn(rows, outputs)]


def get_init_inputs():
    return [features, outputs]
