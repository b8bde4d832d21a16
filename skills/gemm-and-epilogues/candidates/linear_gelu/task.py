# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A linear layer, gelu and a residual: the library's product and one pass after it."""

import torch
import torch.nn as nn

rows = 256
inner = 320
features = 384


class Model(nn.Module):
    def __init__(self, inner: int, features: int):
        super().__init__()
        self.linear = nn.Linear(inner, features)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.gelu(self.linear(x)) + residual


def get_inputs():
    return [torch.randn(rows, inner), torch.randn(rows, features)]


def get_init_inputs():
    return [inner, features]
