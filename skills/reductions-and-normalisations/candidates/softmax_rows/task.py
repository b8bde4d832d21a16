# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Softmax over rows at a temperature."""

import torch
import torch.nn as nn

rows = 128
columns = 1000


class Model(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        return torch.softmax(scores * 0.7, dim=-1)


def get_inputs():
    return [torch.randn(rows, columns) * 4.0]


def get_init_inputs():
    return []
