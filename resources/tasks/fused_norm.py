# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scale and bias per feature, GELU, then layer normalisation of each row.

The sample task: a pointwise chain that feeds a row normalisation, with weights. PyTorch eager
passes over the tensor once for every operator.
"""

import torch
import torch.nn as nn

rows = 1024
features = 1024


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(features) + 0.5)
        self.bias = nn.Parameter(torch.randn(features) * 0.1)
        self.norm = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(nn.functional.gelu(x * self.scale + self.bias))


def get_inputs():
    return [torch.randn(rows, features)]


def get_init_inputs():
    return [features]
