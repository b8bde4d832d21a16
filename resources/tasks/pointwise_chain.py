# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A gated pointwise chain over two tensors: SiLU gate, residual, clamp, hard swish."""

import torch
import torch.nn as nn

rows = 1024
features = 2048


class Model(nn.Module):
    def __init__(self, limit: float):
        super().__init__()
        self.limit = limit

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        mixed = x * torch.sigmoid(gate) * gate + x
        return nn.functional.hardswish(torch.clamp(mixed, -self.limit, self.limit))


def get_inputs():
    return [torch.randn(rows, features), torch.randn(rows, features)]


def get_init_inputs():
    return [4.0]
