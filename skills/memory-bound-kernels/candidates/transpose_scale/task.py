# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last two dimensions exchanged, scaled, and stored contiguously."""

import torch
import torch.nn as nn

batch = 3
rows = 200
columns = 300


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.transpose(1, 2) * 0.125).contiguous()


def get_inputs():
    return [torch.randn(batch, rows, columns)]


def get_init_inputs():
    return []
