# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn


class Model(nn.Module):
    """exp(95) is finite in double and infinite in single precision."""

    def forward(self, x):
        return torch.exp(x)


def get_inputs():
    return [torch.tensor([0.0, 1.0, 95.0, -200.0, float("nan"), float("inf")])]


def get_init_inputs():
    return []
