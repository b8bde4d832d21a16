# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weighted root mean square over the middle dimension: neighbours in memory belong to different
sums, so a row-wise reduction does not fit."""

import torch
import torch.nn as nn

batch_size = 32
length = 512
features = 256


class Model(nn.Module):
    def __init__(self, features: int, epsilon: float):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.rand(features) * 2.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sqrt(torch.mean((x * self.weight).square(), dim=1) + self.epsilon)


def get_inputs():
    return [torch.randn(batch_size, length, features)]


def get_init_inputs():
    return [features, 1e-6]
