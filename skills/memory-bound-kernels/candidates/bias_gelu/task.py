# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact gelu of x + bias, the usual tail of a linear layer."""

import torch
import torch.nn as nn

rows = 512
features = 1024


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(x + self.bias)


def get_inputs():
    return [torch.randn(rows, features)]


def get_init_inputs():
    return [features]
