# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A residual added with a scale of its own for each feature (layer scale)."""

import torch
import torch.nn as nn

rows = 512
features = 768


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(features))
        self.scale.data.uniform_(-1.0, 1.0)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return x + self.scale * residual


def get_inputs():
    return [torch.randn(rows, features), torch.randn(rows, features)]


def get_init_inputs():
    return [features]
