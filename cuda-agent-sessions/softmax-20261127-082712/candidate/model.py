# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Softmax over rows at a temperature, as attention scores have it."""

import torch
import torch.nn as nn

rows = 2048
columns = 1000  # no multiple of a vector width or of a warp


class Model(nn.Module):
    def __init__(self, temperature: float):
        super().__init__()
        self.temperature = temperature

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.softmax(scores / self.temperature, dim=-1)


def get_inputs():
    return [torch.randn(rows, columns) * 4.0]


def get_init_inputs():
    return [1.5]
