# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sum over the leading dimension: what a bias gradient is."""

import torch
import torch.nn as nn

rows = 1500
columns = 512


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(dim=0)


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
