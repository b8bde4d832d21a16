# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A linear layer in half precision with relu: a product of our own on tensor cores."""

import torch
import torch.nn as nn

rows = 100
inner = 136
features = 200


class Model(nn.Module):
    def __init__(self, inner: int, features: int):
        super().__init__()
        self.linear = nn.Linear(inner, features).half()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


def get_inputs():
    return [torch.randn(rows, inner).half()]


def get_init_inputs():
    return [inner, features]
