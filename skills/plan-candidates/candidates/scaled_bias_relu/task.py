# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""relu(x + bias) times a number that the caller gives."""

import torch
import torch.nn as nn

rows = 256
features = 1000


class Model(nn.Module):
    def __init__(self, features: int):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor, gain: float) -> torch.Tensor:
        return torch.relu(x + self.bias) * gain


def get_inputs():
    return [torch.randn(rows, features), 0.75]


def get_init_inputs():
    return [features]
