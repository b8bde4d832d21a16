# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        x.mul_(2)
        return x + 1


def get_inputs():
    return [torch.rand(4, 4)]


def get_init_inputs():
    return []
