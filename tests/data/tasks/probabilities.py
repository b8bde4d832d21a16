# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn


class Model(nn.Module):
    """Raises unless its inputs lie in [0, 1]."""

    def forward(self, p, target):
        return nn.functional.binary_cross_entropy(p, target)


def get_inputs():
    return [torch.rand(20), torch.rand(20)]


def get_init_inputs():
    return []
