# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A half product with float output, small enough to read the wmma interface off it."""

import torch
import torch.nn as nn

rows = 256
inner = 512
columns = 256


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b).float() * 0.5


def get_inputs():
    return [torch.randn(rows, inner).half(), torch.randn(inner, columns).half()]


def get_init_inputs():
    return []
