# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn


class Model(nn.Module):
    """Cannot be exported: which operators run depends on the values."""

    def forward(self, x):
        return x + 1 if x.sum() > 0 else x - 1


def get_inputs():
    return [torch.rand(4)]


def get_init_inputs():
    return []
